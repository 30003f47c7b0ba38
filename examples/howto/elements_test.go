package howto

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/csvio"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/data/parquetio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
)

func Example_elementsA() {
	at := tenon.Must(element.Parse([]string{"2024-02-29T10:00:00+01:00", "2024-03-01T09:30:00+01:00"}, element.TimestampOf(time.Second, "Europe/Berlin")))
	took := ops.Sub(ops.Index(at, 1), ops.Index(at, 0))
	fmt.Println(took)
	fmt.Println(ops.Greater(at, "2024-03-01T00:00:00+01:00"))
	fmt.Println(tenon.Must(element.PartOf(at, element.Hour)), tenon.Must(element.Truncate(at, element.Month)))
	_, err := tenon.Try(func() any { return ops.Add(at, at) })
	fmt.Println(err.(*tenon.Error).Msg, "-", err.(*tenon.Error).Hint)
	// Output:
	// "PT23H30M" string[] duration[s]
	// [false  true] bool[2]
	// [10  9] int64[2] ["2024-02-01T00:00:00+01:00" "2024-03-01T00:00:00+01:00"] string[2] timestamp[s, Europe/Berlin]
	// there is no sum of timestamp[s, Europe/Berlin] and timestamp[s, Europe/Berlin] - the difference of two timestamps is a duration
}

func Example_elementsB() {
	price := tenon.Must(element.Parse([]string{"12.30", "0.05", "7.00"}, element.DecimalOf(10, 2)))
	fmt.Println(ops.Sum(price), ops.Mean(price))
	fmt.Println(ops.Mul(price, 3), tenon.Must(element.To(price, element.DecimalOf(9, 1))))
	fmt.Println(ops.Cast(price, dtype.Float64))
	// Output:
	// "19.35" string[] decimal(38, 2) "6.450000" string[] decimal(38, 6)
	// ["36.90" "0.15" "21.00"] string[3] decimal(11, 2) ["12.3" "0.1" "7.0"] string[3] decimal(9, 1)
	// [12.3   0.05  7.  ] float64[3]
}

func Example_elementsC() {
	text := "id,day,price\n1,2024-02-29,12.30\n2,2024-03-01,0.05\n"
	t, err := csvio.Read(csvio.Bytes([]byte(text)), csvio.Options{Types: map[string]csvio.Type{"price": "decimal(10, 2)"}})
	check(err)
	name := filepath.Join(folder, "prices.parquet")
	check(parquetio.WriteFile(name, t, parquetio.WriteOptions{Plain: true}))
	f, err := parquetio.Open(name, parquetio.ReadOptions{Where: []parquetio.Range{{Column: "day", Min: "2024-03-01"}}})
	check(err)
	defer f.Close()
	for _, c := range f.Schema().Fields() {
		fmt.Println(c.Name, c.Type)
	}
	fmt.Println(tenon.Must(f.Read()).(*structured.Tensor).Path("price"))
	check(jsonl.Write(os.Stdout, t, jsonl.WriteOptions{}))
	// Output:
	// id int64
	// day date32
	// price decimal(10, 2)
	// ["12.30" "0.05"] string[2] decimal(10, 2)
	// {"id":1,"day":"2024-02-29","price":"12.30"}
	// {"id":2,"day":"2024-03-01","price":"0.05"}
}

func Example_elementsD() {
	type visit struct {
		ID   [16]byte
		At   time.Time
		Took time.Duration
		Seen map[int32]string
	}
	t, err := gostruct.From([]visit{{ID: [16]byte{15: 7}, At: time.Unix(0, 0).UTC(), Took: 90 * time.Second, Seen: map[int32]string{4: "door"}}})
	check(err)
	fmt.Println(t.Path("ID"))
	fmt.Println(t.Path("Took"))
	fmt.Println(t.Path("Seen").(*structured.Map).Keys(), t.Path(`Seen["4"]`))
	again, err := gostruct.To[visit](t)
	check(err)
	fmt.Println(again[0].At.Year(), again[0].Took, again[0].Seen)
	// Output:
	// ["00000000-0000-0000-0000-000000000007"] string[1] uuid
	// ["PT1M30S"] string[1] duration[ns]
	// [[4]] int32[1, ~] masked(["door"] string[1], [ true] bool[1])
	// 1970 1m30s map[4:door]
}

func Example_elementsPlain() {
	day, price := tenon.Must(element.ItemOf("2024-02-29", element.DateType)), tenon.Must(element.ItemOf("12.3", element.DecimalOf(10, 2)))
	v, err := structured.FromNested([]any{
		map[string]any{"day": day, "price": price, "took": 90 * time.Second, "seen": map[int32]string{4: "door"}},
	}, structured.NestedOptions{})
	check(err)
	fmt.Println(structured.Datashape(v.Spec()))
	fmt.Println(tenon.Must(v.(*structured.Tensor).ToNested()))
	// Output:
	// 1 * {day: date, price: decimal(10, 2), seen: map[int32, string], took: duration[ns]}
	// [map[day:2024-02-29 price:12.30 seen:[map[key:4 value:door]] took:1m30s]]
}
