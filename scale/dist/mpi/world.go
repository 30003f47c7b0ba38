//go:build linux || darwin

package mpi

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/scale/dist"
)

// world starts MPI.
func world(o dist.Options) (*dist.Comm, error) {
	l, err := open()
	if err != nil {
		return nil, err
	}
	provided := new(int32)
	if err := l.call(l.InitThread, 0, 0, serialized, at(provided)); err != nil {
		return nil, err
	}
	// A launcher may tell of dead ranks by this signal, for which MPICH's handler lacks SA_ONSTACK:
	// it would end a Go program. Such ranks are missed anyway.
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
	return dist.New(t, o), l.shareCores(t.rank)
}

// shareCores divides the cores of a machine among its ranks, and warns where there are not enough.
func (l *library) shareCores(rank int) error {
	local, n := new(uintptr), new(int32)
	if err := l.call(l.CommSplitType, commWorld, sharedMemory, uintptr(rank), infoNull, at(local)); err != nil {
		return err
	}
	if err := l.call(l.CommSize, *local, at(n)); err != nil {
		return err
	}
	cores, ranks := runtime.NumCPU(), max(1, int(*n))
	if ranks > cores && rank == 0 {
		fmt.Fprintf(os.Stderr, "dist/mpi: %d ranks share %d cores and wait by spinning: start no more ranks on a machine than it has cores\n", ranks, cores)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, cores/ranks))
	}
	return nil
}
