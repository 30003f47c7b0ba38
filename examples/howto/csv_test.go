package howto

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/structured"
)

func Example_csvA() {
	text := "id,price,day,note\n1,2.50,2024-02-29,\"a, b\"\n2,,2024-03-01,\n"
	var report csvio.Report
	t, err := csvio.Read(csvio.Bytes([]byte(text)), csvio.Options{Report: &report})
	check(err)
	for _, c := range report.Columns {
		fmt.Println(c.Name, c.Type, t.Path(c.Name))
	}
	// Output:
	// id int64 [1 2] int64[2]
	// price float64 masked([2.5 0. ] float64[2], [ true false] bool[2])
	// day date ["2024-02-29" "2024-03-01"] string[2] date
	// note string masked(["a, b" ""] string[2], [ true false] bool[2])
}

func Example_csvB() {
	_, err := csvio.Read(csvio.Bytes([]byte("id\n1\nx\n")), csvio.Options{Types: map[string]csvio.Type{"id": csvio.Int64}})
	var fault *csvio.Error
	fmt.Println(errors.As(err, &fault), fault.Line, fault.Column, fault.What)

	var report csvio.Report
	t, err := csvio.Read(csvio.Bytes([]byte("id\n1\nx\n")), csvio.Options{Types: map[string]csvio.Type{"id": csvio.Int64}, Lenient: true, Report: &report})
	check(err)
	fmt.Println(t.Path("id"), len(report.Skipped))
	// Output:
	// true 3 id type
	// masked([1 0] int64[2], [ true false] bool[2]) 1
}

func Example_csvNested() {
	text := "id,deps,tags\n1,\"{\"\"a\"\":1.5}\",\"[\"\"x\"\",\"\"y\"\"]\"\n2,{},[]\n"
	t, err := csvio.Read(csvio.Bytes([]byte(text)), csvio.Options{
		Types:  map[string]csvio.Type{"deps": csvio.JSON, "tags": csvio.JSON},
		Nested: jsonl.Options{Maps: []string{"deps"}},
	})
	check(err)
	fmt.Println(structured.Datashape(t.Spec()))
	check(csvio.Write(os.Stdout, t, csvio.WriteOptions{}))
	// Output:
	// 2 * {id: int64, deps: map[string, float64], tags: var * string}
	// id,deps,tags
	// 1,"{""a"":1.5}","[""x"",""y""]"
	// 2,{},[]
}

func Example_csvC() {
	text := "a\tb\n1\tx\n2\ty\n3\tz\n"
	data := dataset.FromBatches(func() iter.Seq2[*structured.Tensor, error] {
		return csvio.Batches(csvio.Bytes([]byte(text)), 2, csvio.Options{Delim: '\t'})
	}).Batch(3, dataset.BatchOptions{})
	for batch, err := range data.All(context.Background()) {
		check(err)
		fmt.Println(batch.Path("a"), batch.Path("b"))
	}
	// Output:
	// [1 2 3] int64[3] ["x" "y" "z"] string[3]
}

func Example_csvD() {
	t := tenon.Must(csvio.Read(csvio.Bytes([]byte("x,y\n1,a b\n,\"c,d\"\n")), csvio.Options{}))
	check(csvio.Write(os.Stdout, t, csvio.WriteOptions{}))
	// Output:
	// x,y
	// 1,a b
	// ,"c,d"
}
