package dtype_test

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
)

func ExamplePromote() {
	fmt.Println(dtype.Promote(dtype.Int32, dtype.Uint32))
	fmt.Println(dtype.Promote(dtype.Int64, dtype.Float32))
	_, err := dtype.Promote(dtype.Uint64, dtype.Int8)
	fmt.Println(err)
	// Output:
	// int64 <nil>
	// float32 <nil>
	// dtype: int8 and uint64 do not combine, because no integer type can hold both: cast one of them
}
