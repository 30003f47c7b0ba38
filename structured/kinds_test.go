package structured_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// span is a tensor of a type from outside, whose Spec tells neither shape nor element
// type, and which Go cannot compare. It answers for what moves elements.
type span struct {
	Lo    tensor.Tensor
	Hi    tensor.Tensor `tenon:"shape=Lo,dtype=Lo"`
	Units []string
}

func init() { ext.Register[span]("tenon.test/structured.span") }

func (v span) Spec() tenon.Spec   { return ext.SpecOf(v) }
func (v span) DType() dtype.DType { return v.Lo.DType() }
func (v span) Shape() shape.Shape { return v.Lo.Shape() }

func (v span) HandleOp(c *op.Call) ([]tenon.Value, error) {
	if c.Op.Class != op.Structural {
		return nil, op.NotHandled
	}
	lo, hi := slices.Clone(c.Values()), slices.Clone(c.Values())
	for i, x := range lo {
		if s, ok := x.(span); ok {
			lo[i], hi[i] = s.Lo, s.Hi
		}
	}
	var out []tenon.Value
	ends := op.ApplyN(c, hi...)
	for i, start := range op.ApplyN(c, lo...) {
		out = append(out, span{start, ends[i], unitsOf(c.Values())})
	}
	return out, nil
}

func unitsOf(values []tenon.Value) []string {
	for _, v := range values {
		if s, ok := v.(span); ok {
			return s.Units
		}
	}
	return nil
}

// kinds are columns of eight entries, of each kind that a field may have.
func kinds() map[string]tensor.Tensor {
	const n = 8
	lo, hi, mask, tags, words := make([]float64, n), make([]float64, n), make([]bool, n), make([]int, n), make([]string, n)
	dense, colours := make([]float64, 2*n), []tenon.Value{}
	lists, masks := make([][]int64, n), make([][]bool, n)
	for i := range n {
		lo[i], hi[i], mask[i], tags[i], words[i] = float64(i), float64(i)+0.5, i%3 != 1, i%2, strings.Repeat("w", i%3)
		dense[2*i+i%2] = float64(i)
		colours = append(colours, named.Of(tensor.Of([]float64{float64(i), float64(-i)}), Rgb{}))
		lists[i], masks[i] = []int64{}, []bool{}
		for k := range i % 3 {
			lists[i], masks[i] = append(lists[i], int64(10*i+k)), append(masks[i], k%2 == 0)
		}
	}
	return map[string]tensor.Tensor{
		"dense":           tensor.Of(dense, n, 2),
		"ragged":          ragged.FromSlices(lists),
		"sparse":          tenon.Must(sparse.FromDense(tensor.Of(dense, n, 2))),
		"masked":          tenon.Must(masked.New(tensor.Of(lo), mask)),
		"masked lists":    tenon.Must(masked.New(ragged.FromSlices(lists), mask)),
		"lists of masked": tenon.Must(masked.New(ragged.FromSlices(lists), ragged.FromSlices(masks))),
		"named":           ops.Stack(colours, 0),
		"dictionary":      tenon.Must(structured.EncodeStrings(words)),
		"union":           tenon.Must(structured.NewUnion(tags, []structured.Field{{Name: "a", Value: tensor.Of(lo)}, {Name: "b", Value: tensor.Of(words)}})),
		"held":            tenon.Must(structured.HoldRows(interval{tensor.Of(lo), tensor.Of(hi), "m"})),
		"outside":         span{tensor.Of(lo), tensor.Of(hi), []string{"m"}},
		"outside vectors": span{tensor.Of(dense, n, 2), tensor.Of(dense, n, 2), nil},
		"masked outside":  tenon.Must(masked.New(span{tensor.Of(lo), tensor.Of(hi), []string{"m"}}, mask)),
	}
}

