package spectest

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// batch checks that a batch axis can be added and removed, if the type supports it.
func (c *checker) batch(s tenon.Spec) {
	b, ok := s.(tenon.Batcher)
	if !ok {
		return
	}
	if row, err := b.Unbatched(); err != nil {
		c.refused("unbatch", "the Spec", err)
	} else {
		c.readBack(row)
	}
	open, err := b.Batched(shape.Unknown)
	if err != nil {
		c.refused("batch", "an unknown number", err)
		return
	}
	for _, n := range []int{0, 3} {
		known, err := b.Batched(n)
		if err != nil {
			c.broken("batch", "of %d: %v", n, err)
			return
		}
		if !tenon.Subtype(known, open) {
			c.broken("batch", "of %d, %s, is not a subtype of that of an unknown number, %s", n, tenon.Text(known), tenon.Text(open))
		}
		c.readBack(known)
		again, ok := known.(tenon.Batcher)
		if !ok {
			c.broken("batch", "of %d is a %T, which cannot be unbatched", n, known)
			return
		}
		row, err := again.Unbatched()
		if err != nil || !tenon.Subtype(row, s) || !tenon.Subtype(s, row) {
			c.broken("batch", "without its axis the batch of %d is %s, %v", n, tenon.String(row), err)
		}
	}
}

// box checks that a value can be encoded as tensors, if the type supports it.
func (c *checker) box(v tenon.Value, s tenon.Spec) {
	b, ok := s.(tenon.Boxer)
	if !ok {
		return
	}
	boxed, err := b.Box(v, 0)
	if err != nil {
		c.refused("box", "the value", err)
		return
	}
	back, err := b.Unbox(boxed)
	if err != nil || !sameValue(back, v) {
		c.broken("box", "unboxed it is %v, %v", back, err)
	}
	for rank := range 4 {
		ts, err := b.Box(v, rank)
		if err != nil {
			c.refused("box", "the rank", err)
			break
		}
		if len(ts) != len(boxed) {
			c.broken("box", "for rank %d there are %d tensors, for rank 0 %d", rank, len(ts), len(boxed))
		}
		for i, x := range ts {
			if t, ok := x.(tensor.Tensor); !ok || t.Shape().HasRank() && t.Shape().Rank() < rank {
				c.broken("box", "tensor %d for rank %d is %s", i, rank, tenon.String(x.Spec()))
			}
		}
	}
	if _, err := b.Box(v, shape.MaxRank+1); err == nil {
		c.broken("box", "rank %d is accepted", shape.MaxRank+1)
	}
	_, err = b.Box(stranger(), 0)
	c.refused("box", "a value of another type", err)
	_, err = b.Unbox(append(boxed, boxed...))
	if len(boxed) > 0 {
		c.refused("unbox", "twice as many tensors", err)
		_, err = b.Unbox(boxed[:len(boxed)-1])
		c.refused("unbox", "one tensor less", err)
		bad := append([]tenon.Value(nil), boxed...)
		bad[0] = stranger()
		_, err = b.Unbox(bad)
		c.refused("unbox", "a value of another type", err)
	}
}
