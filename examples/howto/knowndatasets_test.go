package howto

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/tensor"
)

func Example_knowndatasetsA() {
	check(os.WriteFile(filepath.Join(folder, "labels"), []byte{0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4}, 0o666))
	labels, err := files.IDX(filepath.Join(folder, "labels"))
	check(err)
	fmt.Println(labels)
	// Output:
	// [5 0 4] uint8[3]
}

func Example_knowndatasetsB() {
	name := filepath.Join(folder, "iris.csv")
	check(os.WriteFile(name, []byte("3,2,setosa,virginica\n5.1,3.5,0\n6.3,3.3,1\n4.9,3,0\n"), 0o666))
	iris, err := files.ScikitLearn(name)
	check(err)
	fmt.Println(iris.Classes, iris.Target)
	label := func(x files.Labelled) (int64, error) { return tensor.Item[int64](x.Label), nil }
	parts := dataset.SplitBy(iris.Dataset().Shuffle(1), label, 0.5, 0.5)
	n, _ := parts[0].Len()
	fmt.Println(n)
	// Output:
	// [setosa virginica] [0 1 0] int64[3]
	// 2
}

func Example_knowndatasetsC() {
	one := tenon.Must(jsonl.Read(jsonl.Bytes([]byte("{\"text\":\"good\",\"label\":1}\n{\"text\":\"bad\",\"label\":0}\n")), jsonl.Options{}))
	dir := filepath.Join(folder, "reviews")
	check(os.MkdirAll(filepath.Join(dir, "data"), 0o777))
	check(parquetio.WriteFile(filepath.Join(dir, "data", "train-00000-of-00001.parquet"), one, parquetio.WriteOptions{Plain: true}))

	hub, err := files.HuggingFace(dir)
	check(err)
	fmt.Println(hub.Configs(), hub.Splits(""))
	train, err := hub.Open("", "train", parquetio.ReadOptions{})
	check(err)
	defer train.Close()
	row, err := train.Data.At(1)
	check(err)
	fmt.Println(row.Path("text"), row.Path("label"))
	// Output:
	// [default] [train]
	// "bad" string[] 0 int64[]
}
