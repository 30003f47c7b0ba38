package arrowio_test

import (
	"bytes"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
)

type order struct {
	ID    int64
	Items []string
	Note  *string
}

// Records become a record batch that any program can read, and come back as they were.
func ExampleEncode() {
	note := "fragile"
	orders := tenon.Must(gostruct.From([]order{
		{1, []string{"cup", "plate"}, nil},
		{2, nil, &note},
	}))
	var file bytes.Buffer
	if err := arrowio.Encode(&file, orders, arrowio.WriteOptions{Compression: arrowio.Zstd}); err != nil {
		fmt.Println(err)
		return
	}
	back, err := arrowio.Decode(file.Bytes(), arrowio.ReadOptions{})
	fmt.Println(back, err)
	// Output:
	// 2 * {ID: int64, Items: var * string, Note: ?string}
	//    ID     Items             Note
	//    int64  var * string      ?string
	// 0  1      ["cup", "plate"]  -
	// 1  2      []                "fragile" <nil>
}

// The names of dimensions are those of Arrow's tensors.
func ExampleToArray() {
	x := named.Of(tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3), Batch{}, Features{})
	field, array, err := arrowio.ToArray("x", x)
	if err != nil {
		fmt.Println(err)
		return
	}
	kind, _ := field.Metadata.GetValue("ARROW:extension:name")
	meta, _ := field.Metadata.GetValue("ARROW:extension:metadata")
	fmt.Println(array.DataType())
	fmt.Println(kind, meta)
	// Output:
	// fixed_size_list<item: float32>[3]
	// arrow.fixed_shape_tensor {"shape":[3],"dim_names":["Features"]}
}

// Batches of a stream are read one after the other.
func ExampleReader() {
	var stream bytes.Buffer
	w := arrowio.NewWriter(&stream, arrowio.WriteOptions{Stream: true})
	for _, rows := range [][][]int32{{{1, 2}, {}}, {{3}}} {
		if err := w.Write(ragged.FromSlices(rows)); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	r, err := arrowio.NewReader(&stream, arrowio.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, err := range r.All() {
		fmt.Println(v, err)
	}
	// Output:
	// [[1 2] []] int32[2, ~] <nil>
	// [[3]] int32[1, ~] <nil>
}
