// Package dist lets the processes of a job work together: it reduces, gathers and moves tensors
// and other Values among them.
//
// # Ranks
//
// A [Comm] is a group of ranks, numbered from 0, of which each runs the same program. There are
// three ways to get one:
//
//   - package dist/mpi: the processes that an MPI launcher has started;
//   - [Simulate]: goroutines of one process, for tests and for trying things out;
//   - [Alone]: a group of one.
//
// All ranks call the same collective operations in the same order, each with its own data:
//
//	sum, err := comm.AllReduce(ctx, x, dist.Sum)
//
// [Comm.Split] makes smaller groups, such as the columns of a mesh.
//
// # As operations
//
// In a traced function the functions [AllReduce], [AllGather], [ReduceScatter], [AllToAll],
// [Broadcast] and [Shift] are operations with gradients. The context of the call tells which ranks
// take part: [With] puts them there. The gradient is that of the sum of what all ranks compute.
//
// # Reductions
//
// A [Reduction] is an elementwise operation that combines two, by its name in the catalogue. MPI
// sums, multiplies and compares by itself. For everything else, and in the simulation, each rank
// combines a part of the elements in the order of the ranks and sends the result to all: the
// bytes that are moved are the same. Half floats are reduced in float32.
//
// # When something goes wrong
//
// Before data move, ranks tell each other what they are about to do. Where they disagree about the
// operation, the element type, the shape or the Spec, all of them return an error that says what each
// one called. A rank that fails tells the others the reason ([Comm.Fail], which [Main] and [Simulate]
// call). Whoever waits for longer than [Options].Timeout asks who else is waiting, and the error
// names those who do not answer. An error is final: every later call returns it. Go on from a
// checkpoint, with as many ranks as there are.
//
// Stability: experimental.
package dist
