// Package mpi lets the processes that an MPI launcher has started work together as the ranks of
// package dist:
//
//	func main() { mpi.Main(func(ctx context.Context, c *dist.Comm) error { … }) }
//
//	mpiexec -n 2 ./program
//
// It calls a library with the standard ABI of MPI 5.0, without cgo: libmpi_abi, which MPICH 5 and
// other implementations bring. A program that nobody launched runs as the only rank, and needs no
// library.
//
// # The library
//
// It is looked for in this order:
//
//  1. the file that the environment variable TENON_MPI_LIBRARY names;
//  2. libmpi_abi.so.1 (on macOS libmpi_abi.1.dylib, libmpi_abi.dylib) where the system's loader looks, which
//     LD_LIBRARY_PATH adds to;
//  3. the folder lib beside the folder of the launcher mpiexec in PATH, as in a Python
//     environment in which "pip install mpich" was run.
//
// # Launchers
//
// A process has been launched where the environment has PMI_SIZE, PMI_RANK, PMIX_RANK or
// OMPI_COMM_WORLD_SIZE, or where TENON_MPI is "on"; with "off" it never is.
//
// # Cores
//
// MPICH waits by spinning. More ranks than cores on one machine are far slower than one, and give
// a warning. Where ranks and Go's threads together outnumber the cores, set
// MPIR_CVAR_ENABLE_HEAVY_YIELD=1; GOMAXPROCS, if it is not set, becomes the number of cores for
// each rank of a machine.
//
// # When a rank dies
//
// Ranks that fail tell the others why; those that are killed are missed ([dist.Options].Timeout). In both
// cases the processes end with a status other than 0, and the launcher ends the job. MPI does not mend a
// group: start the job again, from the last checkpoint.
//
// Stability: experimental.
package mpi
