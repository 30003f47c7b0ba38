package elementwise

import (
	"testing"

	"github.com/tenonml/tenon/internal/kernel/gctest"
)

func TestLongLoopsLetTheCollectorIn(t *testing.T) {
	x := make([]float32, 1<<26) // read twice and written: 768 MiB
	add, exp := Binary[float32](Add), Unary[float32](Exp)
	gctest.StopsDuring(t, func() { add(x, x, x) })
	gctest.StopsDuring(t, func() { exp(x, x) })
}
