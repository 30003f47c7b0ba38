package control_test

import (
	"testing"

	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// program is a function of a vector made of bytes: steps, branches and loops, nested.
type program struct {
	code []byte
	left int // steps, so that programs stay small
}

func (p *program) next() int {
	if len(p.code) == 0 || p.left == 0 {
		return 0
	}
	b := p.code[0]
	p.code, p.left = p.code[1:], p.left-1
	return int(b)
}

// block is a sequence of steps, up to the byte 0 or the end, as a function.
func (p *program) block(depth int) func(x T) T {
	var steps []func(x T) T
	for {
		b := p.next()
		if b == 0 {
			break
		}
		steps = append(steps, p.step(b, depth))
	}
	return func(x T) T {
		for _, f := range steps {
			x = f(x)
		}
		return x
	}
}

func (p *program) step(b, depth int) func(x T) T {
	k := float64(b / 16)
	if depth < 3 {
		switch b % 16 {
		case 1:
			then, otherwise := p.block(depth+1), p.block(depth+1)
			return func(x T) T {
				return control.Cond(ops.Greater(ops.Sum(x), k-8), func() T { return then(x) }, func() T { return otherwise(x) })
			}
		case 2:
			body, turns := p.block(depth+1), b/16%5
			type state struct{ I, X T }
			return func(x T) T {
				return control.While(func(s state) T { return ops.Less(s.I, int64(turns)) },
					func(s state) state { return state{ops.Add(s.I, int64(1)), body(s.X)} }, state{tensor.Scalar(int64(0)), x}).X
			}
		case 3:
			body := p.block(depth + 1)
			return func(x T) T {
				last, all := control.Scan(func(c, y T) (T, T) {
					c = body(ops.Add(c, y))
					return c, ops.Mul(c, 0.5)
				}, ops.ZerosLike(x), x)
				return ops.Add(ops.Tanh(last), ops.Sum(all, 0))
			}
		case 4:
			a, c, d := p.block(depth+1), p.block(depth+1), p.block(depth+1)
			return func(x T) T {
				at := ops.Cast(ops.Clip(ops.Floor(ops.Sum(x)), 0.0, 2.0), dtype.Int64)
				return control.Switch(at, func() T { return a(x) }, func() T { return c(x) }, func() T { return d(x) })
			}
		}
	}
	switch b % 4 {
	case 0:
		return func(x T) T { return ops.Tanh(ops.Add(x, k/4-2)) }
	case 1:
		return func(x T) T { return ops.Mul(x, ops.Sigmoid(x)) }
	case 2:
		return func(x T) T { return ops.Reverse(ops.Minimum(x, k), 0) }
	}
	return func(x T) T { return ops.Sub(x, ops.MeanKeep(x, 0)) }
}

// FuzzPrograms compares programs of branches and loops eager, traced, and traced, written
// and read again.
func FuzzPrograms(f *testing.F) {
	f.Add([]byte{0x42, 0x10, 0, 0x31, 0x11, 0, 0x22, 0})
	f.Add([]byte{0x33, 0x41, 0x12, 0, 0x20, 0, 0, 0x51})
	f.Add([]byte{0x74, 0x10, 0, 0x11, 0, 0x12, 0, 0x62, 0x33, 0x11, 0, 0})
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) > 48 {
			return
		}
		run := (&program{code: code, left: 24}).block(0)
		x := vec(0.5, -1, 2)
		want := run(x)
		traced := function.New(run)
		if err := tensor.AllClose(traced.Call(x), want, tensor.CloseOptions{RTol: 1e-9, ATol: 1e-12}); err != nil {
			t.Fatalf("traced: %v", err)
		}
		g, err := traced.Trace(x)
		if err != nil {
			t.Fatal(err)
		}
		b, err := g.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		h, err := graph.ReadBinary(b)
		if err != nil || h.String() != g.String() {
			t.Fatalf("read back as\n%v, %v\nnot\n%v", h, err, g)
		}
	})
}

// FuzzReadLoops reads graphs with loops from bytes: what is read is sound, and is read again.
func FuzzReadLoops(f *testing.F) {
	for _, code := range [][]byte{{0x42, 0x10, 0}, {0x33, 0x11, 0}, {0x31, 0x10, 0, 0x11, 0}} {
		g, err := function.New((&program{code: code, left: 24}).block(0)).Trace(vec(1, 2))
		if err != nil {
			f.Fatal(err)
		}
		b, err := g.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2048 {
			return
		}
		g, err := graph.ReadBinary(b)
		if err != nil {
			return
		}
		if err := g.Verify(); err != nil {
			t.Fatal(err)
		}
		c, err := g.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if h, err := graph.ReadBinary(c); err != nil || h.String() != g.String() {
			t.Fatalf("read back as\n%v, %v\nnot\n%v", h, err, g)
		}
	})
}
