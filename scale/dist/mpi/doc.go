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
// MPICH waits by spinning, so more ranks than cores on one machine are far slower than one rank. They cause a warning,
// which takes into account the cores that ranks are bound to. If ranks and Go's threads together outnumber the cores,
// set MPIR_CVAR_ENABLE_HEAVY_YIELD=1. If GOMAXPROCS is not set, it becomes the number of cores for each rank of a
// machine.
//
// # Dead ranks
//
// Ranks that fail tell the others why. If a process dies, the ranks of the same machine that wait for it notice within
// a second and tell the others; if a machine dies, its ranks are missed after [dist.Options].Timeout. In all cases the
// errors name the rank, the processes end with a status other than 0, and the launcher ends the job. MPI cannot repair
// a group: restart the job from the last checkpoint.
//
// A launcher may act first. MPICH's mpiexec kills all processes of a machine as soon as it sees that one was ended by a
// signal, in some cases even with -disable-auto-cleanup, and names the process instead of the rank. To let the other
// ranks report the error, hide the signal by a shell:
//
//	mpiexec -disable-auto-cleanup -n 2 sh -c 'trap "" USR1; "$0" "$@"; exit $?' ./program
//
// Stability: experimental.
package mpi
