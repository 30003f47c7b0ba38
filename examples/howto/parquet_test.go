package howto

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func Example_parquetA() {
	lines := `{"id":1,"run":10,"jets":[{"pt":20.5},{"pt":7.25}]} {"id":2,"run":10,"jets":[]} {"id":3,"run":11,"jets":[{"pt":31}]}`
	events := tenon.Must(jsonl.Read(jsonl.Bytes([]byte(strings.ReplaceAll(lines, "} {", "}\n{"))), jsonl.Options{}))
	name := filepath.Join(folder, "events.parquet")
	check(parquetio.WriteFile(name, events, parquetio.WriteOptions{GroupRows: 2, Compression: parquetio.Zstd}))

	again, err := parquetio.ReadFile(name, parquetio.ReadOptions{})
	check(err)
	fmt.Println(tenon.Equal(again.Spec(), events.Spec()))
	fmt.Println(again.(*structured.Tensor).Path("jets.pt"))
	// Output:
	// true
	// [[20.5 7.25] [] [31.]] float64[3, ~]
}

func Example_parquetB() {
	name := filepath.Join(folder, "events.parquet")
	f, err := parquetio.Open(name, parquetio.ReadOptions{
		Columns: []string{"id", "jets.pt"},
		Where:   []parquetio.Range{{Column: "run", Min: 11}},
	})
	check(err)
	defer f.Close()
	fmt.Println(f.Len(), "row group with", f.Rows(0), "row")
	group, err := f.At(0)
	check(err)
	fmt.Println(group.(*structured.Tensor).FieldNames())
	// Output:
	// 1 row group with 1 row
	// [id jets]
}

func Example_parquetC() {
	f, err := parquetio.Open(filepath.Join(folder, "events.parquet"), parquetio.ReadOptions{Columns: []string{"id"}})
	check(err)
	defer f.Close()
	data := files.Parquet(f, dataset.BlockOptions{}).ShuffleBlocks(2, 7).Batch(2, dataset.BatchOptions{})
	total := 0
	for batch, err := range data.Prefetch(dataset.Auto).All(context.Background()) {
		check(err)
		total += int(tensor.Item[int64](ops.Sum(batch.Path("id"))))
	}
	fmt.Println(total)
	// Output:
	// 6
}

func Example_parquetD() {
	keys := &parquetio.Keys{Footer: []byte("0123456789abcdef"), Columns: map[string][]byte{"jets.pt": []byte("fedcba9876543210")}}
	events := tenon.Must(parquetio.ReadFile(filepath.Join(folder, "events.parquet"), parquetio.ReadOptions{}))
	name := filepath.Join(folder, "secret.parquet")
	check(parquetio.WriteFile(name, events, parquetio.WriteOptions{Keys: keys}))

	some := &parquetio.Keys{Footer: keys.Footer}
	v, err := parquetio.ReadFile(name, parquetio.ReadOptions{Keys: some, Columns: []string{"id"}})
	check(err)
	fmt.Println(v.(*structured.Tensor).Path("id"))
	_, err = parquetio.ReadFile(name, parquetio.ReadOptions{Keys: some})
	fmt.Println(strings.Contains(err.Error(), "the column is encrypted: there is no key for it"))
	// Output:
	// [1 2 3] int64[3]
	// true
}
