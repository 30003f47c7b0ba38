package nn

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Stack is a sequence of layers of recurrent cells, each of which reads the states of the layer
// below. A layer has one cell, or two, whose features are concatenated; the second usually runs
// from the last position to the first.
type Stack[C Cell] struct{ Layers [][]C }

// NewStack returns layers of cells that make returns, given a key, the number of features that
// a cell reads, and whether it runs backward. If both is true, a layer has a cell for each
// direction.
//
//	nn.NewStack(key, 2, 64, 128, true, func(key tensor.Tensor, in int, reverse bool) nn.LSTM {
//		return nn.NewLSTM(key, in, 128, nn.RecurrentOptions{Reverse: reverse})
//	})
func NewStack[C Cell](key tensor.Tensor, layers, in, units int, both bool, make func(key tensor.Tensor, in int, reverse bool) C) Stack[C] {
	s, directions := Stack[C]{}, 1
	if both {
		directions = 2
	}
	k := keys(key, layers*directions)
	for i := range layers {
		var layer []C
		for j := range directions {
			layer = append(layer, make(k[i*directions+j], in, j == 1))
		}
		s.Layers, in = append(s.Layers, layer), units*directions
	}
	return s
}

// Apply is [Stack.ApplyFrom] for all positions, from states of 0.
func (s Stack[C]) Apply(x tensor.Tensor) (states tensor.Tensor, last []tensor.Tensor) {
	return s.ApplyFrom(x, nil, nil)
}

// ApplyFrom returns the states at all positions of the last layer, and the last states of all
// cells, layer by layer and forward first. The arguments are those of [Cell], with a leading
// axis over all cells in start and last.
func (s Stack[C]) ApplyFrom(x, there tensor.Tensor, start []tensor.Tensor) (states tensor.Tensor, last []tensor.Tensor) {
	var ends [][]any
	n := 0
	for _, layer := range s.Layers {
		var beside []any
		for _, cell := range layer {
			var own []tensor.Tensor
			for _, all := range start {
				own = append(own, ops.Index(all, n))
			}
			y, end := cell.ApplyFrom(x, there, own)
			beside = append(beside, y)
			for i, h := range end {
				if n == 0 {
					ends = append(ends, nil)
				}
				ends[i] = append(ends[i], h)
			}
			n++
		}
		if x = beside[0].(tensor.Tensor); len(beside) > 1 {
			x = together(x, beside, ends[0][len(ends[0])-1])
		}
	}
	for _, all := range ends {
		last = append(last, ops.Stack(all, 0))
	}
	return x, last
}

// together concatenates the features of states; x is one of them. The features of named states are along the last
// dimension of state.
func together(x tensor.Tensor, states []any, state any) tensor.Tensor {
	each := func(f func(tensor.Tensor) tensor.Tensor) []any {
		out := make([]any, len(states))
		for i, s := range states {
			out[i] = f(s.(tensor.Tensor))
		}
		return out
	}
	switch t := x.(type) {
	case dimensioned:
		of := state.(dimensioned).Dims().Names()
		features := of[len(of)-1:]
		order := append(batchNames("nn.Stack", t, features), features...)
		bare := each(func(s tensor.Tensor) tensor.Tensor { return named.Unnamed(s, order...) })
		return named.Of(together(bare[0].(tensor.Tensor), bare, nil), order...)
	case someMissing:
		return tenon.Must(t.Carry(ops.Concat(each(func(s tensor.Tensor) tensor.Tensor {
			items, _ := s.(tensor.Carrier).Carried()
			return items
		}), -1)))
	}
	return ops.Concat(states, -1)
}
