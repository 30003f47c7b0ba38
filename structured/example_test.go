package structured_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// The examples follow those of tf.experimental.StructuredTensor.

func from(x any) *structured.Tensor {
	return tenon.Must(structured.FromNested(x, structured.NestedOptions{})).(*structured.Tensor)
}

func Example() {
	// A single person.
	s1 := from(rec{"age": 82, "nicknames": list{"Bob", "Bobby"}})
	fmt.Println(s1.Shape())
	age, _ := s1.Field("age")
	fmt.Println(age)

	// A list of three people.
	s2 := from(list{
		rec{"age": 12, "nicknames": list{"Josaphine"}},
		rec{"age": 82, "nicknames": list{"Bob", "Bobby"}},
		rec{"age": 42, "nicknames": list{"Elmo"}},
	})
	fmt.Println(s2.Shape())
	first, _ := s2.Index(0, "age")
	fmt.Println(first)
	fmt.Println(s2)
	// Output:
	// []
	// 82 int64[]
	// [3]
	// 12 int64[]
	// 3 * {age: int64, nicknames: var * string}
	//    age    nicknames
	//    int64  var * string
	// 0  12     ["Josaphine"]
	// 1  82     ["Bob", "Bobby"]
	// 2  42     ["Elmo"]
}

func ExampleTensor_RowPartitions() {
	x := rec{"a": 1, "b": list{"foo", "bar", "baz"}}
	for _, s := range []any{
		list{list{x, x, x, x}, list{x, x, x, x}},
		list{list{x, x}, list{x, x}, list{x, x}, list{x, x}},
		list{list{x, x, x}, list{}, list{x, x, x, x}, list{x}},
		list{list{list{x, x}, list{x, x}}, list{list{x, x}, list{x, x}}},
		list{list{list{x, x}, list{x}}, list{list{x, x}}, list{list{x, x}, list{x}}},
	} {
		for _, p := range from(s).RowPartitions() {
			fmt.Print(p.RowSplits(), ";")
		}
		fmt.Println()
	}
	// Output:
	// [0 4 8] int64[3];
	// [0 2 4 6 8] int64[5];
	// [0 3 3 7 8] int64[5];
	// [0 2 4] int64[3];[0 2 4 6 8] int64[5];
	// [0 2 3 5] int64[4];[0 2 3 5 7 8] int64[6];
}

func ExampleFromFields() {
	s, _ := structured.FromFields([]structured.Field{
		{Name: "x", Value: tensor.Scalar(int32(1))},
		{Name: "y", Value: tensor.Of([]int32{1, 2, 3})},
	}, shape.Of(), structured.Options{})
	fmt.Println(s)
	s, _ = structured.FromFields([]structured.Field{
		{Name: "foo", Value: tensor.Of([]int32{1, 2})},
		{Name: "bar", Value: tensor.Of([]int32{3, 4})},
	}, shape.Of(2), structured.Options{})
	fmt.Println(s)
	// Output:
	// {x: int32, y: 3 * int32}
	//   x      y
	//   int32  3 * int32
	//   1      [1, 2, 3]
	// 2 * {foo: int32, bar: int32}
	//    foo    bar
	//    int32  int32
	// 0  1      3
	// 1  2      4
}

func ExampleFromFields_disagree() {
	_, err := structured.FromFields([]structured.Field{
		{Name: "name", Value: tensor.Of([]string{"Ada", "Bo"})},
		{Name: "age", Value: tensor.Of([]int64{30, 40, 50})},
	}, shape.OfRank(1), structured.Options{})
	fmt.Println(tenon.AsError(err).Where, tenon.AsError(err).Msg)
	// Output: age has 3 rows, the records 2
}

func ExampleFromFieldsAndRank() {
	s, _ := structured.FromFieldsAndRank([]structured.Field{
		{Name: "x", Value: tensor.Scalar(int32(1))},
		{Name: "y", Value: tensor.Of([]int32{1, 2, 3})},
	}, 0, structured.Options{})
	fmt.Println(s.Spec().(*structured.Spec).Datashape())
	s, _ = structured.FromFieldsAndRank([]structured.Field{
		{Name: "foo", Value: tensor.Of([]int32{1, 2})},
		{Name: "bar", Value: tensor.Of([]int32{3, 4})},
	}, 1, structured.Options{})
	fmt.Println(s.Spec().(*structured.Spec).Datashape())
	// Output:
	// {x: int32, y: 3 * int32}
	// 2 * {foo: int32, bar: int32}
}

