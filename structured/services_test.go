package structured_test

import (
	"errors"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func orders(t *testing.T) *structured.Tensor {
	t.Helper()
	return read(t, list{
		rec{"id": 1, "rate": 2.0, "items": list{rec{"price": 3.0, "n": 2}, rec{"price": 1.0, "n": 1}}, "bonus": nil},
		rec{"id": 2, "rate": 0.5, "items": list{}, "bonus": 4.0},
		rec{"id": 3, "rate": 3.0, "items": list{rec{"price": 5.0, "n": 3}}, "bonus": 1.0},
	}, structured.NestedOptions{Missing: structured.MissingMasked})
}

func get(s *structured.Tensor, path ...string) tensor.Tensor { return tenon.Must(s.Field(path...)) }

// worth is Σ rate · Σ price · n over the orders, and the bonuses.
func worth(s *structured.Tensor) tensor.Tensor {
	sums := ops.Sum(ops.Mul(get(s, "items", "price"), ops.Cast(get(s, "items", "n"), dtype.Float64)), -1)
	return ops.Add(ops.Sum(ops.Mul(get(s, "rate"), sums)), ops.Sum(get(s, "bonus")))
}

func TestGradients(t *testing.T) {
	s := orders(t)
	y, g := grad.ValueAndGrad(func(s *structured.Tensor, _ int) tensor.Tensor { return worth(s) })(s, 0)
	same(t, "value", tensor.Item[float64](y), 2*7.0+0+3*15+5)
	same(t, "by the rates", tensor.Data[float64](get(g, "rate")), []float64{7, 0, 15})
	same(t, "by the prices", tenon.Must(get(g, "items", "price").(*ragged.Tensor).Nested()), list{list{4.0, 2.0}, list{}, list{9.0}})

	// Through operations that move records.
	moved := grad.Of(func(s *structured.Tensor) tensor.Tensor {
		twice := ops.Concat([]tensor.Tensor{s, ops.Index(s, key.From(1))}, 0)
		return worth(ops.Gather(twice, []int{0, 0, 4}, 0).(*structured.Tensor))
	})(s)
	same(t, "by the rates of moved records", tensor.Data[float64](get(moved, "rate")), []float64{14, 0, 15})
	same(t, "by the prices of moved records", tenon.Must(get(moved, "items", "price").(*ragged.Tensor).Nested()), list{list{8.0, 4.0}, list{}, list{9.0}})

	// Through updates.
	up := grad.Of(func(s *structured.Tensor) tensor.Tensor {
		u := tenon.Must(s.WithUpdates([]structured.Update{{Path: []string{"items", "price"}, Func: func(x tensor.Tensor) (tensor.Tensor, error) { return ops.Square(x), nil }}}))
		return worth(u)
	})(s)
	same(t, "by the prices that are squared", tenon.Must(get(up, "items", "price").(*ragged.Tensor).Nested()), list{list{24.0, 4.0}, list{}, list{90.0}})
}

func TestTracing(t *testing.T) {
	s := orders(t)
	for name, f := range map[string]func(s *structured.Tensor) *structured.Tensor{
		"identity": func(s *structured.Tensor) *structured.Tensor { return s },
		"gather": func(s *structured.Tensor) *structured.Tensor {
			return ops.Gather(s, []int{2, 0}, 0).(*structured.Tensor)
		},
		"slice":   func(s *structured.Tensor) *structured.Tensor { return ops.Index(s, key.From(1)).(*structured.Tensor) },
		"reverse": func(s *structured.Tensor) *structured.Tensor { return ops.Reverse(s, 0).(*structured.Tensor) },
		"concat": func(s *structured.Tensor) *structured.Tensor {
			return ops.Concat([]tensor.Tensor{s, s}, 0).(*structured.Tensor)
		},
		"stack": func(s *structured.Tensor) *structured.Tensor {
			return ops.Stack([]tensor.Tensor{s, s}, 0).(*structured.Tensor)
		},
		"a row": func(s *structured.Tensor) *structured.Tensor { return ops.Index(s, -1).(*structured.Tensor) },
		"some": func(s *structured.Tensor) *structured.Tensor {
			return ops.BooleanMask(s, ops.Greater(get(s, "rate"), 1.0), 0).(*structured.Tensor)
		},
		"expand": func(s *structured.Tensor) *structured.Tensor { return ops.ExpandDims(s, 1).(*structured.Tensor) },
		"sort": func(s *structured.Tensor) *structured.Tensor {
			return tenon.Must(s.Sort(0, structured.By{Path: []string{"rate"}}))
		},
		"unique": func(s *structured.Tensor) *structured.Tensor {
			v, _, _, _ := ops.Unique(ops.Concat([]tensor.Tensor{s, s}, 0))
			return v.(*structured.Tensor)
		},
		"pad": func(s *structured.Tensor) *structured.Tensor {
			return ops.Pad(s, [][]int{{1, 0}}, ops.PadOptions{}).(*structured.Tensor)
		},
		"updates": func(s *structured.Tensor) *structured.Tensor {
			return tenon.Must(s.WithUpdates([]structured.Update{
				{Path: []string{"items", "cost"}, Value: ops.Mul(get(s, "items", "price"), 2.0)}, {Path: []string{"id"}},
			}))
		},
		"merged": func(s *structured.Tensor) *structured.Tensor {
			return tenon.Must(get(s, "items").(*structured.Tensor).MergeDims(0, 1))
		},
		"promoted": func(s *structured.Tensor) *structured.Tensor {
			return tenon.Must(s.Promote([]string{"items", "price"}, "prices"))
		},
		"tile": func(s *structured.Tensor) *structured.Tensor { return ops.Tile(s, []int{2}).(*structured.Tensor) },
		"where": func(s *structured.Tensor) *structured.Tensor {
			return ops.Where(ops.Greater(get(s, "rate"), 1.0), s, ops.Reverse(s, 0)).(*structured.Tensor)
		},
	} {
		want := plain(t, f(s))
		traced := function.New(f)
		got, err := tenon.Try(func() any { return plain(t, traced.Call(s)) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name, got, want)
		// The same trace serves other sizes.
		other := ops.Concat([]tensor.Tensor{s, s}, 0).(*structured.Tensor)
		open, err := tenon.Try(func() any {
			spec := tenon.Must(tenon.Must(s.Spec().(tenon.Batcher).Unbatched()).(tenon.Batcher).Batched(-1))
			if !tenon.Belongs(other, spec) {
				t.Errorf("%v does not belong to %v", other.Spec(), spec)
			}
			return plain(t, traced.Call(other))
		})
		if err != nil {
			t.Errorf("%s of twice as many: %v", name, err)
			continue
		}
		same(t, name+" of twice as many", open, plain(t, f(other)))
	}
}

func TestValidationInATrace(t *testing.T) {
	make := func(validate bool, rank int) func(a, b tensor.Tensor) *structured.Tensor {
		return func(a, b tensor.Tensor) *structured.Tensor {
			return tenon.Must(structured.FromFields([]structured.Field{{Name: "a", Value: a}, {Name: "b", Value: b}}, shape.OfRank(rank), structured.Options{Validate: validate}))
		}
	}
	vector := tensor.NewSpec(dtype.Int64, shape.Of(shape.Unknown))
	lists := tenon.Must(ragged.NewSpec(dtype.Int64, shape.Of(shape.Unknown, shape.Unknown), 1, dtype.Int64))
	three, two := tensor.Of([]int64{1, 2, 3}), tensor.Of([]int64{1, 2})
	rows3, rows2 := ragged.FromSlices([][]int64{{1}, {2}, {3, 4}}), ragged.FromSlices([][]int64{{1}, {2}})
	other := ragged.FromSlices([][]int64{{1}, {2, 3}, {4}})
	for _, c := range []struct {
		name       string
		a, b       tenon.Spec
		rank       int
		good, also tensor.Tensor
		bad        tensor.Tensor
	}{
		{"vectors", vector, vector, 1, three, three, two},
		{"a vector and lists", vector, lists, 1, three, rows3, rows2},
		{"lists and a vector", lists, vector, 1, rows3, three, two},
		{"rows", lists, lists, 2, rows3, rows3, other},
	} {
		f := function.New(make(true, c.rank), function.Options{Signature: []any{c.a, c.b}})
		if got, err := tenon.Try(func() *structured.Tensor { return f.Call(c.good, c.also) }); err != nil || get(got, "a").Shape().Rank() == 0 {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if _, err := tenon.Try(func() *structured.Tensor { return f.Call(c.good, c.bad) }); err == nil {
			t.Errorf("%s that differ: got no error", c.name)
		}
		if _, err := tenon.Try(func() *structured.Tensor { return make(false, c.rank)(c.good, c.bad) }); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s that differ, not traced: got %v", c.name, err)
		}
	}
	for _, n := range []any{-1, 1.5, []int{1}, "x"} {
		if _, err := structured.FromFields(nil, shape.OfRank(1), structured.Options{NRows: n}); err == nil {
			t.Errorf("%v rows: got no error", n)
		}
	}
}

func TestEqualInATrace(t *testing.T) {
	s := orders(t)
	f := function.New(func(a, b *structured.Tensor) tensor.Tensor { return ops.Equal(a, b) })
	same(t, "equal", tensor.Data[bool](f.Call(s, ops.Gather(s, []int{0, 2, 2}, 0).(*structured.Tensor))), []bool{true, false, true})
}

func TestControl(t *testing.T) {
	s := orders(t)
	flat := tenon.Must(s.WithUpdates([]structured.Update{{Path: []string{"items"}}, {Path: []string{"prices"}, Value: get(s, "items", "price")}}))
	calls := 0
	y := control.Map(func(r *structured.Tensor) tensor.Tensor {
		calls++
		return ops.Add(get(r, "rate"), ops.Sum(get(r, "prices")))
	}, flat)
	same(t, "map", tensor.Data[float64](y), []float64{6, 0.5, 8})
	same(t, "calls for all rows", calls, 1)
	same(t, "records of records", plain(t, control.Map(func(r *structured.Tensor) *structured.Tensor {
		return tenon.Must(r.WithUpdates([]structured.Update{{Path: []string{"sum"}, Value: ops.Sum(get(r, "prices"))}, {Path: []string{"prices"}}}))
	}, flat)), list{
		rec{"id": int64(1), "rate": 2.0, "bonus": nil, "sum": 4.0}, rec{"id": int64(2), "rate": 0.5, "bonus": 4.0, "sum": 0.0},
		rec{"id": int64(3), "rate": 3.0, "bonus": 1.0, "sum": 5.0},
	})
	// Lists of records run row by row.
	same(t, "map of lists", tensor.Data[float64](control.Map(func(r *structured.Tensor) tensor.Tensor { return ops.Sum(get(r, "items", "price")) }, s)), []float64{4, 0, 5})

	count := 0
	last := control.While(func(v *structured.Tensor) tensor.Tensor { return ops.Less(ops.Max(get(v, "rate")), 20.0) },
		func(v *structured.Tensor) *structured.Tensor {
			count++
			return tenon.Must(v.WithUpdates([]structured.Update{{Path: []string{"rate"}, Value: ops.Mul(get(v, "rate"), 2.0)}}))
		}, s)
	same(t, "while", tensor.Data[float64](get(last, "rate")), []float64{16, 4, 24})
	picked := control.Cond(ops.Greater(ops.Sum(get(s, "rate")), 1.0), func() *structured.Tensor { return s }, func() *structured.Tensor { return s })
	same(t, "cond", plain(t, picked), plain(t, s))
}

func TestNest(t *testing.T) {
	s := orders(t)
	leaves := tenon.Must(nest.Flatten(map[string]any{"s": s}, nest.Options{Expand: true}))
	back := tenon.Must(nest.Pack(map[string]any{"s": s}, leaves, nest.Options{Expand: true}))
	if !back["s"].(*structured.Tensor).Equal(s) {
		t.Errorf("got %v", back)
	}
	paths, _, err := nest.FlattenWithPaths(s, nest.Options{Expand: true})
	if err != nil || len(paths) < 5 {
		t.Errorf("got %v, %v", paths, err)
	}
}

func TestUpdatesShareWhatTheyDoNotTouch(t *testing.T) {
	s := orders(t)
	u := tenon.Must(s.WithUpdates([]structured.Update{{Path: []string{"items", "n"}, Value: get(s, "items", "n")}, {Path: []string{"id"}}}))
	if get(u, "rate") != get(s, "rate") {
		t.Error("the field rate was copied")
	}
	a, b := get(u, "items", "price").(*ragged.Tensor), get(s, "items", "price").(*ragged.Tensor)
	if a.FlatValues() != b.FlatValues() || a.Partition() != b.Partition() {
		t.Error("the field items.price was copied")
	}
	up := tenon.Must(s.Promote([]string{"items", "price"}, "prices"))
	if get(up, "prices").(*ragged.Tensor).FlatValues() != b.FlatValues() {
		t.Error("the promoted field was copied")
	}
}

func BenchmarkWithUpdates(b *testing.B) {
	n := 1 << 20
	fields := make([]structured.Field, 20)
	for i := range fields {
		fields[i] = structured.Field{Name: string(rune('a' + i)), Value: tensor.Of(make([]float64, n))}
	}
	s := tenon.Must(structured.FromFieldsAndRank(fields, 1, structured.Options{}))
	v := tensor.Of(make([]float64, n))
	for b.Loop() {
		if _, err := s.WithUpdates([]structured.Update{{Path: []string{"c"}, Value: v}}); err != nil {
			b.Fatal(err)
		}
	}
}
