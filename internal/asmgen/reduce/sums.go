package main

import (
	"math"

	"github.com/tenonml/tenon/internal/asmgen/vec"
)

func sums(m machine) {
	m.Fold(vec.Fold{Name: "sum", Doc: "returns Σ x.", Vectors: "x", Sums: 1,
		Body: func(m machine, x []vector) ([]vector, []vector) { return nil, []vector{x[0]} }})
	m.Fold(vec.Fold{Name: "squares", Doc: "returns Σ (x - c)².", Vectors: "x", Scalars: "c", Sums: 1,
		Body: func(m machine, x []vector) ([]vector, []vector) {
			d := m.Sub(x[0], x[1])
			return nil, []vector{m.Mul(d, d)}
		}})
	m.Fold(vec.Fold{Name: "shifted", Doc: "returns Σ (x - c) and Σ (x - c)².", Vectors: "x", Scalars: "c", Sums: 2,
		Body: func(m machine, x []vector) ([]vector, []vector) {
			d := m.Sub(x[0], x[1])
			return nil, []vector{d, m.Mul(d, d)}
		}})
	m.Fold(vec.Fold{Name: "dot", Doc: "returns Σ x·y.", Vectors: "x,y", Sums: 1,
		Body: func(m machine, x []vector) ([]vector, []vector) { return nil, []vector{m.Mul(x[0], x[1])} }})
	m.Fold(vec.Fold{Name: "expSum", Doc: "returns Σ e^(x - shift).", Vectors: "x", Scalars: "shift", Sums: 1, Unroll: flight, Keep: 10, Together: true,
		Body: func(m machine, x []vector) ([]vector, []vector) { return nil, []vector{m.Exp(m.Sub(x[0], x[1]))} }})
}

// rows emits the steps of the row operations.
func rows(m machine) {
	m.Fold(vec.Fold{Name: "expShift", Doc: "sets dst to e^(x - shift) and returns the sum.", Dsts: "dst", Vectors: "x", Scalars: "shift", Sums: 1, Unroll: flight, Keep: 10, Together: true,
		Body: func(m machine, x []vector) ([]vector, []vector) {
			e := m.Exp(m.Sub(x[0], x[1]))
			return []vector{e}, []vector{e}
		}})
	if m.Elem == vec.Float32 {
		softmax(m)
	}
	alsoPast(m, vec.Loop{Name: "subTwice", Doc: "sets dst to (x - a) - b.", Vectors: "x", Scalars: "a,b",
		Body: func(m machine, x []vector) vector { return m.Sub(m.Sub(x[0], x[1]), x[2]) }})
	m.Map(vec.Loop{Name: "softmaxGrad", Doc: "sets dst to y·(dy - dot).", Vectors: "y,dy", Scalars: "dot",
		Body: func(m machine, x []vector) vector { return m.Mul(x[0], m.Sub(x[1], x[2])) }})
	m.Map(vec.Loop{Name: "logSoftmaxGrad", Doc: "sets dst to dy - e^y·sum.", Vectors: "y,dy", Scalars: "sum", Unroll: flight,
		Body: func(m machine, x []vector) vector { return m.MulSub(m.Load(x[1]), m.Exp(x[0]), x[2]) }})
	normalized := func(m machine, x, mean, rstd vector) vector { return m.Mul(m.Sub(x, mean), rstd) }
	alsoPast(m, vec.Loop{Name: "normalize", Doc: "sets dst to (x - mean)·rstd.", Vectors: "x", Scalars: "mean,rstd",
		Body: func(m machine, x []vector) vector { return normalized(m, x[0], x[1], x[2]) }})
	alsoPast(m, vec.Loop{Name: "normalizeScale", Doc: "sets dst to (x - mean)·rstd·gamma.", Vectors: "x,gamma", Scalars: "mean,rstd",
		Body: func(m machine, x []vector) vector { return m.Mul(normalized(m, x[0], x[2], x[3]), x[1]) }})
	alsoPast(m, vec.Loop{Name: "normalizeAffine", Doc: "sets dst to (x - mean)·rstd·gamma + beta.", Vectors: "x,gamma,beta", Scalars: "mean,rstd",
		Body: func(m machine, x []vector) vector { return m.FMA(normalized(m, x[0], x[3], x[4]), x[1], x[2]) }})
	m.Fold(vec.Fold{Name: "normSums", Doc: "returns Σ g and Σ g·(x - mean)·rstd for g = gamma·dy.", Vectors: "x,gamma,dy", Scalars: "mean,rstd", Sums: 2, Unroll: 2,
		Body: func(m machine, x []vector) ([]vector, []vector) {
			g := m.Mul(x[1], x[2])
			return nil, []vector{g, m.Mul(g, normalized(m, x[0], x[3], x[4]))}
		}})
	m.Fold(vec.Fold{Name: "normSumsPlain", Doc: "returns Σ dy and Σ dy·(x - mean)·rstd.", Vectors: "x,dy", Scalars: "mean,rstd", Sums: 2, Unroll: 2,
		Body: func(m machine, x []vector) ([]vector, []vector) {
			return nil, []vector{x[1], m.Mul(x[1], normalized(m, x[0], x[2], x[3]))}
		}})
	// rstd·(g - a - h·b)
	grad := func(m machine, x, g, mean, rstd, a, b vector) vector {
		return m.Mul(m.MulSub(m.Sub(g, a), normalized(m, x, mean, rstd), b), rstd)
	}
	m.Map(vec.Loop{Name: "normGrad", Doc: "sets dst to rstd·(gamma·dy - a - (x - mean)·rstd·b).", Vectors: "x,gamma,dy", Scalars: "mean,rstd,a,b", Unroll: 2,
		Body: func(m machine, x []vector) vector { return grad(m, x[0], m.Mul(x[1], x[2]), x[3], x[4], x[5], x[6]) }})
	m.Map(vec.Loop{Name: "normGradPlain", Doc: "sets dst to rstd·(dy - a - (x - mean)·rstd·b).", Vectors: "x,dy", Scalars: "mean,rstd,a,b", Unroll: 2,
		Body: func(m machine, x []vector) vector { return grad(m, x[0], x[1], x[2], x[3], x[4], x[5]) }})
	m.Map(vec.Loop{Name: "addNormalized", Doc: "sets dst to acc + dy·(x - mean)·rstd.", Vectors: "acc,x,dy", Scalars: "mean,rstd", Unroll: 2,
		Body: func(m machine, x []vector) vector { return m.FMA(normalized(m, x[1], x[3], x[4]), x[2], x[0]) }})
}

