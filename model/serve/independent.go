package serve

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
)

// Independent reports whether a function computes rows independently, judging by made-up rows of the arguments'
// Specs: results for joined rows must be, bit for bit, those for separate rows. It returns false if the function
// rejects such rows. This is only a trial; a proof comes from the statements of the function's operations.
func (f *Func) Independent(ctx context.Context) bool {
	if f.Call == nil || len(f.Args) == 0 || len(f.Results) == 0 {
		return false
	}
	for _, list := range [][]Arg{f.Args, f.Results} {
		for _, a := range list {
			if a.Spec == nil || a.check() != nil || !a.hasRows() {
				return false
			}
		}
	}
	x := newServed(*f)
	if slices.Contains(x.in, nil) || slices.ContainsFunc(x.in, func(l *layout) bool { return l.root.kind != axisNode }) {
		return false
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 27))
		sizes := []int{1, 2 + int(seed), 3}
		if !x.sameApart(ctx, r, sizes) {
			return false
		}
	}
	return true
}

// sameApart compares the results for rows that are joined and apart.
func (f *served) sameApart(ctx context.Context, r *rand.Rand, sizes []int) bool {
	joined := make([][]tenon.Value, len(f.Args))
	answers := make([][]tenon.Value, len(f.Results))
	total := 0
	for _, n := range sizes {
		args, err := f.madeUp(r, n)
		if err != nil {
			return false
		}
		for i, a := range args {
			joined[i] = append(joined[i], a)
		}
		out, err := f.run(ctx, args, n)
		if err != nil {
			return false
		}
		for i, v := range out {
			if f.Results[i].rowsOf(v) != n {
				return false
			}
			answers[i] = append(answers[i], v)
		}
		total += n
	}
	args, err := concat(f.Args, joined)
	if err != nil {
		return false
	}
	got, err := f.run(ctx, args, total)
	if err != nil {
		return false
	}
	want, err := concat(f.Results, answers)
	if err != nil {
		return false
	}
	for i := range want {
		if !sameBits(got[i], want[i]) {
			return false
		}
	}
	return true
}

// concat joins the rows of each list.
func concat(of []Arg, lists [][]tenon.Value) (out []tenon.Value, err error) {
	defer tenon.Catch(&err)
	for i, l := range lists {
		v, err := of[i].join(l)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// sameBits reports whether two Values have the same columns.
func sameBits(a, b tenon.Value) bool {
	x, err := taken("x", a)
	if err != nil {
		return false
	}
	y, err := taken("x", b)
	if err != nil || len(x) != len(y) {
		return false
	}
	for name, t := range x {
		u := y[name]
		if u == nil || u.DType() != t.DType() || !u.Shape().Equal(t.Shape()) || !bytes.Equal(rawOf(t), rawOf(u)) {
			return false
		}
	}
	return true
}

// madeUp returns arguments with n rows.
func (f *served) madeUp(r *rand.Rand, n int) ([]tenon.Value, error) {
	args := make([]tenon.Value, len(f.Args))
	for i, l := range f.in {
		const most = 1 << 20
		var err error
		if args[i], err = nestedValue(l, l.root.rowsMadeUp(r, f.Args[i].Axis, n), natural, most); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// warm runs a function once with made-up arguments, whether or not it accepts them.
func (f *served) warm(ctx context.Context) {
	args, err := f.madeUp(rand.New(rand.NewPCG(1, 27)), 2)
	if err == nil {
		f.run(ctx, args, 2)
	}
}

// textMadeUp returns the text of a random element of a type.
func textMadeUp(t element.Type, r *rand.Rand) string {
	n := r.Int64N(1 << 20)
	switch t.Kind {
	case element.Decimal:
		if text := strconv.Itoa(int(n % 10)); t.Fits(text) {
			return text
		}
		return "0"
	case element.Date:
		return time.Unix(n*int64(day/time.Second), 0).UTC().Format(time.DateOnly)
	case element.Timestamp:
		if text := time.Unix(n, 0).UTC().Format(time.RFC3339); t.Fits(text) {
			return text
		}
		return time.Unix(n, 0).UTC().Format("2006-01-02T15:04:05")
	case element.Time:
		return time.Unix(n, 0).UTC().Format(time.TimeOnly)
	case element.Duration:
		return "PT" + strconv.Itoa(int(n)) + "S"
	case element.UUID:
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	}
	data := make([]byte, 8+t.Width)
	binary.BigEndian.PutUint64(data, uint64(n))
	return base64.StdEncoding.EncodeToString(data[:t.Width])
}

const day = 24 * time.Hour

// rowsMadeUp returns random data for a node, with a number of rows along one of its axes if that is of any
// size.
func (n *node) rowsMadeUp(r *rand.Rand, axis, rows int) any {
	if n.kind != axisNode {
		return n.madeUp(r)
	}
	size := n.sizeMadeUp(r)
	if axis == 0 && n.size < 0 {
		size = rows
	}
	list := make([]any, size)
	for i := range list {
		if axis > 0 {
			list[i] = n.child.rowsMadeUp(r, axis-1, rows)
		} else {
			list[i] = n.child.madeUp(r)
		}
	}
	return listOf(list)
}

// sizeMadeUp returns the size of an axis. Axes of any size that are not ragged have the same size everywhere.
func (n *node) sizeMadeUp(r *rand.Rand) int {
	const free, longest = 3, 5
	switch {
	case n.column != nil:
		return r.IntN(longest)
	case n.size >= 0:
		return n.size
	}
	return free
}

// madeUp returns random data for a node.
func (n *node) madeUp(r *rand.Rand) any {
	switch n.kind {
	case axisNode:
		list := make([]any, n.sizeMadeUp(r))
		for i := range list {
			list[i] = n.child.madeUp(r)
		}
		return listOf(list)
	case optionalNode:
		if r.IntN(3) == 0 {
			return nil
		}
		return n.child.madeUp(r)
	case recordNode:
		o := &object{}
		switch n.form {
		case variantForm:
			k := 1 + r.IntN(len(n.fields)-1)
			return &object{names: []string{n.names[k]}, values: []any{n.fields[k].madeUp(r)}}
		case mapForm:
			for i := range r.IntN(3) {
				o.names, o.values = append(o.names, "key"+strconv.Itoa(i)), append(o.values, n.fields[0].within().fields[1].madeUp(r))
			}
			return o
		}
		for i, f := range n.fields {
			o.names, o.values = append(o.names, n.names[i]), append(o.values, f.madeUp(r))
		}
		return o
	}
	switch dt := n.column.dt; {
	case n.means != nil:
		return textMadeUp(*n.means, r)
	case dt == dtype.Bool:
		return r.IntN(2) == 0
	case dt == dtype.String:
		return "word" + strconv.Itoa(r.IntN(4))
	case dt.IsFloat():
		return number(strconv.FormatFloat(r.NormFloat64(), 'g', 6, 64))
	}
	return number(strconv.Itoa(r.IntN(3)))
}
