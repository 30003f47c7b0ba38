package ragged_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// A rowFunction is a function of package ragged as FuzzFunctions calls it, with arguments that are right as
// far as their types go.
type rowFunction func(s *script, x *ragged.Tensor) (tenon.Value, error)

// listed makes a value of several.
func listed(ts []T, err error) (tenon.Value, error) {
	for _, t := range ts {
		if err == nil && t == nil {
			return nil, nil
		}
	}
	if err != nil || len(ts) == 0 {
		return nil, err
	}
	return ts[len(ts)-1], nil
}

// valued makes an interface of a result that may be a nil pointer.
func valued(t *ragged.Tensor, err error) (tenon.Value, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (s *script) axis() int { return s.next()%5 - 2 }

// other returns a tensor to go with x: rows of the same lengths, of others, or none.
func (s *script) other(x *ragged.Tensor, d dtype.DType) T {
	switch s.next() % 4 {
	case 0:
		return s.elements(d, s.next()%5)
	case 1:
		return s.rowsOfAny(d)
	case 2:
		return s.elements(d, s.next()%4, s.next()%3)
	}
	return tenon.Must(x.WithFlatValues(s.elements(d, x.FlatValues().Shape().Dims()...)))
}

// lacking returns x, of which entries may be missing.
func (s *script) lacking(x *ragged.Tensor) T {
	if s.next()%2 == 0 {
		return x
	}
	m, err := ragged.Mask(x, s.other(x, dtype.Bool))
	if err != nil {
		return x
	}
	return m
}

func (s *script) rowShape(x *ragged.Tensor) *ragged.Shape {
	return ragged.ShapeOf(s.other(x, dtype.Int64))
}

var functions = map[string]rowFunction{
	"ArgCartesian": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return listed(ragged.ArgCartesian([]T{x, s.other(x, dtype.Int64)}, s.axis(), ragged.CartesianOptions{Nested: s.next()%2 == 0}))
	},
	"ArgCombinations": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return listed(ragged.ArgCombinations(s.lacking(x), s.next()%4, s.axis(), ragged.CombinationOptions{Replacement: s.next()%2 == 0}))
	},
	"BinCountRows": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		if !x.DType().IsInteger() {
			x = s.rowsOfAny(dtype.Int64)
		}
		return ragged.BinCountRows(x, ragged.BinCountOptions{Binary: s.next()%2 == 0, Options: ops.BinCountOptions{MaxLength: s.next() % 9}})
	},
	"BooleanMask": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.BooleanMask(x, s.other(x, dtype.Bool))
	},
	"BroadcastRows": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return listed(ragged.BroadcastRows([]T{s.lacking(x), s.other(x, dtype.Int64)}, ragged.BroadcastRowsOptions{Depth: s.next() % 3, ShareMissing: s.next()%2 == 0}))
	},
	"BroadcastShapes": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		_, to, err := ragged.BroadcastShapes(ragged.ShapeOf(x), s.rowShape(x))
		if err != nil {
			return nil, err
		}
		return to[0].Apply(x.FlatValues()), nil
	},
	"BroadcastTo": func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.BroadcastTo(x, s.rowShape(x)) },
	"Cartesian": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return listed(ragged.Cartesian([]T{x, s.other(x, dtype.Int64)}, s.axis(), ragged.CartesianOptions{Nested: s.next()%2 == 0}))
	},
	"Choose": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.Choose(s.elements(dtype.Bool, s.next()%5), x, s.other(x, x.DType()))
	},
	"Combinations": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return listed(ragged.Combinations(s.lacking(x), s.next()%4, s.axis(), ragged.CombinationOptions{}))
	},
	"Count": func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.Count(s.lacking(x), s.axis()) },
	"CountKeep": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.CountKeep(s.lacking(x), s.axis())
	},
	"Cross": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return valued(ragged.Cross([]T{x, s.other(x, dtype.String)}))
	},
	"CrossHashed": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return valued(ragged.CrossHashed([]T{x, s.other(x, dtype.String)}, ragged.CrossOptions{Buckets: s.next()%5 - 1}))
	},
	"DecodeStrings": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.DecodeStrings(x, "UTF-8", ops.UnicodeOptions{})
	},
	"DecodeStringsWithOffsets": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		codes, offsets, err := ragged.DecodeStringsWithOffsets(x, "UTF-16-BE", ops.UnicodeOptions{})
		return listed([]T{codes, offsets}, err)
	},
	"DropMissing": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.DropMissing(s.lacking(x), s.axis())
	},
	"DynamicPartition": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return listed(ragged.DynamicPartition(x, s.other(x, dtype.Int64), s.next()%5-1))
	},
	"DynamicStitch": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.DynamicStitch([]T{tensor.Of(s.numbers()), tensor.Of([]int64{0, 1})}, []T{x, s.other(x, x.DType())})
	},
	"EmbeddingLookup": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		o := ragged.EmbeddingOptions{Combiner: ragged.Combiner(s.next() % 5), MaxNorm: float64(s.next() % 3)}
		if w, ok := s.other(x, dtype.Float64).(*ragged.Tensor); ok && s.next()%2 == 0 {
			o.Weights = w
		}
		return ragged.EmbeddingLookup(s.elements(dtype.Float64, s.next()%4, 2), x, o)
	},
	"Fill": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.Fill(s.rowShape(x), s.elements(x.DType()))
	},
	"FillMissing": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.FillMissing(s.lacking(x), s.elements(x.DType()), s.axis())
	},
	"Firsts":     func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.Firsts(s.lacking(x), s.axis()) },
	"Flatten":    func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.Flatten(s.lacking(x), s.axis()) },
	"FlattenAll": func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.FlattenAll(s.lacking(x)) },
	"FromDense": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		o := ragged.FromDenseOptions{RaggedRank: s.next() % 3}
		if s.next()%2 == 0 {
			o.Lengths = tensor.Of(s.numbers())
		} else {
			o.Padding = s.elements(x.DType())
		}
		return valued(ragged.FromDense(s.elements(x.DType(), s.next()%4, s.next()%4), o))
	},
	"FromNestedRowLengths": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.FromNestedRowLengths(x.FlatValues(), s.numbers(), x.Partition().RowLengths())
	},
	"FromNestedRowSplits": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.FromNestedRowSplits(x.FlatValues(), s.numbers(), x.RowSplits())
	},
	"FromNestedValueRowIDs": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.FromNestedValueRowIDs(x.FlatValues(), []any{s.numbers(), x.Partition().ValueRowIDs()}, []any{s.next() % 5, s.next() % 5})
	},
	"FromOffsets": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return valued(ragged.FromOffsets(x, s.numbers()))
	},
	"FromPartition": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return valued(ragged.FromPartition(s.other(x, x.DType()), x.Partition()))
	},
	"FromPartitions": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.FromPartitions(s.other(x, x.DType()), append(s.rowsOfAny(dtype.Int64).Partitions(), x.Partitions()...)...)
	},
	"FromRegular": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.FromRegular(s.lacking(x), s.axis())
	},
	"FromSparse": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		n := s.next() % 4
		return valued(ragged.FromSparse(s.elements(dtype.Int64, n, 2), s.elements(x.DType(), n), s.numbers(), dtype.None))
	},
	"IsMissing": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.IsMissing(s.lacking(x), s.axis())
	},
	"LocalIndex": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.LocalIndex(s.lacking(x), s.axis())
	},
	"MapFlatValues": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.MapFlatValues(func(flat ...T) T { return ops.Reverse(flat[len(flat)-1], 0) }, x, s.other(x, x.DType()))
	},
	"Mask":         func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.Mask(x, s.other(x, dtype.Bool)) },
	"MergeDims":    func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.MergeDims(x, s.axis(), s.axis()) },
	"NaNToMissing": func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.NaNToMissing(s.lacking(x)) },
	"Num":          func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.Num(s.lacking(x), s.axis()) },
	"PadMissing": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.PadMissing(s.lacking(x), s.next()%6-1, s.axis(), ragged.PadOptions{Clip: s.next()%2 == 0})
	},
	"Pick": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		o := ragged.PickOptions{Axis: s.axis()}
		if s.next()%2 == 0 {
			o.Fill = s.elements(x.DType())
		}
		return ragged.Pick(x, tensor.Of(s.numbers()), o)
	},
	"PickFound": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		items, found, err := ragged.PickFound(x, s.number())
		return listed([]T{found, items}, err)
	},
	"Range": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		small := make([]int64, s.next()%4)
		for i := range small {
			small[i] = int64(s.next()%9 - 4)
		}
		return valued(ragged.Range(small, int64(s.next()%9), int64(s.next()%5-2), ragged.RangeOptions{}))
	},
	"Ravel":      func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.Ravel(s.lacking(x)) },
	"Reshape":    func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.Reshape(x, s.rowShape(x)) },
	"RunLengths": func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.RunLengths(s.lacking(x)) },
	"Singletons": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.Singletons(s.lacking(x), s.axis())
	},
	"Slices": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		_, err := ragged.Slices[float64](x)
		return nil, err
	},
	"Slices2": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		_, err := ragged.Slices2[int64](x)
		return nil, err
	},
	"SplitBytes": func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.SplitBytes(x) },
	"SplitChars": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.SplitChars(x, "UTF-8", ops.UnicodeOptions{})
	},
	"SplitStrings": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.SplitStrings(x, ops.SplitOptions{Separator: []string{"", "a", "\xff"}[s.next()%3]})
	},
	"Stack": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.Stack([]T{x, s.other(x, x.DType())}, s.axis())
	},
	"StackDynamicPartitions": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return valued(ragged.StackDynamicPartitions(x, s.other(x, dtype.Int64), s.next()%5-1))
	},
	"ToRegular": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		return ragged.ToRegular(s.lacking(x), s.axis())
	},
	"Unflatten": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
		if s.next()%2 == 0 {
			return ragged.Unflatten(s.lacking(x), s.number(), s.axis())
		}
		return ragged.Unflatten(s.lacking(x), s.numbers(), s.axis())
	},
	"WithRaggedRank": func(s *script, x *ragged.Tensor) (tenon.Value, error) { return ragged.WithRaggedRank(x, s.next()%5-1) },
}

