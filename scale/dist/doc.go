// Package dist provides collective operations for the processes of a job: it reduces, gathers and moves tensors
// and other Values among them.
//
// # Ranks
//
// A [Comm] is a group of ranks, numbered from 0. Each rank runs the same program. There are
// three ways to get a Comm:
//
//   - package dist/mpi: the processes started by an MPI launcher;
//   - [Simulate]: goroutines of one process, for tests and for trying things out;
//   - [Alone]: a group of one.
//
// All ranks call the same collective operations in the same order, each with its own data:
//
//	sum, err := comm.AllReduce(ctx, x, dist.Sum)
//
// [Comm.Split] makes smaller groups, such as the columns of a mesh.
//
// # Collectives as operations
//
// In a traced function, [AllReduce], [AllGather], [ReduceScatter], [AllToAll],
// [Broadcast] and [Shift] are operations with gradients. They use the ranks in the context of the
// call, which [With] puts there. The gradient is that of the sum of the results of all ranks.
//
// # Reductions
//
// A [Reduction] is an elementwise operation of two operands, by its name in the catalogue. MPI
// does sums, products and comparisons itself. For everything else, and in the simulation, each rank
// combines a part of the elements in the order of the ranks and sends the result to all, which
// moves the same number of bytes. Half floats are reduced in float32.
//
// # Failures
//
// Before moving data, ranks tell each other what they are about to do. If they disagree about the
// operation, the element type, the shape or the Spec, all of them return an error with the call of
// each rank. A rank that fails tells the others the reason ([Comm.Fail], which [Main] and [Simulate]
// call). A rank that waits longer than [Options].Timeout asks which others are waiting, and its error
// names those that do not answer. An error is final: every later call returns it. Resume from a
// checkpoint, with as many ranks as are available.
//
// Stability: experimental.
package dist