// alsoPast emits a loop through the cache and, of float32, past it.
func alsoPast(m machine, l vec.Loop) {
	m.Map(l)
	if m.Elem == vec.Float32 {
		l.Stream, l.Next = true, "x"
		m.Map(l)
	}
}

// softmax emits what softmax does with a row: e^(x - max) as 2^(x·log2 e + c), and
// their sum. The step functions scale the row before by a meanwhile, which costs less
// than a loop of its own.
func softmax(m machine) {
	exp := func(m machine, x, c vector) vector {
		h := m.FMAConst(m.Load(x), constant(math.Log2E), c)
		if !m.Wide {
			h = m.Max(m.Get(constant(-127)), h)
		}
		return m.Exp2Rough(h)
	}
	m.Fold(vec.Fold{Name: "softmaxExp", Doc: "sets dst to 2^(x·log2 e + c), at most 1 or so, and returns the sum.",
		Dsts: "dst", Vectors: "x", Scalars: "c", Sums: 1, Unroll: flight, Keep: 12, Together: true,
		Body: func(m machine, x []vector) ([]vector, []vector) {
			e := exp(m, x[0], x[1])
			return []vector{e}, []vector{e}
		}})
	step := vec.Fold{Name: "softmaxStep", Doc: "sets dst to 2^(x·log2 e + c), at most 1 or so, and done to last · a, and returns the sum of dst.",
		Dsts: "dst,done", Vectors: "x,last", Scalars: "c,a", Sums: 1, Unroll: flight, Keep: 12, Together: true,
		Body: func(m machine, x []vector) ([]vector, []vector) {
			e := exp(m, x[0], x[2])
			return []vector{e, m.Mul(x[1], x[3])}, []vector{e}
		}}
	m.Fold(step)
	step.Name, step.Stream, step.Next = "softmaxStepStream", "done", "x"
	m.Fold(step)
}
