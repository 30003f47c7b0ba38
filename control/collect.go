package control

import (
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// collected assembles the rows that the iterations of a scan return. They are copied to their places at
// once, while they are in the cache.
type collected struct {
	n     int           // number of rows
	row   shape.Shape   // of one of them
	out   *tensor.Dense // nil before the first, and if they are strings
	parts []any         // rows of strings
	order []int64       // their places
}

// collecting returns what assembles n rows of each of some results.
func collecting(results, n int) []collected {
	out := make([]collected, results)
	for i := range out {
		out[i].n = n
	}
	return out
}

// add adds rows with their places.
func (c *collected) add(y tensor.Tensor, at ...int64) {
	d, ok := y.(*tensor.Dense)
	if !ok {
		c.parts, c.order = append(c.parts, y), append(c.order, at...)
		return
	}
	row := d.Shape().Remove(0)
	switch {
	case c.out == nil:
		c.row = row
		c.out = tensor.Uninit(d.DType(), row.Insert(0, c.n))
	case !row.Equal(c.row):
		ops.Concat([]any{part(c.out, 0, 0), d}, 0) // fails
	}
	from, to := tensor.Contiguous(d).Bytes(), c.out.Bytes()
	size := row.Size() * d.DType().Size()
	for i, k := range at {
		copy(to[int(k)*size:][:size], from[i*size:])
	}
}

// rows returns all rows.
func (c *collected) rows() tensor.Tensor {
	if c.out != nil {
		return c.out
	}
	return ops.Gather(ops.Concat(c.parts, 0), inverse(c.order), 0)
}
