package train

import (
	"fmt"
	"sort"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// divide returns this rank's rows of each Value of a batch that has rows. Numbers and scalars are
// passed to all ranks.
func divide[B any](r *Ranks, batch B) (part B, n int, err error) {
	leaves, n, err := countRows(batch)
	if err != nil {
		return part, 0, err
	}
	cuts, err := r.cuts(leaves, n)
	if err != nil {
		return part, 0, err
	}
	at := r.Mesh.RankAlong(r.axis())
	for i, l := range leaves {
		if v, ok := l.(tenon.Value); ok && !scalar(v) {
			if leaves[i], err = rows.Slice(v, cuts[at], cuts[at+1]); err != nil {
				return part, 0, rows.Named("train.Ranks", err)
			}
		}
	}
	part, err = nest.Pack(batch, leaves, nest.Options{})
	return part, n, err
}

// countRows returns the leaves of a batch, and the number of rows of those that are not numbers or
// scalars.
func countRows(batch any) (leaves []any, n int, err error) {
	paths, leaves, err := nest.FlattenWithPaths(batch, nest.Options{})
	if err != nil {
		return nil, 0, err
	}
	n = -1
	for i, l := range leaves {
		v, ok := l.(tenon.Value)
		if !ok || scalar(v) {
			continue
		}
		m, err := rows.Count(v)
		if err == nil && n >= 0 && m != n {
			err = tenon.NewError(tenon.ErrShape, "", fmt.Sprintf("it has %d rows, but others have %d", m, n))
		}
		if err != nil {
			e := *tenon.AsError(err)
			e.Op, e.Where = "train.Ranks", paths[i].String()
			return nil, 0, &e
		}
		n = m
	}
	if n < 0 {
		return nil, 0, tenon.NewError(tenon.ErrInvalid, "train.Ranks", "nothing in the batch has rows to divide")
	}
	return leaves, n, nil
}

func scalar(v tenon.Value) bool {
	t, ok := v.(tensor.Tensor)
	return ok && t.Shape().HasRank() && t.Shape().Rank() == 0
}

// cuts returns where the rows of each rank begin, and their total number.
func (r *Ranks) cuts(leaves []any, n int) ([]int, error) {
	size := r.Mesh.SizeAlong(r.axis())
	cuts := make([]int, size+1)
	if !r.ByElements {
		for k := range size {
			_, cuts[k+1] = dist.Share(n, size, k)
		}
		return cuts, nil
	}
	var failed error
	upTo := func(k int) int { // elements of the first k rows
		sum := 0
		for _, l := range leaves {
			v, ok := l.(tenon.Value)
			if !ok || scalar(v) {
				continue
			}
			part, err := rows.Slice(v, 0, k)
			if err != nil {
				failed = err
				return 0
			}
			sum += elementsOf(part)
		}
		return sum
	}
	all := upTo(n)
	for k := 1; k < size; k++ {
		want := all * k / size
		c := sort.Search(n, func(i int) bool { return upTo(i) >= want })
		if c > 0 && want-upTo(c-1) < upTo(c)-want { // the nearer of two cuts
			c--
		}
		cuts[k] = max(c, cuts[k-1])
	}
	cuts[size] = n
	return cuts, failed
}

// elementsOf returns the number of elements in the tensors of a Value.
func elementsOf(v tenon.Value) int {
	leaves, err := nest.Flatten(v, nest.Options{Expand: true})
	if err != nil {
		return 0
	}
	n := 0
	for _, l := range leaves {
		if t, ok := l.(tensor.Tensor); ok && t.Shape().IsFull() {
			n += t.Shape().Size()
		}
	}
	return n
}

// weight returns the number of items over which the loss of a rank's rows is a mean.
func (r *Ranks) weight(batch any) tensor.Tensor {
	if r.Weight != nil {
		return ops.Cast(r.Weight(batch), dtype.Float64)
	}
	for _, l := range tenon.Must(nest.Flatten(batch, nest.Options{})) {
		if v, ok := l.(tenon.Value); ok && !scalar(v) {
			return ops.Cast(tenon.Must(rows.CountTensor(v)), dtype.Float64)
		}
	}
	return tensor.Scalar(0.0)
}