func ExampleFromShape() {
	sizes, _ := ragged.ShapeFromLengths([]any{2, []int{3, 1}}, ragged.ShapeOptions{})
	s, _ := structured.FromShape(sizes)
	fmt.Println(s.Shape(), s.FieldNames(), s.RowPartitions()[0].RowSplits())
	// Output: [2, ?] [] [0 3 4] int64[3]
}

func ExampleFromNested() {
	s := from(rec{"a": list{1, 2, 3}, "b": list{list{4, 5}, list{6, 7}}})
	fmt.Println(s)
	x, _ := s.ToNested()
	fmt.Println(x)
	// Output:
	// {a: 3 * int64, b: 2 * var * int64}
	//   a          b
	//   3 * int64  2 * var * int64
	//   [1, 2, 3]  [[4, 5], [6, 7]]
	// map[a:[1 2 3] b:[[4 5] [6 7]]]
}

func ExampleFromNested_spec() {
	spec, _ := structured.NewSpec(shape.Of(shape.Unknown), []tenon.Field{
		{Name: "id", Spec: tensor.NewSpec(dtype.Int32, shape.Of(shape.Unknown))},
		{Name: "pos", Spec: tensor.NewSpec(dtype.Float32, shape.Of(shape.Unknown, 2))},
	})
	s, _ := structured.FromNested(list{rec{"id": 1, "pos": list{0, 1.5}}}, structured.NestedOptions{Spec: spec})
	fmt.Println(structured.Datashape(s.Spec()))
	_, err := structured.FromNested(list{rec{"id": 1, "pos": list{0, 1}}, rec{"id": 2, "pos": list{0, 1, 2}}}, structured.NestedOptions{Spec: spec})
	fmt.Println(tenon.AsError(err).Where, tenon.AsError(err).Msg)
	// Output:
	// 1 * {id: int32, pos: 2 * float32}
	// pos is a list of 3, want 2
}

func ExampleFromNested_missing() {
	data := list{rec{"name": "Ada", "age": 36}, rec{"name": "Bo"}, rec{"name": "Cy", "age": nil}}
	_, err := structured.FromNested(data, structured.NestedOptions{})
	fmt.Println(tenon.AsError(err).Where, tenon.AsError(err).Msg)
	s, _ := structured.FromNested(data, structured.NestedOptions{Missing: structured.MissingMasked})
	fmt.Println(s)
	// Output:
	// [1] the record has no field "age", but others do
	// 3 * {age: ?int64, name: string}
	//    age     name
	//    ?int64  string
	// 0  36      "Ada"
	// 1  -       "Bo"
	// 2  -       "Cy"
}

func ExampleTensor_FieldNames() {
	fmt.Println(from(rec{"b": 1, "a": rec{"c": 2}}).FieldNames())
	// Output: [a b]
}

func ExampleTensor_Field() {
	s := from(list{rec{"shoes": rec{"sizes": list{8.0, 7.5}}}, rec{"shoes": rec{"sizes": list{11.0}}}})
	sizes, _ := s.Field("shoes", "sizes")
	fmt.Println(sizes)
	_, err := s.Field("shoes", "colour")
	fmt.Println(tenon.AsError(err).Where, tenon.AsError(err).Msg)
	// Output:
	// [[8. 7.5] [11.]] float64[2, ~]
	// shoes.colour there is no field "colour", but ["sizes"]
}

func ExampleTensor_NRows() {
	fmt.Println(from(list{rec{"a": 1}, rec{"a": 2}}).NRows())
	fmt.Println(from(rec{"a": 1}).NRows())
	// Output:
	// 2 int64[]
	// <nil>
}

func ExampleTensor_MergeDims() {
	st := from(list{list{rec{"foo": 12}, rec{"foo": 33}}, list{}, list{rec{"foo": 99}}})
	merged, _ := st.MergeDims(0, 1)
	fmt.Println(merged)
	// Output:
	// 3 * {foo: int64}
	//    foo
	//    int64
	// 0  12
	// 1  33
	// 2  99
}

func ExampleTensor_PartitionOuterDimension() {
	st := from(list{rec{"foo": 12}, rec{"foo": 33}, rec{"foo": 99}})
	p, _ := ragged.PartitionFromRowLengths([]int{2, 0, 1}, ragged.PartitionOptions{})
	rows, _ := st.PartitionOuterDimension(p)
	foo, _ := rows.Field("foo")
	fmt.Println(foo)
	// Output:
	// [[12 33] [] [99]] int64[3, ~]
}