// FuzzFunctions does for the functions of package ragged what FuzzOperations does for the
// operations of the catalogue.
func FuzzFunctions(f *testing.F) {
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	for i := range names {
		f.Add([]byte{byte(i), 0, 4, 1, 3, 2, 0, 2, 1, 2, 3, 4, 5, 6, 7, 0, 1, 0, 3, 1, 0, 2, 2, 1, 1})
		f.Add([]byte{byte(i), 1, 4, 5, 0, 2, 4, 6, 6, 3, 3, 1, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 1})
		f.Add([]byte{byte(i), 5, 3, 1, 2, 3, 0, 1, 2, 3, 1, 3, 3, 1, 2, 0, 1, 1, 1, 3, 2, 1})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &script{b}
		name := names[s.next()%len(names)]
		x := s.rowsOfAny(s.dtype())
		rest := &script{s.b}
		out, err := tenon.Try(func() tenon.Value { return tenon.Must(functions[name](s, x)) })
		if err != nil {
			refused(t, name, err)
			return
		}
		if out != nil {
			whole(t, name, out)
		}
		again, err := tenon.Try(func() tenon.Value { return tenon.Must(functions[name](rest, narrow(x).(*ragged.Tensor))) })
		switch {
		case err != nil && !strings.Contains(err.Error(), "int32"):
			t.Fatalf("%s of %v with splits of the other type: %v", name, x, err)
		case err == nil && out != nil:
			alike(t, name, out, again)
		}
	})
}

