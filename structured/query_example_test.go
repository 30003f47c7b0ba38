package structured_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// users have orders, and orders have a category, a quantity and a price.
func users() *structured.Tensor {
	return tenon.Must(structured.FromNested(list{
		rec{"id": 1, "north": true, "orders": list{rec{"cat": "toys", "qty": 2, "price": 10.0}, rec{"cat": "books", "qty": 1, "price": 4.5}}},
		rec{"id": 2, "north": false, "orders": list{}},
		rec{"id": 3, "north": true, "orders": list{rec{"cat": "books", "qty": 3, "price": 8.0}}},
	}, structured.NestedOptions{})).(*structured.Tensor)
}

// sales are the orders as a list, each with the id of its user.
func sales() *structured.Tensor {
	orders := users().Broadcast("id", "orders", "user").Path("orders").(*structured.Tensor)
	return tenon.Must(orders.MergeDims(0, 1))
}

func ExampleTensor_Path() {
	u := users()
	fmt.Println(u.Path("orders.price"))
	fmt.Println(u.Path("orders[-1].price"))
	fmt.Println(u.Path("orders[?@.qty > 1].cat"))
	fmt.Println(u.Path("$[?any(@.orders.price < 5)].id"))
	// Output:
	// [[10. 4.5] [] [8.]] float64[3, ~]
	// masked([4.5 0.  8. ] float64[3], [ true false  true] bool[3])
	// [["toys"]
	//  []
	//  ["books"]] string[3, ~]
	// [1] int64[1]
}

func ExampleTensor_Filter() {
	fmt.Println(users().Filter("@.north == true && @.orders[?@.qty > 2]").Path("id"))
	fmt.Println(users().Filter("length(@.orders) == 0").Path("id"))
	// Output:
	// [3] int64[1]
	// [2] int64[1]
}

func ExampleTensor_Where() {
	u := users()
	total := ops.Sum(ops.Mul(ops.Cast(u.Path("orders.qty"), u.Path("orders.price").DType()), u.Path("orders.price")), -1)
	fmt.Println(u.With("total", total).Where(ops.Greater(total, 0.0)).Path("total"))
	// Output:
	// [24.5 24. ] float64[2]
}

func ExampleTensor_Select() {
	s := users().Select("id", "orders.cat").Rename("orders.cat", "kind").Drop("id")
	fmt.Println(s.FieldNames(), s.Path("orders").(*structured.Tensor).FieldNames())
	// Output:
	// [orders] [kind]
}

func ExampleTensor_Flatten() {
	u := users().Select("id", "orders.cat")
	drop := u.Flatten(structured.DropEmpty, "orders")
	keep := u.Flatten(structured.KeepEmpty, "orders")
	fmt.Println(drop.Path("id"), drop.Path("orders.cat"))
	fmt.Println(keep.Path("id"), keep.Path("orders.cat"))
	// Output:
	// [1 1 3] int64[3] ["toys" "books" "books"] string[3]
	// [1 1 2 3] int64[4] masked(["toys" "books" "" "books"] string[4], [ true  true false  true] bool[4])
}

func ExampleTensor_GroupBy() {
	groups := sales().GroupBy("cat")
	t := groups.Aggregate(structured.Count(), structured.Sum("qty"), structured.Max("price").As("top"), structured.List("user").As("users"))
	for _, f := range t.Unzip() {
		fmt.Println(f.Name, f.Value)
	}
	// Output:
	// cat ["toys" "books"] string[2]
	// count [1 2] int64[2]
	// qty [2 4] int64[2]
	// top [10.  8.] float64[2]
	// users [[1] [1 3]] int64[2, ~]
}

func ExampleGrouping_Window() {
	t := sales().GroupBy("cat").OrderBy("price", ops.SortOptions{}).Window(structured.Sum("price").As("total"), structured.RowNumber())
	fmt.Println(t.Path("cat"), t.Path("total"), t.Path("row_number"))
	// Output:
	// ["toys" "books" "books"] string[3] [10.  12.5 12.5] float64[3] [0 0 1] int64[3]
}

func ExampleTensor_Join() {
	kinds := tenon.Must(structured.FromNested(list{rec{"cat": "books", "tax": 7}, rec{"cat": "food", "tax": 0}}, structured.NestedOptions{})).(*structured.Tensor)
	left := sales().Join(kinds, structured.JoinOptions{Kind: structured.Left, On: []string{"cat"}})
	fmt.Println(left.Path("cat"), left.Path("tax"))
	anti := sales().Join(kinds, structured.JoinOptions{Kind: structured.Anti, On: []string{"cat"}})
	fmt.Println(anti.Path("cat"))
	// Output:
	// ["toys" "books" "books"] string[3] masked([0 7 7] int64[3], [false  true  true] bool[3])
	// ["toys"] string[1]
}

func ExampleTensor_Pivot() {
	p := sales().Pivot("user", "cat", structured.Sum("qty"), structured.PivotOptions{})
	fmt.Println(p.Rows.Path("user"), p.Columns.Path("cat"))
	fmt.Println(p.Values)
	// Output:
	// [1 3] int64[2] ["books" "toys"] string[2]
	// [[1 2]
	//  [3 0]] int64[2, 2]
}

func ExampleTensor_MapFields() {
	t := users().MapFields(func(path []string, v tensor.Tensor) tensor.Tensor {
		if !v.DType().IsNumeric() {
			return nil
		}
		return ops.Mul(v, 2)
	})
	fmt.Println(t.Path("orders.price"))
	// Output:
	// [[20. 9.] [] [16.]] float64[3, ~]
}

func ExampleTensor_Lengths() {
	fmt.Println(users().Lengths("orders"))
	// Output:
	// [2 0 1] int64[3]
}

// Queries are traced like any other computation: their sizes depend on the data.
func ExampleGrouping_Aggregate() {
	totals := function.New(func(s *structured.Tensor) *structured.Tensor {
		return s.Filter("@.qty > 1").GroupBy("cat").Sorted().Aggregate(structured.Mean("price"))
	})
	t := totals.Call(sales())
	fmt.Println(t.Path("cat"), t.Path("price"))
	// Output:
	// ["books" "toys"] string[2] [ 8. 10.] float64[2]
}