// recordsWith returns eight records with a field x of each kind.
func recordsWith(t *testing.T, x tensor.Tensor) *structured.Tensor {
	t.Helper()
	s, err := structured.FromFields([]structured.Field{
		{Name: "id", Value: tensor.Of([]int64{0, 1, 2, 3, 4, 5, 6, 7})},
		{Name: "g", Value: tensor.Of([]int64{0, 1, 2, 0, 1, 2, 0, 1})},
		{Name: "list", Value: ragged.FromSlices([][]int64{{1, 2}, {}, {3}, {}, {}, {4, 5}, {6}, {7}})},
		{Name: "x", Value: x},
	}, shape.OfRank(1), structured.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// text writes an entry of any kind.
func text(t *testing.T, v tenon.Value) string {
	t.Helper()
	switch x := v.(type) {
	case *sparse.Tensor:
		return text(t, tenon.Must(x.ToDense(sparse.DenseOptions{})))
	case *named.Tensor:
		return text(t, named.Unnamed(x, x.Dims().Names()...))
	case *structured.Held:
		return text(t, x.Value())
	case *structured.Dictionary:
		return text(t, x.Decode())
	case *structured.Tensor:
		return fmt.Sprint(plain(t, x))
	case *structured.Union:
		var out []string
		for _, n := range x.Variants() {
			out = append(out, text(t, tenon.Must(x.Variant(n))))
		}
		return strings.Join(out, "|")
	case *masked.Tensor:
		if v, ok := x.Values().(span); ok {
			return text(t, tenon.Must(masked.New(v.Lo, x.Mask()))) + text(t, tenon.Must(masked.New(v.Hi, x.Mask())))
		}
		return fmt.Sprint(hide(plainOf(t, x.Values()), plainOf(t, x.Full())))
	case interval:
		return text(t, x.Lo) + "…" + text(t, x.Hi) + x.Unit
	case span:
		return text(t, x.Lo) + "…" + text(t, x.Hi) + fmt.Sprint(x.Units)
	}
	return fmt.Sprint(nestedOf(t, v.(tensor.Tensor)))
}

// entryTexts writes the field x of each record of a list.
func entryTexts(t *testing.T, s *structured.Tensor) []string {
	t.Helper()
	out := make([]string, s.Shape().Dim(0))
	for i := range out {
		out[i] = text(t, get(ops.Index(s, i).(*structured.Tensor), "x"))
	}
	return out
}

// TestShapeOperationsOfEveryKind compares the field with the numbers beside it.
func TestShapeOperationsOfEveryKind(t *testing.T) {
	operations := shapeOperations()
	operations["pad"] = func(x tensor.Tensor) []tensor.Tensor {
		margins := make([][]int, max(1, x.Shape().Rank()))
		for i := range margins {
			margins[i] = []int{0, 0}
		}
		margins[0] = []int{1, 1}
		return []tensor.Tensor{ops.Pad(x, margins, ops.PadOptions{})}
	}
	for kind, x := range kinds() {
		base := recordsWith(t, x).Drop("list", "g")
		want := entryTexts(t, base)
		for dims, n := range numbers(t) {
			for name, f := range operations {
				if _, err := tenon.Try(func() any { return f(n) }); err != nil {
					continue // the operation has no meaning for these dimensions
				}
				what := name + " of " + dims + " of " + kind
				_, err := tenon.Try(func() any {
					chosen := tensor.Tensor(nil)
					if n.Shape().IsScalar() {
						chosen = ops.Index(base, n)
					} else {
						chosen = ops.Gather(base, n, 0)
					}
					for _, r := range f(chosen) {
						s := r.(*structured.Tensor)
						checkSpecs(t, what, s)
						switch {
						case s.Rank() == 0:
							s = ops.ExpandDims(s, 0).(*structured.Tensor)
						case s.Rank() > 1:
							s = tenon.Must(tenon.Must(structured.FromFields(s.Unzip(), shape.OfRank(s.Rank()), structured.Options{})).MergeDims(0, s.Rank()-1))
						}
						got := entryTexts(t, s)
						for i, id := range tensor.Data[int64](get(s, "id")) {
							if got[i] != want[id] && name != "pad" {
								t.Errorf("%s: record %d has %s, want %s", what, id, got[i], want[id])
							}
						}
					}
					return nil
				})
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
}

// checkSpecs checks that the Spec tells of the field what it is, and that it is made
// again of the fields' Specs.
func checkSpecs(t *testing.T, what string, s *structured.Tensor) {
	t.Helper()
	spec := s.Spec().(*structured.Spec)
	again, err := structured.NewSpec(spec.Shape(), spec.Fields())
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if !tenon.Compatible(again, spec) {
		t.Errorf("%s: the fields of %v make %v", what, spec, again)
	}
	if own, field := tenon.Must(spec.Field("x")), get(s, "x").Spec(); !tenon.Compatible(own, field) {
		t.Errorf("%s: the Spec tells %v, the field is %v", what, own, field)
	}
}

func TestQueriesOfEveryKind(t *testing.T) {
	right := tenon.Must(structured.FromFields([]structured.Field{{Name: "g", Value: tensor.Of([]int64{1, 5, 0, 1})}, {Name: "w", Value: tensor.Of([]int64{10, 50, 0, 11})}}, shape.OfRank(1), structured.Options{}))
	flat := func(v tensor.Tensor) *structured.Tensor { return tenon.Must(v.(*structured.Tensor).MergeDims(0, 1)) }
	all := []int64{0, 1, 2, 3, 4, 5, 6, 7}
	for kind, x := range kinds() {
		base := recordsWith(t, x)
		want := entryTexts(t, base)
		pair := func(id, x tensor.Tensor) *structured.Tensor {
			return structured.Zip(id.Shape().Rank(), structured.Field{Name: "id", Value: id}, structured.Field{Name: "x", Value: x})
		}
		groups := base.GroupBy("g")
		sums := groups.Aggregate(structured.First("x"), structured.First("id"), structured.List("x").As("xs"), structured.List("id").As("ids"), structured.Records("r"), structured.CountDistinct("x").As("distinct"))
		window := groups.Window(structured.First("x").As("first"), structured.Shifted("x", 1).As("before"))
		outer := structured.Zip(1, structured.Field{Name: "n", Value: tensor.Of([]int64{0, 1, 2})}, structured.Field{Name: "in", Value: base.Unflatten([]int{3, 0, 5})})
		kids := base.With("kids", structured.Zip(2, structured.Field{Name: "v", Value: base.Path("list")})).Broadcast("x", "kids", "x").Broadcast("id", "kids", "id")
		join := func(k structured.JoinKind) *structured.Tensor {
			return base.Join(right, structured.JoinOptions{Kind: k, On: []string{"g"}, As: "partners"})
		}
		traced := function.New(func(s *structured.Tensor) *structured.Tensor {
			return s.Filter("@.id > 1").Flatten(structured.DropEmpty, "list").GroupBy("g").Aggregate(structured.First("x"), structured.First("id"))
		})
		for _, c := range []struct {
			name string
			got  *structured.Tensor
			ids  []int64
		}{
			{"select", base.Select("x", "id"), all},
			{"rename", base.Rename("x", "y").Rename("y", "x"), all},
			{"with", base.Drop("x").With("x", base.Path("x")), all},
			{"apply", base.Apply("x", func(v tensor.Tensor) tensor.Tensor { return v }), all},
			{"zip", structured.Zip(1, base.Unzip()...), all},
			{"filter", base.Filter("@.id > 4"), []int64{5, 6, 7}},
			{"where", base.Where(ops.Less(base.Path("id"), 2)), []int64{0, 1}},
			{"flatten", base.Flatten(structured.DropEmpty, "list"), []int64{0, 0, 2, 5, 5, 6, 7}},
			{"flatten, empty ones too", base.Flatten(structured.KeepEmpty, "list"), []int64{0, 0, 1, 2, 3, 4, 5, 5, 6, 7}},
			{"unflatten", flat(base.Unflatten([]int{3, 0, 5})), all},
			{"one of the lists", base.Unflatten([]int{3, 0, 5}).At(2).(*structured.Tensor), []int64{3, 4, 5, 6, 7}},
			{"fields of lists", flat(pair(base.Unflatten([]int{3, 0, 5}).At(key.All, key.To(1), "id"), base.Unflatten([]int{3, 0, 5}).At(key.All, key.To(1), "x"))), []int64{0, 3}},
			{"groups", flat(groups.Groups()), []int64{0, 3, 6, 1, 4, 7, 2, 5}},
			{"first", sums, []int64{0, 1, 2}},
			{"lists", flat(pair(sums.Path("ids"), sums.Path("xs"))), []int64{0, 3, 6, 1, 4, 7, 2, 5}},
			{"records", flat(sums.Path("r")), []int64{0, 3, 6, 1, 4, 7, 2, 5}},
			{"first of the group", pair(window.Path("g"), window.Path("first")), []int64{0, 1, 2, 0, 1, 2, 0, 1}},
			{"inner join", join(structured.Inner), []int64{0, 1, 1, 3, 4, 4, 6, 7, 7}},
			{"left join", join(structured.Left), []int64{0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7}},
			{"semi-join", join(structured.Semi), []int64{0, 1, 3, 4, 6, 7}},
			{"anti-join", join(structured.Anti), []int64{2, 5}},
			{"nested join", join(structured.Nested), all},
			{"join from the right", right.Join(base, structured.JoinOptions{On: []string{"g"}}), []int64{1, 4, 7, 0, 3, 6, 1, 4, 7}},
			{"broadcast", flat(kids.Path("kids")), []int64{0, 0, 2, 5, 5, 6, 7}},
			{"sort", tenon.Must(base.Sort(0, structured.By{Path: []string{"id"}, Descending: true})), []int64{7, 6, 5, 4, 3, 2, 1, 0}},
			{"numbers", base.At([]int{2, 0}).(*structured.Tensor), []int64{2, 0}},
			{"truth values", base.At([]bool{true, false, false, false, false, false, false, true}).(*structured.Tensor), []int64{0, 7}},
			{"traced", traced.Call(base), []int64{2, 6, 7}},
			{"lists of records", outer.At(2, "in", key.From(1)).(*structured.Tensor), []int64{4, 5, 6, 7}},
			{"lists of records, turned round", flat(ops.Reverse(outer, 0).(*structured.Tensor).Path("in")), []int64{3, 4, 5, 6, 7, 0, 1, 2}},
			{"lists of records, twice", flat(ops.Concat([]tensor.Tensor{outer, outer}, 0).(*structured.Tensor).Path("in")), append(slices.Clone(all), all...)},
			{"lists of records, filtered", flat(outer.Path("in[?@.id > 1]")), []int64{2, 3, 4, 5, 6, 7}},
			{"lists of records, exploded", outer.Flatten(structured.DropEmpty, "in").Path("in").(*structured.Tensor), all},
		} {
			what := c.name + " of " + kind
			if same(t, what, tensor.Data[int64](get(c.got, "id")), c.ids); t.Failed() {
				continue
			}
			got := entryTexts(t, c.got)
			for i, id := range c.ids {
				if got[i] != want[id] {
					t.Errorf("%s: record %d has %s, want %s", what, id, got[i], want[id])
				}
			}
			if !strings.Contains(c.got.String(), "id") || structured.Datashape(c.got.Spec()) == "" {
				t.Errorf("%s: prints %v", what, c.got)
			}
		}
		// What is not there is missing, and stands for nothing else.
		before := window.Path("before")
		for i, from := range []int{-1, -1, -1, 0, 1, 2, 3, 4} {
			entry := ops.Index(structured.Zip(1, structured.Field{Name: "x", Value: before}), i).(*structured.Tensor).Path("x").(*masked.Tensor)
			if from >= 0 && !strings.Contains(kind, "masked") {
				same(t, "before of "+kind, text(t, entry.Values()), want[from])
			}
			if there := tensor.Item[bool](ops.Any(entry.Mask())); from < 0 && there {
				t.Errorf("before of %s: record %d has %v", kind, i, entry)
			}
		}
		different := []int64{0, 0, 0}
		seen := map[string]bool{}
		for i, w := range want {
			missing := strings.HasPrefix(kind, "masked") && i%3 == 1
			if k := fmt.Sprint(i%3, w); !missing && !seen[k] {
				seen[k] = true
				different[i%3]++
			}
		}
		same(t, "different values of "+kind, tensor.Data[int64](sums.Path("distinct")), different)
		again := ops.Gather(base, all, 0).(*structured.Tensor)
		same(t, "equal records of "+kind, tensor.Data[bool](ops.Equal(base, again)), slices.Repeat([]bool{true}, 8))
		same(t, "different records of "+kind, tensor.Data[bool](ops.Equal(base.Select("x"), ops.Roll(base.Select("x"), 1, 0)))[4], false)
		if !base.Equal(again) {
			t.Errorf("%s: the same records differ", kind)
		}
		twice := ops.Concat([]tensor.Tensor{base, base}, 0)
		unique, _, _, _ := ops.Unique(twice)
		same(t, "unique records of "+kind, tensor.Data[int64](get(unique.(*structured.Tensor), "id")), all)
		if n := tenon.Must(base.ToNested()).([]any); len(n) != 8 || n[3].(rec)["x"] == nil {
			t.Errorf("%s: got %v", kind, n)
		}
	}
}