// TestEveryFunctionIsCalled: each function of package ragged is fuzzed, and called on few
// elements; so is each operation that ragged tensors answer.
func TestEveryFunctionIsCalled(t *testing.T) {
	exported, err := documented(".")
	if err != nil {
		t.Fatal(err)
	}
	small := map[string]bool{}
	for _, c := range smallCalls() {
		name, _, _ := strings.Cut(c.name, "/")
		small[name] = true
	}
	made := map[string]bool{ // from encodings, which FuzzPartitions is for, from Go data, or from Specs
		"Const": true, "FromSlices": true, "FromSlices2": true, "NewBuilder": true, "FromRowLengths": true, "FromRowLimits": true,
		"FromRowSplits": true, "FromRowStarts": true, "FromUniformRowLength": true, "FromValueRowIDs": true,
		"PartitionFromRowLengths": true, "PartitionFromRowLimits": true, "PartitionFromRowSplits": true, "PartitionFromRowStarts": true,
		"PartitionFromUniformRowLength": true, "PartitionFromValueRowIDs": true, "NewPartitionSpec": true, "NewShape": true, "NewSpec": true,
		"FromSpecs": true, "As": true, "ShapeFromLengths": true, "ShapeFromPartitions": true, "ShapeOf": true,
	}
	for name := range exported {
		if strings.Contains(name, ".") { // a method
			continue
		}
		if functions[name] == nil && !made[name] {
			t.Errorf("ragged.%s is not fuzzed", name)
		}
		if !small[name] {
			t.Errorf("ragged.%s is not called on few elements", name)
		}
	}
	for _, o := range fuzzed {
		if ragged.Answers(o) != "" && !small[o.Name] {
			t.Errorf("%s is not called on few elements", o.Name)
		}
	}
}
