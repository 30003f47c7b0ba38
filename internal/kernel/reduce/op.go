package reduce

import (
	"fmt"

	"github.com/tenonml/tenon/dtype"
)

// Op names a reduction.
type Op uint8

// The reductions. The comments state the result for no elements, and special cases.
const (
	None         Op = iota
	Sum             // 0; integers wrap
	Mean            // NaN
	Prod            // 1; integers wrap
	Max             // the least value of the type, -Inf for floats; NaN if any element is
	Min             // the greatest value of the type, +Inf for floats; NaN if any element is
	Any             // false
	All             // true
	ArgMax          // 0, which callers must not expose; the first of equal elements, or the first NaN
	ArgMin          // as ArgMax
	LogSumExp       // -Inf; log Σ e^x
	SumSquares      // 0
	CountNonzero    // 0
	Variance        // NaN; Σ(x-mean)²/n in one pass over memory
	opCount
)

var opNames = [opCount]string{
	None: "none", Sum: "sum", Mean: "mean", Prod: "prod", Max: "max", Min: "min", Any: "any", All: "all",
	ArgMax: "argmax", ArgMin: "argmin", LogSumExp: "logsumexp", SumSquares: "sum_squares",
	CountNonzero: "count_nonzero", Variance: "variance",
}

// String returns the reduction's name in snake case.
func (op Op) String() string {
	if op >= opCount {
		return fmt.Sprintf("reduce.Op(%d)", uint8(op))
	}
	return opNames[op]
}

// Ops returns all reductions in order.
func Ops() []Op {
	all := make([]Op, 0, opCount-1)
	for op := None + 1; op < opCount; op++ {
		all = append(all, op)
	}
	return all
}

// Result returns the element type of op's result over elements of type dt:
// int64 for positions and counts, float64 for the mean and the variance of
// integers, and otherwise dt.
func (op Op) Result(dt dtype.DType) dtype.DType {
	switch op {
	case ArgMax, ArgMin, CountNonzero:
		return dtype.Int64
	case Mean, Variance:
		if dt.IsInteger() {
			return dtype.Float64
		}
	}
	return dt
}
