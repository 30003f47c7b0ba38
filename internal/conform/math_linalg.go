package main

import (
	"math"

	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/linalg"
	"github.com/tenonml/tenon/ops"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"math.matmul": one(func(c *cases.Case) any {
			return ops.MatMulT(c.Tensor(0), c.Tensor(1), c.AttrBool("transpose_a", false), c.AttrBool("transpose_b", false))
		}),
		"math.matvec": one(func(c *cases.Case) any { return ops.MatVec(c.Tensor(0), c.Tensor(1)) }),
		"math.dot":    one(func(c *cases.Case) any { return ops.Dot(c.Tensor(0), c.Tensor(1)) }),
		"math.outer":  one(func(c *cases.Case) any { return ops.Outer(c.Tensor(0), c.Tensor(1)) }),
		"math.einsum": one(func(c *cases.Case) any {
			operands := make([]any, 0, 4)
			for _, t := range c.Tensors(0) {
				operands = append(operands, t)
			}
			return ops.Einsum(c.AttrStr("equation", ""), operands...)
		}),
		"math.cholesky": one(func(c *cases.Case) any { return linalg.Cholesky(c.Tensor(0)) }),
		"math.solve":    one(func(c *cases.Case) any { return linalg.Solve(c.Tensor(0), c.Tensor(1)) }),
		"math.triangular_solve": one(func(c *cases.Case) any {
			return linalg.TriangularSolve(c.Tensor(0), c.Tensor(1), linalg.TriangularOptions{Lower: c.AttrBool("lower", true)})
		}),
		"math.inverse": one(func(c *cases.Case) any { return linalg.Inverse(c.Tensor(0)) }),
		"math.det":     one(func(c *cases.Case) any { return linalg.Det(c.Tensor(0)) }),
		"math.norm": one(func(c *cases.Case) any {
			p := 2.0
			switch o := c.Attrs["ord"].(type) {
			case string:
				p = math.Inf(1)
			case int:
				p = float64(o)
			case float64:
				p = o
			}
			return ops.Norm(c.Tensor(0), p, c.AttrInts("axis")...)
		}),
		"math.softmax":     one(func(c *cases.Case) any { return ops.Softmax(c.Tensor(0), c.AttrInt("axis", -1)) }),
		"math.log_softmax": one(func(c *cases.Case) any { return ops.LogSoftmax(c.Tensor(0), c.AttrInt("axis", -1)) }),
		"math.layer_norm": one(func(c *cases.Case) any {
			return ops.LayerNorm(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.AttrFloat("eps", 1e-5), c.AttrInts("axis")...)
		}),
		"math.softmax_cross_entropy": one(func(c *cases.Case) any { return ops.SoftmaxCrossEntropy(c.Tensor(0), c.Tensor(1)) }),
		"math.sigmoid_cross_entropy": one(func(c *cases.Case) any { return ops.SigmoidCrossEntropy(c.Tensor(0), c.Tensor(1)) }),
	})
}
