package named

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// scatterRagged is scatter for positions and updates in rows of different lengths. They are
// scattered to a dense tensor, such as an embedding table whose entries a batch of sentences refers
// to, or to one with the same rows.
func (d Dims) scatterRagged(fn string, f func(x, indices, updates any) tensor.Tensor, t, i, w *Tensor, s *side) *Tensor {
	operands := []one{{"tensor", t}, {"indices", i}, {"updates", w}}
	refuse := func(what string) {
		tenon.Throw(newError(tenon.ErrUnsupported, fn, what+"\n"+lines(operands...)))
	}
	if !isRagged(w.data) {
		refuse("updates for rows of different lengths must be ragged too")
	}
	if t.inside(d.group()) { // row by row: apply it to the flat values
		if w.outer() != t.outer() {
			refuse("the updates have different rows than the tensor")
		}
		matchRows(fn, t, w)
		if isRagged(i.data) {
			matchRows(fn, t, i)
			i = i.packed()
		} else {
			i = t.spread(fn, i)
		}
		return t.unpacked(d.scatter(fn, f, t.packed(), i, w.packed()))
	}
	switch {
	case isRagged(t.data):
		refuse("elements cannot be scattered along rows of different lengths")
	case !isRagged(i.data) || i.outer() != w.outer():
		refuse("indices and updates have different rows")
	}
	matchRows(fn, i, w)
	batch := t.spec.names.without(d.group()).both(i.spec.names)
	rest := t.spec.names.without(d.group()).without(batch)
	outer := i.outer()
	if len(batch.both(outer).without(layoutOf(outer.ids[:1])).ids) > 0 {
		refuse("the tensor has {" + batch.both(outer).String() + "}, along which the indices are ragged")
	}
	at := i.packed()
	lead := at.spec.names
	rank := len(lead.ids)
	positions := make([]tensor.Tensor, 0, len(batch.ids)+1)
	for _, n := range batch.ids {
		if n == outer.ids[0] {
			p := ops.Cast(i.rowsOf(0), dtype.Int64)
			for k := 1; k < rank; k++ {
				p = ops.ExpandDims(p, -1)
			}
			positions = append(positions, ops.Add(p, ops.Cast(ops.ZerosLike(at.data), dtype.Int64)))
			continue
		}
		positions = append(positions, positionsAlong(at.data, lead.index(n)))
	}
	positions = append(positions, ops.Cast(at.data, dtype.Int64))
	u := t.ordered(batch.and(d.group()).and(rest))
	data := f(u.data, ops.Stack(positions, -1), w.packed().ordered(lead.and(rest)).data)
	return newTensor(data, u.spec.names, s).ordered(t.spec.names)
}
