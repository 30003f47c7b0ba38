package main

import (
	"fmt"

	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("gemm", gemm) }

func gemm(r *runner) {
	for i, size := range [][3]int{{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {1, 4096, 4096}, {64, 1024, 1024}} {
		m, k, n := size[0], size[1], size[2]
		name := fmt.Sprintf("%dx%dx%d", m, k, n)
		if m == n {
			name = fmt.Sprint(m)
		}
		flops := 2 * m * k * n
		if !r.want(name) || r.size == "tiny" && flops > 2e8 {
			continue
		}
		a := tensor.Of(inputs.Syms(8, 2*i, m*k, 1), m, k)
		b := tensor.Of(inputs.Syms(8, 2*i+1, k*n, 1), k, n)
		times := max(1, int(2e8)/flops)
		bc := benchCase{name: name, inner: times, flops: float64(flops), check: denseSum}
		r.run(bc, func() any {
			var c tensor.Tensor
			for range times {
				bc.drop(c)
				c = ops.MatMul(a, b)
			}
			return c
		})
	}
}
