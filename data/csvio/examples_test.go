package csvio_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/data/csvio"
)

// A table goes to a file, compressed by its name, and comes back.
func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "csv")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	t, err := csvio.Read(csvio.Bytes([]byte("shop;price\nA;2.5\nB;\n")), csvio.Options{Delim: ';'})
	if err != nil {
		panic(err)
	}
	name := filepath.Join(dir, "prices.csv.gz")
	if err := csvio.WriteFile(name, t, csvio.WriteOptions{}); err != nil {
		panic(err)
	}
	back, err := csvio.ReadFile(name, csvio.Options{})
	fmt.Println(back, err)
	// Output:
	// 2 * {shop: string, price: ?float64}
	//    shop    price
	//    string  ?float64
	// 0  "A"     2.5
	// 1  "B"     - <nil>
}
