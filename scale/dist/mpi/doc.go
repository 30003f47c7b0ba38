// Package mpi connects the processes started by an MPI launcher as the ranks of
// package dist:
//
//	func main() { mpi.Main(func(ctx context.Context, c *dist.Comm) error { … }) }
//
//	mpiexec -n 2 ./program
//
// It calls a library with the standard ABI of MPI 5.0, without cgo: libmpi_abi, which is part of MPICH 5 and
// other implementations. A program started without a launcher runs as the only rank and needs no
// library.
//
// # The library
//
// The package looks for the library in this order:
//
//  1. the file named by the environment variable TENON_MPI_LIBRARY;
//  2. libmpi_abi.so.1 (on macOS libmpi_abi.1.dylib, libmpi_abi.dylib) in the search path of the system's loader,
//     including LD_LIBRARY_PATH;
//  3. the folder lib next to the folder of the launcher mpiexec in PATH, as in a Python
//     environment with "pip install mpich".
//
// # Launchers
//
// A process counts as launched if the environment has PMI_SIZE, PMI_RANK, PMIX_RANK or
// OMPI_COMM_WORLD_SIZE, or if TENON_MPI is "on"; if it is "off", it never does.
//
// # Cores
//
// MPICH waits by spinning. More ranks than cores on one machine are far slower than one, and give
// a warning, which counts the cores that ranks are bound to. If ranks and Go's threads together outnumber the cores, set
// MPIR_CVAR_ENABLE_HEAVY_YIELD=1. If GOMAXPROCS is not set, it becomes the number of cores for
// each rank of a machine.
//
// # Dead ranks
//
// Ranks that fail tell the others why. One whose process is gone is noticed within a second by those of the same
// machine that wait for it, which tell the others; ranks of machines that are gone are missed after [dist.Options].Timeout. In all
// cases the errors name the rank, the processes end with a status other than 0, and the launcher ends the job. MPI does not
// mend a group: start the job again, from the last checkpoint.
//
// A launcher may be faster. MPICH's mpiexec kills all processes of a machine as soon as it sees that a signal has ended one, with
// -disable-auto-cleanup as well where it gets to know of the end at once, and names the process instead of the rank. A shell
// between the two hides the signal, so that the other ranks have their say:
//
//	mpiexec -disable-auto-cleanup -n 2 sh -c 'trap "" USR1; "$0" "$@"; exit $?' ./program
//
// Stability: experimental.
package mpi
