package structured_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
	"pgregory.net/rapid"
)

// A thing is a record for conditions that are evaluated with loops: -1 is missing.
type thing struct {
	a, b  int64
	parts []part
}

type part struct{ x, y int64 }

func drawThings(t *rapid.T) []thing {
	small := rapid.Int64Range(-1, 3)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) thing {
		return thing{max(0, small.Draw(t, "a")), small.Draw(t, "b"), rapid.SliceOfN(rapid.Custom(func(t *rapid.T) part {
			return part{max(0, small.Draw(t, "x")), small.Draw(t, "y")}
		}), 0, 3).Draw(t, "parts")}
	}), 0, 8).Draw(t, "things")
}

// thingsTable returns the records as columns: b and parts.y are optional.
func thingsTable(list []thing) *structured.Tensor {
	var a, b, x, y []int64
	var hasB, hasY []bool
	lengths := []int64{}
	for _, r := range list {
		a, b, hasB = append(a, r.a), append(b, r.b), append(hasB, r.b >= 0)
		lengths = append(lengths, int64(len(r.parts)))
		for _, p := range r.parts {
			x, y, hasY = append(x, p.x), append(y, p.y), append(hasY, p.y >= 0)
		}
	}
	of := func(v []int64) tensor.Tensor { return tensor.Of(append([]int64{}, v...), len(v)) }
	optional := func(v []int64, has []bool) tensor.Tensor {
		return tenon.Must(masked.New(of(v), tensor.Of(append([]bool{}, has...), len(has))))
	}
	p := tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
	parts := tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: "x", Value: of(x)}, {Name: "y", Value: optional(y, hasY)}}, 1, structured.Options{}))
	return tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: "a", Value: of(a)}, {Name: "b", Value: optional(b, hasB)},
		{Name: "parts", Value: tenon.Must(parts.PartitionOuterDimension(p))}}, 1, structured.Options{}))
}

// A value is -1 where it is missing, as in thing.
type (
	cond     func(r thing) bool
	partCond func(p part) bool
	value    func(r thing) int64
)

var comparisons = map[string]func(x, y int64) bool{
	"==": func(x, y int64) bool { return x == y },
	"!=": func(x, y int64) bool { return x != y },
	"<":  func(x, y int64) bool { return x >= 0 && y >= 0 && x < y },
	">":  func(x, y int64) bool { return x >= 0 && y >= 0 && x > y },
	"<=": func(x, y int64) bool { return x == y || x >= 0 && y >= 0 && x < y },
	">=": func(x, y int64) bool { return x == y || x >= 0 && y >= 0 && x > y },
}

func drawOp(t *rapid.T) (string, func(x, y int64) bool) {
	op := rapid.SampledFrom([]string{"==", "!=", "<", ">", "<=", ">="}).Draw(t, "op")
	return op, comparisons[op]
}

func drawPartCond(t *rapid.T, path string) (string, partCond) {
	op, f := drawOp(t)
	k := rapid.Int64Range(0, 3).Draw(t, "k")
	switch rapid.IntRange(0, 4).Draw(t, "part") {
	case 0:
		return fmt.Sprintf("%s.x %s %d", path, op, k), func(p part) bool { return f(p.x, k) }
	case 1:
		return fmt.Sprintf("%s.y %s %d", path, op, k), func(p part) bool { return f(p.y, k) }
	case 2:
		return fmt.Sprintf("%s.x %s %s.y", path, op, path), func(p part) bool { return f(p.x, p.y) }
	case 3:
		return fmt.Sprintf("%s.y %s null", path, op), func(p part) bool { return f(p.y, -1) }
	}
	a, fa := drawPartCond(t, path)
	b, fb := drawPartCond(t, path)
	if rapid.Bool().Draw(t, "and") {
		return fmt.Sprintf("(%s && !(%s))", a, b), func(p part) bool { return fa(p) && !fb(p) }
	}
	return fmt.Sprintf("(%s || %s)", a, b), func(p part) bool { return fa(p) || fb(p) }
}

