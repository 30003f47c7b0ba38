package cpu

import (
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that names the best family to use.
const Variable = "TENON_CPU"

// A Family is a set of instructions that kernels are written for. Those of an architecture
// are ordered: of those that the machine offers, the one with the highest rank is the best.
type Family struct {
	name    string
	rank    int
	offered bool
}

// Generic is plain Go, which every machine runs.
var Generic = &Family{name: "generic", offered: true}

// String returns the spelling that the environment variable uses.
func (f *Family) String() string { return f.name }

var (
	known  = []*Family{Generic} // in the order of their ranks
	active = Generic
)

// declare makes a family known; offered says whether the machine has what it needs.
func declare(name string, rank int, offered bool) *Family {
	f := &Family{name, rank, offered}
	known = append(known, f)
	slices.SortFunc(known, func(a, b *Family) int { return a.rank - b.rank })
	active = choose(known, os.Getenv(Variable))
	return f
}

// choose returns the best family that is offered and no better than the one asked for, if
// that is known.
func choose(known []*Family, asked string) *Family {
	most := known[len(known)-1].rank
	for _, f := range known {
		if strings.EqualFold(strings.TrimSpace(asked), f.name) {
			most = f.rank
		}
	}
	best := known[0]
	for _, f := range known {
		if f.offered && f.rank <= most {
			best = f
		}
	}
	return best
}

// Active returns the best family that kernels of this process are for.
func Active() *Family { return active }
