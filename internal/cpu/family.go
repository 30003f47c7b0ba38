package cpu

import (
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that names the best family to use.
const Variable = "TENON_CPU"

// A Family is an instruction set that kernels are written for. The families of an architecture are
// ordered by rank: the best is the one with the highest rank that the machine supports.
type Family struct {
	name    string
	rank    int
	offered bool
}

// Generic is plain Go, which every machine runs.
var Generic = &Family{name: "generic", offered: true}

// String returns the family's name, as used in the environment variable.
func (f *Family) String() string { return f.name }

var (
	known  = []*Family{Generic} // ordered by rank
	active = Generic
)

// declare registers a family; offered tells whether the machine supports it.
func declare(name string, rank int, offered bool) *Family {
	f := &Family{name, rank, offered}
	known = append(known, f)
	slices.SortFunc(known, func(a, b *Family) int { return a.rank - b.rank })
	active = choose(known, os.Getenv(Variable))
	return f
}

// choose returns the best family that the machine supports and that is not better than the one
// named asked, if that is a known name.
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

// Active returns the best family among those that the tables of this process have kernels for.
func Active() *Family { return active }
