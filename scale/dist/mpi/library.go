//go:build linux || darwin

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/tenonml/tenon"
)

// library is an MPI library with the standard ABI. MPI is initialized with the thread level
// "serialized": one thread at a time calls it.
type library struct {
	mu   sync.Mutex
	path string
	functions

	neighbours []neighbour
	looked     time.Time // when it last looked for dead ranks
}

type functions struct {
	InitThread, Finalize, Abort, ErrorString, AbiGetVersion         uintptr
	CommRank, CommSize, CommSetErrhandler, CommSplit, CommSplitType uintptr
	CommDup                                                         uintptr
	Iallreduce, IreduceScatter, Iallgather, Iallgatherv, Ialltoallv uintptr
	Ibcast, Isend, Irecv, Iprobe, Recv, GetCount, Test              uintptr
}

// symbols are the names of the functions in the ABI.
func (f *functions) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"MPI_Init_thread": &f.InitThread, "MPI_Finalize": &f.Finalize, "MPI_Abort": &f.Abort, "MPI_Error_string": &f.ErrorString,
		"MPI_Abi_get_version": &f.AbiGetVersion, "MPI_Comm_rank": &f.CommRank, "MPI_Comm_size": &f.CommSize,
		"MPI_Comm_set_errhandler": &f.CommSetErrhandler, "MPI_Comm_split": &f.CommSplit, "MPI_Comm_split_type": &f.CommSplitType, "MPI_Comm_dup": &f.CommDup,
		"MPI_Iallreduce_c": &f.Iallreduce, "MPI_Ireduce_scatter_c": &f.IreduceScatter, "MPI_Iallgather_c": &f.Iallgather,
		"MPI_Iallgatherv_c": &f.Iallgatherv, "MPI_Ialltoallv_c": &f.Ialltoallv, "MPI_Ibcast_c": &f.Ibcast,
		"MPI_Isend_c": &f.Isend, "MPI_Irecv_c": &f.Irecv, "MPI_Iprobe": &f.Iprobe, "MPI_Recv_c": &f.Recv,
		"MPI_Get_count_c": &f.GetCount, "MPI_Test": &f.Test,
	}
}

// open finds and loads the library.
func open() (*library, error) {
	var tried []string
	for _, path := range candidates() {
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		return bind(path, func(name string) (uintptr, error) { return purego.Dlsym(handle, name) })
	}
	e := &tenon.Error{Kind: tenon.ErrNotFound, Op: "dist/mpi", Msg: "no MPI library with the standard ABI: " + strings.Join(tried, "; ")}
	e.Hint = "install MPICH 5 (pip install mpich==5.0.2), or set TENON_MPI_LIBRARY to the path of libmpi_abi.so.1"
	return nil, e
}

// bind looks up the functions of a library.
func bind(path string, symbol func(name string) (uintptr, error)) (*library, error) {
	l := &library{path: path}
	var missing []string
	for name, at := range l.symbols() {
		p, err := symbol(name)
		if err != nil || p == 0 {
			missing = append(missing, name)
			continue
		}
		*at = p
	}
	if len(missing) == 0 {
		return l, l.checkVersion()
	}
	e := &tenon.Error{Kind: tenon.ErrUnsupported, Op: "dist/mpi", Where: path}
	e.Msg = fmt.Sprintf("the library lacks %d functions of MPI 5.0, among them %s", len(missing), first(missing))
	if l.AbiGetVersion == 0 {
		e.Msg = "the library does not have the standard ABI of MPI 5.0: it has no MPI_Abi_get_version"
	}
	e.Hint = "use libmpi_abi.so.1 of MPICH 5 (pip install mpich==5.0.2): libmpi.so has another ABI"
	return nil, e
}

// first returns the first of several names in sorted order.
func first(names []string) string {
	least := names[0]
	for _, n := range names {
		least = min(least, n)
	}
	return least
}

// checkVersion rejects another major version of the ABI.
func (l *library) checkVersion() error {
	v := new([2]int32)
	if err := l.call(l.AbiGetVersion, at(&v[0]), at(&v[1])); err != nil {
		return err
	}
	return version(l.path, int(v[0]), int(v[1]))
}

func version(path string, major, minor int) error {
	if major == 1 {
		return nil
	}
	e := &tenon.Error{Kind: tenon.ErrUnsupported, Op: "dist/mpi", Where: path, Msg: fmt.Sprintf("the library has version %d.%d of MPI's ABI, want 1", major, minor)}
	e.Hint = "install MPICH 5 (pip install mpich==5.0.2)"
	return e
}

// candidates are the files to try, in the order given in the package's overview.
func candidates() []string {
	if path := os.Getenv("TENON_MPI_LIBRARY"); path != "" {
		return []string{path}
	}
	names := []string{"libmpi_abi.so.1", "libmpi_abi.so.0"}
	if runtime.GOOS == "darwin" {
		names = []string{"libmpi_abi.1.dylib", "libmpi_abi.dylib"}
	}
	list := append([]string{}, names...)
	for _, launcher := range []string{"mpiexec", "mpiexec.hydra"} {
		if path, err := exec.LookPath(launcher); err == nil {
			for _, n := range names {
				list = append(list, filepath.Join(filepath.Dir(filepath.Dir(path)), "lib", n))
			}
		}
	}
	return list
}

// at returns the address of memory on the heap, which does not move.
func at[T any](x *T) uintptr { return uintptr(unsafe.Pointer(x)) }

// call calls a function that returns an error code.
func (l *library) call(f uintptr, args ...uintptr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.locked(f, args...)
}

// test is called while ranks wait. It is call without its defer and its list.
func (l *library) test(handle *uintptr, flag *int32) error {
	l.mu.Lock()
	r, _, _ := purego.SyscallN(l.Test, at(handle), at(flag), 0)
	l.mu.Unlock()
	if int32(r) == 0 {
		return nil
	}
	return l.failure(r)
}

func (l *library) locked(f uintptr, args ...uintptr) error {
	r, _, _ := purego.SyscallN(f, args...)
	if int32(r) == 0 {
		return nil
	}
	return l.failure(r)
}

// failure returns the text of an error code.
func (l *library) failure(r uintptr) error {
	text, n := new([512]byte), new(int32)
	purego.SyscallN(l.ErrorString, r, at(text), at(n))
	return fmt.Errorf("MPI: %s", text[:min(max(*n, 0), 512)])
}