func drawValue(t *rapid.T) (string, value) {
	nth := func(i int, f func(p part) int64) value {
		return func(r thing) int64 {
			if k := i; k >= -len(r.parts) && k < len(r.parts) {
				return f(r.parts[(k+len(r.parts))%len(r.parts)])
			}
			return -1
		}
	}
	i := rapid.IntRange(-2, 2).Draw(t, "i")
	switch rapid.IntRange(0, 6).Draw(t, "value") {
	case 0:
		return "@.a", func(r thing) int64 { return r.a }
	case 1:
		return "@.b", func(r thing) int64 { return r.b }
	case 2:
		return fmt.Sprintf("@.parts[%d].x", i), nth(i, func(p part) int64 { return p.x })
	case 3:
		return fmt.Sprintf("@.parts[%d].y", i), nth(i, func(p part) int64 { return p.y })
	case 4:
		return "length(@.parts)", func(r thing) int64 { return int64(len(r.parts)) }
	case 5:
		text, f := drawPartCond(t, "@")
		return "count(@.parts[?" + text + "])", func(r thing) int64 {
			n := int64(0)
			for _, p := range r.parts {
				if f(p) {
					n++
				}
			}
			return n
		}
	}
	k := rapid.Int64Range(0, 3).Draw(t, "k")
	return fmt.Sprint(k), func(thing) int64 { return k }
}

func drawCond(t *rapid.T, depth int) (string, cond) {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds).Draw(t, "cond") {
	case 0:
		x, fx := drawValue(t)
		op, f := drawOp(t)
		for x[0] != '@' && x[0] != 'c' && x[0] != 'l' {
			x, fx = drawValue(t)
		}
		y, fy := drawValue(t)
		return x + " " + op + " " + y, func(r thing) bool { return f(fx(r), fy(r)) }
	case 1:
		text, f := drawPartCond(t, "@.parts")
		return "any(" + text + ")", func(r thing) bool { return slices.ContainsFunc(r.parts, f) }
	case 2:
		text, f := drawPartCond(t, "@.parts")
		return "all(" + text + ")", func(r thing) bool { return !slices.ContainsFunc(r.parts, func(p part) bool { return !f(p) }) }
	case 3:
		text, f := drawPartCond(t, "@")
		return "@.parts[?" + text + "]", func(r thing) bool { return slices.ContainsFunc(r.parts, f) }
	case 4:
		return "@.b", func(r thing) bool { return r.b >= 0 }
	case 5:
		op, f := drawOp(t)
		return "any(@.parts.x " + op + " @.a)", func(r thing) bool {
			return slices.ContainsFunc(r.parts, func(p part) bool { return f(p.x, r.a) })
		}
	}
	a, fa := drawCond(t, depth-1)
	b, fb := drawCond(t, depth-1)
	if rapid.Bool().Draw(t, "and") {
		return "(" + a + ") && !(" + b + ")", func(r thing) bool { return fa(r) && !fb(r) }
	}
	return a + " || " + b, func(r thing) bool { return fa(r) || fb(r) }
}

func TestConditionsAgainstLoops(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		things := drawThings(rt)
		text, f := drawCond(rt, 2)
		want := ""
		for i, r := range things {
			if f(r) {
				want += fmt.Sprint(i, " ")
			}
		}
		ids := make([]int64, len(things))
		for i := range ids {
			ids[i] = int64(i)
		}
		s := thingsTable(things).With("id", tensor.Of(ids, len(ids)))
		run := func(s *structured.Tensor) tensor.Tensor { return s.Filter(text).Path("id") }
		for how, run := range map[string]func(*structured.Tensor) tensor.Tensor{"eager": run, "traced": function.New(run).Call} {
			v, err := tenon.Try(func() tensor.Tensor { return run(s) })
			if err != nil {
				rt.Fatalf("%s, %s: %v", how, text, err)
			}
			got := ""
			for _, id := range tensor.Data[int64](v) {
				got += fmt.Sprint(id, " ")
			}
			if got != want {
				rt.Fatalf("%s, %s of %v: got %s, want %s", how, text, things, got, want)
			}
		}
	})
}
