package structured_test

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// drawn makes nested data of a random type: what draws one value of it.
func drawn(t *rapid.T, depth int) func(t *rapid.T) any {
	kinds := 4
	if depth < 3 {
		kinds = 7
	}
	var own func(t *rapid.T) any
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		own = func(t *rapid.T) any { return rapid.IntRange(-3, 3).Draw(t, "int") }
	case 1:
		own = func(t *rapid.T) any { return float64(rapid.IntRange(-3, 3).Draw(t, "half")) / 2 }
	case 2:
		own = func(t *rapid.T) any { return rapid.SampledFrom([]string{"", "a", "bc", "é"}).Draw(t, "text") }
	case 3:
		own = func(t *rapid.T) any { return rapid.Bool().Draw(t, "bool") }
	case 4:
		elem := drawn(t, depth+1)
		own = func(t *rapid.T) any {
			l := make(list, rapid.IntRange(0, 3).Draw(t, "length"))
			for i := range l {
				l[i] = elem(t)
			}
			return l
		}
	case 5:
		own = drawnRecord(t, depth+1)
	case 6: // two kinds in one place
		number, text := rapid.IntRange(0, 9), rapid.StringMatching("[ab]?")
		own = func(t *rapid.T) any {
			if rapid.Bool().Draw(t, "which") {
				return number.Draw(t, "number")
			}
			return text.Draw(t, "words")
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "optional") > 0 {
		return own
	}
	return func(t *rapid.T) any {
		if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			return nil
		}
		return own(t)
	}
}

func drawnRecord(t *rapid.T, depth int) func(t *rapid.T) any {
	fields := map[string]func(t *rapid.T) any{}
	for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
		fields[string(rune('a'+i))] = drawn(t, depth)
	}
	return func(t *rapid.T) any {
		r := rec{}
		for i := range len(fields) {
			name := string(rune('a' + i))
			if rapid.IntRange(0, 7).Draw(t, "absent") > 0 {
				r[name] = fields[name](t)
			}
		}
		return r
	}
}

// completed returns the values of a column as ToNested writes them: with the types of
// columns, and nil for the fields that records lack.
func completed(values []any) []any {
	out := make([]any, len(values))
	names, floats := map[string]bool{}, false
	var below []any
	for _, x := range values {
		switch x := x.(type) {
		case rec:
			for name := range x {
				names[name] = true
			}
		case list:
			below = append(below, x...)
		case float64:
			floats = true
		}
	}
	below = completedBelow(below)
	at := 0
	fields := map[string][]any{}
	for name := range names {
		column := make([]any, len(values))
		for i, x := range values {
			if r, ok := x.(rec); ok {
				column[i] = r[name]
			}
		}
		fields[name] = completed(column)
	}
	for i, x := range values {
		switch x := x.(type) {
		case int:
			if out[i] = int64(x); floats {
				out[i] = float64(x)
			}
		case rec:
			r := rec{}
			for name := range names {
				r[name] = fields[name][i]
			}
			out[i] = r
		case list:
			out[i] = list(below[at : at+len(x) : at+len(x)])
			at += len(x)
		default:
			out[i] = x
		}
	}
	return out
}

func completedBelow(values []any) []any {
	if len(values) == 0 {
		return nil
	}
	return completed(values)
}

