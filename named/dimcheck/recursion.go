package dimcheck

import "slices"

// A function that calls itself, directly or indirectly, is run until its results no longer change:
// a call with the arguments of a run in progress returns what that run has returned so far,
// initially nothing. Calls that count down a known number are followed for a while, and then with
// the number unknown.

// A pending run of a program is still in progress.
type pending struct {
	res  []*val // of the last iteration; nil before
	used bool   // a call inside the run has asked for its results
}

const (
	maxDepth    = 24 // of calls
	maxUnrolled = 2  // nested runs of a program with known numbers
	maxNested   = 6  // nested runs of a program
)

// call runs a function with arguments.
func (c *checker) call(f *frame, at int, p *program, args, binds []*val, names [][]name, home bool) *val {
	if f.depth >= maxDepth || c.active[p] > maxNested || len(args) < p.Params {
		return anything
	}
	args = args[:p.Params]
	if c.active[p] > maxUnrolled {
		args = withoutNumbers(args)
	}
	g := &frame{prog: p, args: args, binds: binds, names: names, parent: f, call: at, home: f.home && home, depth: f.depth + 1, report: f.report}
	key := runKey(g)
	if r := c.running[key]; r != nil {
		if !r.used {
			r.used = true
			c.assumed++
		}
		return tuple(r.resultsOf(p))
	}
	res, known := c.results[key]
	if known && !f.report {
		return tuple(res)
	}
	r := &pending{res: res}
	c.running[key] = r
	if !known {
		g.report = false
		res = c.settle(g, r)
	}
	if f.report {
		g.report = true
		failed := c.failures
		if c.run(g); failed == c.failures && allKnown(args) {
			c.right[p] = true
		}
	}
	delete(c.running, key)
	if r.used {
		c.assumed--
	}
	if c.assumed == 0 { // otherwise it relies on what another run has returned so far
		c.results[key] = res
	}
	return tuple(res)
}

// allKnown reports whether everything in arguments is known.
func allKnown(args []*val) bool {
	return !slices.ContainsFunc(args, func(a *val) bool {
		_, all := a.each(func(t *val) *val { return t })
		return !all
	})
}

// settle runs a function until recursive calls return the same as the function itself. A function
// that is not recursive is run once.
func (c *checker) settle(g *frame, r *pending) []*val {
	for pass := 0; ; pass++ {
		res := c.run(g)
		if !r.used || slices.EqualFunc(r.res, res, equal) {
			return res
		}
		if r.res != nil {
			for i := range res {
				res[i] = join(r.res[i], res[i])
			}
		}
		if pass >= maxPasses {
			for i := range res {
				res[i] = anything
			}
		}
		if slices.EqualFunc(r.res, res, equal) {
			return res
		}
		r.res = res
	}
}

// resultsOf returns what the run has returned so far.
func (r *pending) resultsOf(p *program) []*val {
	if r.res == nil {
		return make([]*val, len(p.Results))
	}
	return r.res
}

// withoutNumbers returns arguments with known integers replaced by unknown ones.
func withoutNumbers(args []*val) []*val {
	out := slices.Clone(args)
	for i, a := range out {
		if a != nil && a.Kind == numberKind {
			out[i] = someInt
		}
	}
	return out
}
