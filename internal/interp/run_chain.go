package interp

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/fused"
)

// chainsOf builds the chains of a group for inputs of the given forms.
func (g *group) chainsOf(forms []form) []*fused.Chain {
	chains := make([]*fused.Chain, len(g.chains))
	for i, c := range g.chains {
		kinds := make([]fused.ArrayForm, len(c.arrays))
		for j, a := range c.arrays {
			switch {
			case a.perRow:
				kinds[j] = fused.PerRow
			case a.input >= 0 && forms[a.input].scalar:
				kinds[j] = fused.Single
			}
		}
		chains[i] = fused.NewChain(c.dtype, c.steps, kinds)
	}
	return chains
}

// streams reports whether a run is a single chain that reads and writes only memory, and so needs
// no blocks.
func (g *group) streams(r *run) bool {
	if len(g.loops) != 1 || len(g.chains) != 1 || r.step != r.n || r.gaps {
		return false
	}
	for _, a := range g.chains[0].arrays {
		if a.node >= 0 && !a.out {
			return false
		}
	}
	return true
}

// startChains sets the addresses that do not change during a run, for one worker.
func (g *group) startChains(r *run, w *scratch) {
	if w.chains == nil {
		w.chains = make([]fused.ChainRun, len(g.chains))
	}
	for i, c := range g.chains {
		x := &w.chains[i]
		x.Start(r.chains[i])
		for j, a := range c.arrays {
			switch {
			case a.out && !g.staged(&g.nodes[a.node], r) && g.nodes[a.node].reg >= g.regs:
				if at := uintptr(r.outs[a.node]); r.past {
					x.Past(j, at)
				} else {
					x.Set(j, at)
				}
			case a.input < 0 || a.perRow:
			case r.forms[a.input].scalar:
				x.SetSingle(j, r.forms[a.input].base)
			case r.forms[a.input].period == 0 && r.forms[a.input].gap == 0:
				x.Set(j, uintptr(r.forms[a.input].base))
			}
		}
	}
}

// stream runs the rows [lo, hi), or the elements if there are no rows, through the group's only chain.
func (g *group) stream(lo, hi int, r *run, w *scratch) {
	g.startChains(r, w)
	if r.splits != nil {
		for j, a := range g.chains[0].arrays {
			if a.perRow {
				f := &r.forms[a.input]
				w.chains[0].SetRows(j, uintptr(unsafe.Add(f.base, lo*f.size)), &r.splits[lo+1])
			}
		}
		lo, hi = int(r.splits[lo]), int(r.splits[hi])
	}
	w.chains[0].Run(lo, hi)
}

// chain runs a chain on a block.
func (g *group) chain(r *run, w *scratch, p *part, i int) {
	c, x := g.chains[i], &w.chains[i]
	for j, a := range c.arrays {
		switch {
		case a.input >= 0 && a.perRow:
			x.SetRows(j, uintptr(w.at[a.input]), &r.splits[p.row+1])
		case a.input >= 0:
			if f := &r.forms[a.input]; f.period > 0 || f.gap > 0 {
				x.Set(j, uintptr(w.at[a.input])-uintptr(p.value*f.size))
			}
		case a.perRow:
			x.SetRows(j, uintptr(g.result(w, a.node)), &r.splits[p.row+1])
		default:
			nd := &g.nodes[a.node]
			if a.out && nd.reg >= g.regs {
				g.place(r, w, p, a.node)
				if !g.staged(nd, r) {
					continue // same address for every block
				}
			}
			x.Set(j, uintptr(g.result(w, a.node))-uintptr(p.value*nd.dtype.Size()))
		}
	}
	x.Run(p.value, p.value+p.values)
}

// result returns the address of a node's result for the current block.
func (g *group) result(w *scratch, node int) unsafe.Pointer {
	if reg := g.nodes[node].reg; reg >= g.regs {
		return w.at[len(g.inputs)+reg-g.regs]
	}
	return w.temporary(g.nodes[node].reg)
}

// place sets, for its readers, the address of the result of node k for a block, where the result is used
// outside of the group.
func (g *group) place(r *run, w *scratch, p *part, k int) unsafe.Pointer {
	nd := &g.nodes[k]
	dst := w.temporary(nd.reg)
	if !g.staged(nd, r) {
		first := p.value
		if nd.perRow {
			first = p.row
		}
		dst = unsafe.Add(r.outs[k], first*nd.dtype.Size())
	}
	w.at[len(g.inputs)+nd.reg-g.regs] = dst
	for _, m := range g.moving[nd.readers[0]:nd.readers[1]] {
		w.x[m.node][m.index] = dst
	}
	return dst
}