// equalPlain compares nested data; an empty list is equal to one that is nil.
func equalPlain(a, b any) bool {
	x, ok := a.(list)
	y, ok2 := b.(list)
	if ok && ok2 {
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equalPlain(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	r, ok := a.(rec)
	q, ok2 := b.(rec)
	if ok && ok2 {
		if len(r) != len(q) {
			return false
		}
		for name := range r {
			if _, ok := q[name]; !ok || !equalPlain(r[name], q[name]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func TestRandomRecordsAgreeWithLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := drawnRecord(t, 0)
		data := make(list, rapid.IntRange(1, 5).Draw(t, "records"))
		for i := range data {
			data[i] = record(t)
		}
		v, err := structured.FromNested(data, structured.NestedOptions{Missing: structured.MissingMasked, Unions: true, Dictionaries: rapid.Bool().Draw(t, "dictionaries")})
		if err != nil {
			t.Fatal(err)
		}
		s := v.(*structured.Tensor)
		rows := completed(data)
		agree := func(what string, v tensor.Tensor, want any) {
			t.Helper()
			x, err := v.(*structured.Tensor).ToNested()
			if err != nil || !equalPlain(x, want) {
				t.Fatalf("%s: got %v, %v, want %v", what, x, err, want)
			}
		}
		agree("itself", s, list(rows))
		n := len(rows)
		index := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 6).Draw(t, "index")
		var some, back, twice list
		for _, i := range index {
			some = append(some, rows[i])
		}
		for i := range rows {
			back = append(back, rows[n-1-i])
		}
		twice = append(append(twice, rows...), rows...)
		agree("gather", ops.Gather(s, tensor.Of(index), 0), some)
		agree("reverse", ops.Reverse(s, 0), back)
		agree("concat", ops.Concat([]tensor.Tensor{s, s}, 0), twice)
		agree("stack", ops.Stack([]tensor.Tensor{s, ops.Reverse(s, 0)}, 0), list{list(rows), back})
		agree("expand", ops.ExpandDims(s, -1), apart(rows))
		if len(index) > 0 {
			single := make([]tensor.Tensor, len(index))
			for i, k := range index {
				single[i] = s.At(k)
			}
			agree("single rows", ops.Stack(single, 0), some)
		}
		a := ops.Gather(ops.Reverse(ops.Gather(s, index, 0), 0), permuted(len(index)), 0).(*structured.Tensor)
		b := ops.Gather(s, index, 0).(*structured.Tensor).Compact()
		b = ops.Gather(ops.Reverse(b, 0).(*structured.Tensor).Compact(), permuted(len(index)), 0).(*structured.Tensor).Compact()
		if !tenon.Equal(a.Spec(), b.Spec()) {
			t.Fatalf("what waits is %v, want %v", a.Spec(), b.Spec())
		}
		agree("what waits", a, tenon.Must(b.ToNested()))
		agree("a row", s.At(index1(index)), rows[index1(index)])
		agree("rows", s.At(key.From(n/2)), list(rows[n/2:]))
		agree("padded and cut", ops.Index(ops.Pad(s, [][]int{{2, 1}}, ops.PadOptions{}), key.Range(2, n+2, nil)), list(rows))

		traced := function.New(func(s *structured.Tensor) *structured.Tensor {
			return ops.Concat([]tensor.Tensor{ops.Reverse(s, 0), ops.Index(s, key.From(-1)), s}, 0).(*structured.Tensor)
		})
		agree("traced", traced.Call(s), append(append(append(list{}, back...), rows[n-1]), rows...))

		// Records that print alike are those that are equal.
		_, inverse, _, _ := ops.Unique(s)
		first := map[string]int64{}
		for i, id := range tensor.Data[int64](inverse) {
			text := fmt.Sprintf("%#v", rows[i])
			if _, ok := first[text]; !ok {
				first[text] = int64(len(first))
			}
			if id != first[text] {
				t.Fatalf("unique: record %d, %s, has the number %d, want %d", i, text, id, first[text])
			}
		}
		other := ops.Gather(s, rotated(n), 0)
		for i, same := range tensor.Data[bool](ops.Equal(s, other)) {
			if want := equalPlain(rows[i], rows[(i+1)%n]); same != want {
				t.Fatalf("equal: %v and %v: got %v", rows[i], rows[(i+1)%n], same)
			}
		}
		spec := s.Spec()
		parts, err := spec.Disassemble(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := spec.Assemble(parts)
		if err != nil || !again.(*structured.Tensor).Equal(s) {
			t.Fatalf("assembled again: %v, %v", again, err)
		}
		decoded, err := tenon.Decode(spec.TypeName(), spec.Encode())
		if err != nil || !tenon.Equal(decoded, spec) {
			t.Fatalf("decoded: %v, %v", decoded, err)
		}
		_ = s.String()
	})
}

func index1(index []int) int {
	if len(index) == 0 {
		return 0
	}
	return index[0]
}

func rotated(n int) tensor.Tensor {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64((i + 1) % n)
	}
	return tensor.Of(out)
}

// permuted is an index that takes the odd entries and then all others.
func permuted(n int) tensor.Tensor {
	var odd, even []int64
	for i := range int64(n) {
		if i%2 == 1 {
			odd = append(odd, i)
		} else {
			even = append(even, i)
		}
	}
	return tensor.Vector(append(odd, even...))
}

func apart(rows []any) list {
	out := make(list, len(rows))
	for i, r := range rows {
		out[i] = list{r}
	}
	return out
}
