package howto

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
)

func Example_recordsA() {
	users := orders()
	fmt.Println(users.Path("orders.price"))
	fmt.Println(users.Path("orders[0].cat"))
	fmt.Println(users.Lengths("orders"))
	// Output:
	// [[3.5 8.] [] [4.]] float64[3, ~]
	// masked(["tea" "" "tea"] string[3], [ true false  true] bool[3])
	// [2 0 1] int64[3]
}

func Example_recordsB() {
	users := orders()
	fmt.Println(users.Filter("@.orders[?@.price > 5]").Path("user"))
	fmt.Println(users.Path("orders[?@.price < 5].price"))
	// Output:
	// ["ann"] string[1]
	// [[3.5] [] [4.]] float64[3, ~]
}

func Example_recordsC() {
	users := orders()
	total := ops.Sum(users.Path("orders.price"), 1)
	fmt.Println(users.With("total", total).Rename("user", "name").Drop("orders"))
	// Output:
	// 3 * {name: string, total: float64}
	//    name    total
	//    string  float64
	// 0  "ann"   11.5
	// 1  "bob"   0.0
	// 2  "eve"   4.0
}

func Example_recordsD() {
	fmt.Println(orders().Flatten(structured.DropEmpty, "orders"))
	// Output:
	// 3 * {user: string, orders: {cat: string, price: float64}}
	//    user    orders
	//    string  {cat: string, price: float64}
	// 0  "ann"   {cat: "tea", price: 3.5}
	// 1  "ann"   {cat: "cup", price: 8.0}
	// 2  "eve"   {cat: "tea", price: 4.0}
}

func Example_recordsE() {
	lines := orders().Flatten(structured.DropEmpty, "orders")
	fmt.Println(lines.GroupBy("orders.cat").Aggregate(structured.Count(), structured.Mean("orders.price").As("mean")))
	// Output:
	// 2 * {cat: string, count: int64, mean: float64}
	//    cat     count  mean
	//    string  int64  float64
	// 0  "tea"   2      3.75
	// 1  "cup"   1      8.0
}

func Example_recordsF() {
	cats := tenon.Must(jsonl.Read(jsonl.Bytes([]byte(`{"cat": "tea", "tax": 0.07}
	{"cat": "cup", "tax": 0.19}`)), jsonl.Options{}))
	lines := orders().Flatten(structured.DropEmpty, "orders")
	fmt.Println(lines.Join(cats, structured.JoinOptions{LeftOn: []string{"orders.cat"}, RightOn: []string{"cat"}}))
	// Output:
	// 3 * {user: string, orders: {cat: string, price: float64}, tax: float64}
	//    user    orders                         tax
	//    string  {cat: string, price: float64}  float64
	// 0  "ann"   {cat: "tea", price: 3.5}       0.07
	// 1  "ann"   {cat: "cup", price: 8.0}       0.19
	// 2  "eve"   {cat: "tea", price: 4.0}       0.07
}

func Example_recordsG() {
	lines := orders().Flatten(structured.DropEmpty, "orders")
	fmt.Println(tenon.Must(lines.Sort(0, structured.By{Path: []string{"orders", "price"}, Descending: true})).Path("orders.price"))
	fmt.Println(lines.GroupBy("orders.cat").Window(structured.RowNumber().As("n")))
	// Output:
	// [8.  4.  3.5] float64[3]
	// 3 * {user: string, orders: {cat: string, price: float64}, n: int64}
	//    user    orders                         n
	//    string  {cat: string, price: float64}  int64
	// 0  "ann"   {cat: "tea", price: 3.5}       0
	// 1  "ann"   {cat: "cup", price: 8.0}       0
	// 2  "eve"   {cat: "tea", price: 4.0}       1
}

func Example_recordsH() {
	lines := orders().Flatten(structured.DropEmpty, "orders")
	p := lines.Pivot("user", "orders.cat", structured.Sum("orders.price"), structured.PivotOptions{})
	fmt.Println(p.Rows, p.Columns)
	fmt.Println(p.Values)
	// Output:
	// 2 * {user: string}
	//    user
	//    string
	// 0  "ann"
	// 1  "eve" 2 * {cat: string}
	//    cat
	//    string
	// 0  "cup"
	// 1  "tea"
	// [[8.  3.5]
	//  [0.  4. ]] float64[2, 2]
}

func Example_recordsI() {
	type Order struct {
		Cat   string  `json:"cat"`
		Price float64 `json:"price"`
	}
	type User struct {
		User   string  `json:"user"`
		Orders []Order `json:"orders"`
	}
	users := tenon.Must(gostruct.To[User](orders()))
	fmt.Printf("%+v\n", users[0])
	again := tenon.Must(gostruct.From(users[:1]))
	fmt.Println(again)
	// Output:
	// {User:ann Orders:[{Cat:tea Price:3.5} {Cat:cup Price:8}]}
	// 1 * {user: string, orders: var * {cat: string, price: float64}}
	//    user    orders
	//    string  var * {cat: string, price: float64}
	// 0  "ann"   [{cat: "tea", price: 3.5}, {cat: "cup",…
}
