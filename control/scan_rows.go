package control

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/backend"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/tensor"
)

// turns says how a scan runs over rows of different lengths at the same time. The longest rows come
// first, so that the rows with an item left in an iteration are the first ones of the iteration
// before: their carry stays in place, and nothing is computed for rows that have ended.
type turns struct {
	rows  []int64 // sorted by length, the longest first
	items []int64 // those of each iteration, one iteration after the other
	sizes []int   // number of items of each iteration; a single 0 if there are no items
}

func turnsOf(splits []int64, reverse bool) turns {
	t := turns{rows: make([]int64, len(splits)-1), sizes: []int{0}}
	length := func(r int64) int64 { return splits[r+1] - splits[r] }
	for r := range t.rows {
		t.rows[r] = int64(r)
	}
	slices.SortStableFunc(t.rows, func(a, b int64) int { return cmp.Compare(length(b), length(a)) })
	if len(t.rows) == 0 || length(t.rows[0]) == 0 {
		return t
	}
	t.sizes = make([]int, length(t.rows[0]))
	t.items = make([]int64, 0, splits[len(t.rows)])
	live := len(t.rows)
	for k := range t.sizes {
		for length(t.rows[live-1]) <= int64(k) {
			live--
		}
		t.sizes[k] = live
		for _, r := range t.rows[:live] {
			at := splits[r] + int64(k)
			if reverse {
				at = splits[r+1] - 1 - int64(k)
			}
			t.items = append(t.items, at)
		}
	}
	return t
}

// scanRows runs a scan over rows of items.
func scanRows(c *op.Call, program backend.Program) ([]tensor.Tensor, error) {
	nc, nx := c.Int(1), c.Int(2)
	each := nc - c.Int(7)
	inputs := c.Tensors(0)
	splits, err := rows.Entries(c.Tensor(6).(*tensor.Dense))
	if err != nil {
		return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
	}
	for i, x := range inputs[:nc+nx] {
		want := len(splits) - 1
		if i >= nc {
			want = int(splits[want])
		}
		if (i < each || i >= nc) && x.Shape().Dim(0) != want {
			return nil, c.Errorf(tenon.ErrShape, "input %d is %s, where the row splits want %d along its first axis", i, tenon.String(x.Spec()), want)
		}
	}
	t := turnsOf(splits, c.Bool(4))
	carry, xs := slices.Clone(inputs[:nc]), slices.Clone(inputs[nc:nc+nx])
	for i := range each {
		carry[i] = ops.Gather(carry[i], tensor.Of(t.rows), 0)
	}
	for i := range xs {
		if !program.Reads(nc + i) {
			continue
		}
		xs[i] = ops.Gather(xs[i], tensor.Of(t.items), 0)
	}
	captured := captures(c)
	ended, ys := make([][]any, each), []collected(nil) // the rows that end last come first
	from, live := 0, len(t.rows)
	for k, n := range t.sizes {
		args := make([]tenon.Value, 0, len(inputs))
		for i, v := range carry {
			if i < each && n < live {
				ended[i] = append(ended[i], part(v, n, live))
				v = part(v, 0, n)
			}
			args = append(args, v)
		}
		for _, x := range xs {
			args = append(args, part(x, from, from+n))
		}
		out, err := run(c.Context(), program, append(args, captured...))
		if err != nil {
			e := *tenon.AsError(err)
			e.Where = fmt.Sprintf("position %d", k)
			return nil, &e
		}
		if ys == nil {
			ys = collecting(len(out)-nc, len(t.items))
		}
		for i, v := range out {
			switch {
			case i >= each && i < nc:
			case v.Shape().Rank() < 1 || v.Shape().Dim(0) != n:
				return nil, c.Errorf(tenon.ErrShape, "the body returns %s as result %d for items of %d rows", tenon.String(v.Spec()), i, n)
			case i >= nc:
				ys[i-nc].add(v, t.items[from:from+n]...)
			}
		}
		carry = out[:nc]
		from, live = from+n, n
	}
	out := slices.Clone(carry)
	for i := range each {
		pieces := append(ended[i], carry[i])
		slices.Reverse(pieces)
		out[i] = ops.Gather(ops.Concat(pieces, 0), inverse(t.rows), 0)
	}
	for i := range ys {
		out = append(out, ys[i].rows())
	}
	return out, nil
}

// part returns the items from from up to, but not including, to along the first
// axis.
func part(x tensor.Tensor, from, to int) tensor.Tensor {
	if d, ok := x.(*tensor.Dense); ok && d.IsContiguous() {
		s := d.Shape().Remove(0).Insert(0, to-from)
		return d.View(from*s.Remove(0).Size(), s, tensor.RowMajor(s))
	}
	begin, size := make([]int, x.Shape().Rank()), slices.Repeat([]int{-1}, x.Shape().Rank())
	begin[0], size[0] = from, to-from
	return ops.Slice(x, begin, size)
}

// inverse returns the inverse of a permutation.
func inverse(of []int64) tensor.Tensor {
	at := make([]int64, len(of))
	for i, k := range of {
		at[k] = int64(i)
	}
	return tensor.Of(at)
}
