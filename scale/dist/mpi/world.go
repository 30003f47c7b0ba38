//go:build linux || darwin

package mpi

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/bits"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/scale/dist"
)

// world initializes MPI.
func world(o dist.Options) (*dist.Comm, error) {
	l, err := open()
	if err != nil {
		return nil, err
	}
	provided := new(int32)
	if err := l.call(l.InitThread, 0, 0, serialized, at(provided)); err != nil {
		return nil, err
	}
	// A launcher may announce dead ranks by this signal. MPICH's handler for it lacks SA_ONSTACK,
	// so it would crash a Go program. Dead ranks are noticed anyway.
	signal.Ignore(syscall.SIGUSR1)
	if *provided < serialized {
		return nil, tenon.NewError(tenon.ErrUnsupported, "dist/mpi", fmt.Sprintf("the library allows calls from one thread only (level %d, want %d)", *provided, serialized))
	}
	notices := new(uintptr)
	if err := l.call(l.CommDup, commWorld, at(notices)); err != nil {
		return nil, err
	}
	if err := l.call(l.CommSetErrhandler, *notices, errorsReturn); err != nil {
		return nil, err
	}
	t, err := newTransport(l, commWorld, *notices)
	if err != nil {
		return nil, err
	}
	if err := t.meetNeighbours(); err != nil {
		return nil, err
	}
	return dist.New(t, o), nil
}

// A neighbour is a rank on the same machine.
type neighbour struct {
	rank, pid int
	missed    bool
}

// meetNeighbours finds the ranks of this machine, divides the cores among them, and warns if there are not enough.
func (t *transport) meetNeighbours() error {
	comm := new(uintptr)
	if err := t.call(t.CommSplitType, commWorld, sharedMemory, uintptr(t.rank), infoNull, at(comm)); err != nil {
		return err
	}
	local, err := newTransport(t.library, *comm, t.notices)
	if err != nil {
		return err
	}
	type card struct {
		rank, pid, space uint64
		cores            [maxCores / 64]uint64
	}
	cards, own := make([]card, local.size), new(card)
	*own = card{uint64(t.rank), uint64(os.Getpid()), pidSpace(), ownCores()}
	memory := func(first *card, n int) []byte {
		return unsafe.Slice((*byte)(unsafe.Pointer(first)), n*int(unsafe.Sizeof(*own)))
	}
	for r := local.AllGather(memory(&cards[0], len(cards)), nil, memory(own, 1)); ; runtime.Gosched() {
		if done, err := r.Done(); err != nil {
			return err
		} else if done {
			break
		}
	}
	cores := own.cores
	for _, c := range cards {
		for i, x := range c.cores {
			cores[i] |= x
		}
		if c.rank != own.rank && c.space == own.space {
			t.neighbours = append(t.neighbours, neighbour{rank: int(c.rank), pid: int(c.pid)})
		}
	}
	n := 0
	for _, x := range cores {
		n += bits.OnesCount64(x)
	}
	if local.size > n && local.rank == 0 {
		fmt.Fprintf(os.Stderr, "dist/mpi: %d ranks share %d cores and wait by spinning: start no more ranks on a machine than it has cores\n", local.size, n)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, min(runtime.GOMAXPROCS(0), n/local.size)))
	}
	return nil
}

// pidSpace identifies the namespace of process ids, because containers have their own.
func pidSpace() uint64 {
	name, _ := os.Readlink("/proc/self/ns/pid") // other systems have only one
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// dead returns a notice about a rank of this machine whose process is gone. It checks periodically, and reports the
// rank when it finds it gone for the second time, because messages that the rank sent before it ended come first.
func (l *library) dead() (from int, notice []byte, ok bool) {
	now := time.Now()
	if now.Sub(l.looked) < 50*time.Millisecond {
		return 0, nil, false
	}
	l.looked = now
	for i := range l.neighbours {
		n := &l.neighbours[i]
		if !gone(n.pid) {
			continue
		}
		if n.missed {
			return n.rank, fmt.Appendf(nil, "+process %d is gone", n.pid), true
		}
		n.missed = true
	}
	return 0, nil, false
}

// gone reports whether a process has ended, even if its parent has not yet waited for it.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, ok := bytes.Cut(stat, []byte(") "))
	return ok && (state[0] == 'Z' || state[0] == 'X')
}