func ExampleTensor_Promote() {
	st := from(list{
		rec{"docs": list{rec{"tokens": list{1, 2}}, rec{"tokens": list{3}}}},
		rec{"docs": list{rec{"tokens": list{7}}}},
	})
	st2, _ := st.Promote([]string{"docs", "tokens"}, "docs_tokens")
	fmt.Println(ops.Index(st2, 0, "docs_tokens"))
	fmt.Println(ops.Index(st2, 1, "docs_tokens"))
	// Output:
	// [1 2 3] int64[3]
	// [7] int64[1]
}

func ExampleTensor_ToNested() {
	s, _ := structured.FromFields([]structured.Field{{Name: "a", Value: tensor.Of([]int64{1, 2, 3})}}, shape.Of(3), structured.Options{})
	x, _ := s.ToNested()
	fmt.Println(x)
	// Output: [map[a:1] map[a:2] map[a:3]]
}

func ExampleTensor_WithShapeDType() {
	s := from(list{list{rec{"a": 1}}, list{}})
	narrow, _ := s.WithShapeDType(dtype.Int32)
	fmt.Println(narrow.RowPartitions()[0].RowSplits())
	// Output: [0 1 1] int32[3]
}

func ExampleTensor_WithUpdates() {
	shoesUS := from(list{
		rec{"age": 12, "nicknames": list{"Josaphine"}, "shoes": rec{"sizes": list{8.0, 7.5, 7.5}}},
		rec{"age": 82, "nicknames": list{"Bob", "Bobby"}, "shoes": rec{"sizes": list{11.0, 11.5, 12.0}}},
		rec{"age": 42, "nicknames": list{"Elmo"}, "shoes": rec{"sizes": list{9.0, 9.5, 10.0}}},
	})
	usToEurope := func(t tensor.Tensor) (tensor.Tensor, error) {
		return ops.Round(ops.Add(ops.Mul(t, 2.54), 17.0)), nil // rough
	}
	sizes := []string{"shoes", "sizes"}
	shoesEU, _ := shoesUS.WithUpdates([]structured.Update{{Path: sizes, Func: usToEurope}})
	fmt.Println(shoesEU.Field(sizes...))
	// Output:
	// [[37. 36. 36.] [45. 46. 47.] [40. 41. 42.]] float64[3, ~] <nil>
}

func ExampleTensor_Equal() {
	a, b := from(rec{"x": list{1, 2}}), from(rec{"x": list{1, 3}})
	fmt.Println(a.Equal(a), a.Equal(b))
	fmt.Println(ops.Equal(from(list{rec{"x": 1}, rec{"x": 2}}), from(list{rec{"x": 1}, rec{"x": 3}})))
	// Output:
	// true false
	// [ true false] bool[2]
}

func ExampleTensor_Index() {
	people := from(list{
		rec{"name": "Ada", "pets": list{"cat", "dog", "emu"}},
		rec{"name": "Bo", "pets": list{}},
		rec{"name": "Cy", "pets": list{"fish"}},
	})
	fmt.Println(ops.Index(people, -1, "name"))
	fmt.Println(ops.Index(people, key.All, "name"))
	fmt.Println(ops.Index(people, 0, "pets", key.To(2)))
	fmt.Println(ops.Index(people, key.Range(nil, nil, 2)))
	// Output:
	// "Cy" string[]
	// ["Ada" "Bo" "Cy"] string[3]
	// ["cat" "dog"] string[2]
	// 2 * {name: string, pets: var * string}
	//    name    pets
	//    string  var * string
	// 0  "Ada"   ["cat", "dog", "emu"]
	// 1  "Cy"    ["fish"]
}

func ExampleTensor_Sort() {
	s := from(list{rec{"state": "WA", "size": 3}, rec{"state": "OR", "size": 1}, rec{"state": "WA", "size": 9}})
	sorted, _ := s.Sort(0, structured.By{Path: []string{"state"}}, structured.By{Path: []string{"size"}, Descending: true})
	fmt.Println(sorted.ToNested())
	// Output: [map[size:1 state:OR] map[size:9 state:WA] map[size:3 state:WA]] <nil>
}

func ExampleNewUnion() {
	u, _ := structured.NewUnion([]int{0, 1, 0}, []structured.Field{
		{Name: "number", Value: tensor.Of([]int64{7, 0, 8})},
		{Name: "string", Value: tensor.Of([]string{"", "x", ""})},
	})
	n, _ := u.Variant("number")
	fmt.Println(structured.Datashape(u.Spec()), ops.Sum(n))
	// Output: 3 * union[int64, string] 15 int64[]
}
