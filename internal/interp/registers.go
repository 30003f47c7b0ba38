package interp

import "slices"

// registers assigns temporaries to the results of nodes. A temporary is free again after the last
// unit that reads it. Results used outside of the group have temporaries of their own, after the
// others. Results read only within one chain have none.
func (b *builder) registers(units []unit) {
	g := b.group
	last := make([]int, len(g.nodes)) // last unit that reads each result
	for k := range last {
		last[k] = -1
	}
	for i := range units {
		for _, k := range units[i].reads(g) {
			last[k] = i
		}
	}
	var free []int
	for i := range units {
		u := &units[i]
		for _, k := range u.nodes() {
			nd := &g.nodes[k]
			nd.idle, nd.chained = !b.used[k], u.chain != nil
			if b.external[k] || nd.idle {
				continue
			}
			if len(free) > 0 {
				nd.reg, free = free[len(free)-1], free[:len(free)-1]
			} else {
				nd.reg = g.regs
				g.regs++
			}
		}
		for m := range g.nodes {
			if last[m] == i && g.nodes[m].reg >= 0 {
				free = append(free, g.nodes[m].reg)
				last[m] = -1
			}
		}
	}
	for j, k := range g.outAt {
		g.nodes[k].reg = g.regs + j
	}
	for i := range units {
		g.addLoop(&units[i])
		for _, k := range units[i].reads(g) {
			g.nodes[k].shared = true
		}
	}
	g.link(func(o int) bool { return o >= 0 })
	g.read = len(g.moving)
	for _, m := range g.outAt {
		first := len(g.moving)
		g.link(func(o int) bool { return o == -1-m })
		g.nodes[m].readers = [2]int{first, len(g.moving)}
	}
}

// reads returns the nodes whose results a unit reads from memory.
func (u *unit) reads(g *group) (nodes []int) {
	if u.chain != nil {
		for _, a := range u.chain.arrays {
			if a.node >= 0 && !a.out {
				nodes = append(nodes, a.node)
			}
		}
		return nodes
	}
	nd := &g.nodes[u.node]
	for _, o := range nd.operands[:nd.n] {
		if o < 0 {
			nodes = append(nodes, -1-o)
		}
	}
	return nodes
}

// addLoop adds the blockNode that runs a unit.
func (g *group) addLoop(u *unit) {
	if u.chain != nil {
		g.loops = append(g.loops, blockNode{chain: int32(len(g.chains) + 1)})
		g.chains = append(g.chains, u.chain)
		return
	}
	nd := &g.nodes[u.node]
	if nd.idle {
		return
	}
	g.loops = append(g.loops, blockNode{f: nd.f, node: int32(u.node), reg: int32(nd.reg), plain: nd.rows == nil && nd.reg < g.regs, perRow: nd.perRow})
}

// link records those operands of nodes outside of chains for which is returns true.
func (g *group) link(is func(operand int) bool) {
	for k := range g.nodes {
		if g.nodes[k].chained {
			continue
		}
		for j, o := range g.nodes[k].operands[:g.nodes[k].n] {
			if !is(o) {
				continue
			}
			if o < 0 {
				o = len(g.inputs) + slices.Index(g.outAt, -1-o)
			}
			g.moving = append(g.moving, link{int32(k), int32(j), int32(o)})
		}
	}
}
