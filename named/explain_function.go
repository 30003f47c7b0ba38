package named

import (
	"fmt"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/dimtext"
)

// A FunctionExplanation describes what a function of tensors does when it is traced: its steps in
// order, after simplification.
type FunctionExplanation struct {
	Steps []FunctionStep
	FLOPs float64 // multiplications and additions of all contractions
	Bytes float64 // bytes read and written by all steps
}

// A FunctionStep is an operation of a function.
type FunctionStep struct {
	Op    string
	In    []string // the operands, by the names of their dimensions if they have names: "{Seq:8 Rep:64}"
	Out   []string
	FLOPs float64 // for a contraction; 0 for others, and if sizes are not known
	Bytes float64
	Line  string // in the source
}

// ExplainFunction describes what a function does with arguments, without doing it. It shows
// everything that [Explain] shows for one contraction, except for the matrix products, for the
// whole function.
//
//	fmt.Println(named.ExplainFunction(model.Apply, x))
func ExplainFunction(f any, args ...any) (*FunctionExplanation, error) {
	g, err := function.New(f).Trace(args...)
	if err != nil {
		return nil, err
	}
	e := &FunctionExplanation{}
	for _, n := range g.Nodes {
		s := FunctionStep{Op: n.Op.Name, Line: n.Line}
		dims := n.InputDims()
		for i, v := range n.Inputs() {
			names := v.Dims()
			if dims != nil && dims[i] != nil {
				names = dims[i]
			}
			s.In = append(s.In, sketchText(v, names))
			s.Bytes += v.Bytes()
		}
		for _, v := range n.Outs {
			s.Out = append(s.Out, sketchText(v, v.Dims()))
			s.Bytes += v.Bytes()
		}
		s.FLOPs = n.FLOPs()
		e.Steps, e.FLOPs, e.Bytes = append(e.Steps, s), e.FLOPs+s.FLOPs, e.Bytes+s.Bytes
	}
	return e, nil
}

// sketchText formats a value of a graph by names, or by sizes if it has no names.
func sketchText(v *graph.Value, names []string) string {
	if names == nil || len(names) != v.Shape().Rank() {
		return tenon.String(v.Spec())
	}
	return dimtext.Braces(graph.Operand("", v, names).Dims)
}

// String returns a line for each step, and the totals:
//
//  1. contract {Seq:8 Rep:64} · {Rep:64 Kq:16} → {Seq:8 Kq:16}  16.4 kFLOP, 6.66 kB  head.go:18
//     16.4 kFLOP, 6.66 kB
func (e *FunctionExplanation) String() string {
	var b strings.Builder
	for i, s := range e.Steps {
		fmt.Fprintf(&b, "%d. %s %s → %s  ", i+1, s.Op, strings.Join(s.In, " · "), strings.Join(s.Out, ", "))
		if s.FLOPs > 0 {
			b.WriteString(amount(s.FLOPs, "FLOP") + ", ")
		}
		b.WriteString(amount(s.Bytes, "B"))
		if s.Line != "" {
			b.WriteString("  " + s.Line)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s, %s", amount(e.FLOPs, "FLOP"), amount(e.Bytes, "B"))
	return b.String()
}
