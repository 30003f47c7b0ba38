package mesh

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/tenonml/tenon"
)

// A Link connects ranks: n bytes take Latency + n/Bandwidth.
type Link struct {
	Latency   time.Duration // of an operation without data
	Bandwidth float64       // bytes per second in each direction
}

// A Machine describes hardware for [Explanation.Cost]. Use measured figures, not those of a data sheet.
type Machine struct {
	FLOPS     float64       // multiplications and additions per second of a rank, in contractions
	Bandwidth float64       // bytes per second that a rank reads and writes
	Memory    float64       // bytes that a rank has; 0: unlimited
	Step      time.Duration // fixed overhead of an operation

	// Ranks is the number of ranks of a host; 0 stands for one. Ranks are numbered host by host,
	// so those along the last axes of a mesh are on the same host.
	Ranks int

	// Within is the link of each rank to the others of its host. Between is the link between
	// hosts, which the ranks of a host share.
	Within, Between Link
}

// A Cost is the predicted cost of a program on each rank. It assumes that computation and communication do
// not overlap, as is the case.
type Cost struct {
	Compute     time.Duration // of operations of the rank itself
	Communicate time.Duration // of operations of several ranks
	FLOPs       float64       // multiplications and additions of contractions
	Bytes       float64       // read and written
	Memory      float64       // maximum number of bytes needed at one time: arguments, results and intermediate values
	Fits        bool          // Memory does not exceed that of the rank
	Unknown     int           // operations with unknown sizes, or that run as often as data say; they are only partly included
}

// Total returns how long the program takes.
func (c Cost) Total() time.Duration { return c.Compute + c.Communicate }

// String prints times and memory: "2.4ms = 2.1ms + 300µs of communication, 1.5 MB".
func (c Cost) String() string {
	return fmt.Sprintf("%v = %v + %v of communication, %.3g MB", c.Total(), c.Compute, c.Communicate, c.Memory/1e6)
}

// Cost predicts the time and memory of a program on a machine.
//
// An operation takes the longer of the times for its arithmetic and for its bytes (S. Williams et al., "Roofline",
// CACM 2009). An intermediate result that is used by a single elementwise operation is not written to memory. A
// collective operation takes as long as the fastest of the methods in R. Thakur, R. Rabenseifner and W. Gropp,
// "Optimization of Collective Communication Operations in MPICH", IJHPCA 2005: rings, recursive doubling and
// halving, and Bruck's. With several hosts it is done within each of them and then between them.
func (e Explanation) Cost(on Machine) (Cost, error) {
	if err := on.check(e.work.shared); err != nil {
		return Cost{}, err
	}
	c := Cost{Memory: e.work.peak, Fits: on.Memory == 0 || e.work.peak <= on.Memory, Unknown: e.work.unknown}
	compute, communicate := float64(len(e.work.steps))*on.Step.Seconds(), 0.0
	for _, p := range e.work.steps {
		compute += max(p.flops/on.FLOPS, p.bytes/on.Bandwidth)
		c.FLOPs, c.Bytes = c.FLOPs+p.flops, c.Bytes+p.bytes
	}
	for _, x := range e.work.shared {
		communicate += on.exchange(x)
	}
	c.Compute, c.Communicate = seconds(compute), seconds(communicate)
	return c, nil
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

func (on Machine) check(shared []exchange) error {
	fail := func(what string) error {
		e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "mesh.Cost", Msg: "the machine has no " + what}
		e.Hint = "measure it as docs/distributed.md explains"
		return e
	}
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 0) }
	switch {
	case !positive(on.FLOPS):
		return fail("FLOPS")
	case !positive(on.Bandwidth):
		return fail("Bandwidth")
	case on.Ranks < 0:
		return fail(fmt.Sprintf("host with %d ranks", on.Ranks))
	}
	for _, x := range shared {
		within, between := on.placed(x)
		if within > 1 && !positive(on.Within.Bandwidth) {
			return fail("Bandwidth of the link Within")
		}
		if between > 1 && !positive(on.Between.Bandwidth) {
			return fail("Bandwidth of the link Between")
		}
	}
	return nil
}

