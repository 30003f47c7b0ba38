package csvio_test

import (
	"fmt"
	"os"

	"github.com/tenonml/tenon/data/csvio"
)

func ExampleRead() {
	t, err := csvio.Read(csvio.Bytes([]byte("shop,price\nA,2.5\nB,4\nA,1.5\n")), csvio.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(t.FieldNames())
	if err := csvio.Write(os.Stdout, t.Filter("@.price > 2"), csvio.WriteOptions{}); err != nil {
		panic(err)
	}
	// Output:
	// [shop price]
	// shop,price
	// A,2.5
	// B,4.0
}