// placed returns how many of the participating ranks are on one host, and on how many hosts they are.
func (on Machine) placed(x exchange) (within, between int) {
	within = min(x.ranks, max(1, max(1, on.Ranks)/x.stride))
	return within, (x.ranks + within - 1) / within
}

// wire is a link as the ranks of one operation see it: latency in seconds, and seconds per byte
// sent and per byte reduced.
type wire struct{ alpha, beta, gamma float64 }

// exchange returns the seconds of a collective operation.
func (on Machine) exchange(x exchange) float64 {
	h, n := on.placed(x)
	gamma := 3 / on.Bandwidth // two bytes are read and one is written
	in := wire{on.Within.Latency.Seconds(), 1 / on.Within.Bandwidth, gamma}
	// All ranks of a host belong to groups that do the same at the same time.
	out := wire{on.Between.Latency.Seconds(), float64(max(1, on.Ranks)) / on.Between.Bandwidth, gamma}
	switch {
	case n == 1:
		return in.time(x.kind, x.bytes, h)
	case h == 1:
		return out.time(x.kind, x.bytes, n)
	}
	b, hosts := x.bytes, float64(h)
	switch x.kind {
	case "all_reduce":
		return in.reduceScatter(b, h) + out.allReduce(b/hosts, n) + in.allGather(b, h)
	case "reduce_scatter":
		return in.reduceScatter(b, h) + out.reduceScatter(b/hosts, n)
	case "all_gather":
		return out.allGather(b*float64(n), n) + in.allGather(b*float64(n)*hosts, h)
	}
	return out.time(x.kind, b, x.ranks)
}

// time returns the seconds of an operation among p ranks with b bytes each.
func (w wire) time(kind string, b float64, p int) float64 {
	switch kind {
	case "all_reduce", "reduce":
		return w.allReduce(b, p)
	case "reduce_scatter":
		return w.reduceScatter(b, p)
	case "all_gather":
		return w.allGather(b*float64(p), p)
	case "all_to_all":
		return w.allToAll(b, p)
	case "broadcast":
		return w.broadcast(b, p)
	case "gathered_part":
		return w.allReduce(b, p)
	}
	return w.alpha + b*w.beta // a shift
}

// up returns the number of doubling steps that reach p ranks: the logarithm of p to base 2,
// rounded up.
func up(p int) float64 { return float64(bits.Len(uint(p - 1))) }

// rest is the share of the data that a rank does not have itself.
func rest(p int) float64 { return float64(p-1) / float64(p) }

// allGather gathers b bytes of all ranks together: recursive doubling, or Bruck's method if p is not a
// power of two, has the fewest steps and sends no more than a ring.
func (w wire) allGather(b float64, p int) float64 { return up(p)*w.alpha + rest(p)*b*w.beta }

// reduceScatter is recursive halving if p is a power of two; otherwise the cheaper one of that with two more steps and
// of pairwise exchange.
func (w wire) reduceScatter(b float64, p int) float64 {
	if p&(p-1) == 0 {
		return up(p)*w.alpha + rest(p)*b*(w.beta+w.gamma)
	}
	halving := (up(p)+1)*w.alpha + 2*b*w.beta + (1+rest(p))*b*w.gamma
	return min(halving, float64(p-1)*w.alpha+rest(p)*b*(w.beta+w.gamma))
}

// allReduce is recursive doubling, Rabenseifner's method, or a ring.
func (w wire) allReduce(b float64, p int) float64 {
	doubling := up(p) * (w.alpha + b*(w.beta+w.gamma))
	ring := 2*float64(p-1)*w.alpha + rest(p)*b*(2*w.beta+w.gamma)
	return min(doubling, ring, w.reduceScatter(b, p)+w.allGather(b, p))
}

// allToAll is Bruck's method or pairwise exchange.
func (w wire) allToAll(b float64, p int) float64 {
	return min(up(p)*(w.alpha+b/2*w.beta), float64(p-1)*w.alpha+rest(p)*b*w.beta)
}

// broadcast is a binomial tree, or a scatter and an all-gather.
func (w wire) broadcast(b float64, p int) float64 {
	return min(up(p)*(w.alpha+b*w.beta), (up(p)+float64(p-1))*w.alpha+2*rest(p)*b*w.beta)
}
