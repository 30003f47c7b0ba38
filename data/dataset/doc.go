// Package dataset feeds training and other loops with elements, in a reproducible order.
//
//	data := dataset.FromRows(records).Shuffle(seed).Repeat(10).
//		Batch(512, dataset.BatchOptions{Kind: dataset.Ragged}).Prefetch(4)
//	for batch, err := range data.All(ctx) { … }
//
// An element is a Value, or a structure of Values that package nest walks, of one Go
// type T. [FromRows] makes a dataset of the rows of any Values, [FromSlice] one of Go
// data, and [FromSeq] and [FromBatches] make one of iterators, such as jsonl.Batches.
//
// # Numbered datasets and streams
//
// A dataset is either numbered or a stream. A numbered dataset has a length and computes
// element i from i alone ([Dataset.At]); its stages are functions of numbers and hold no
// state. The position in a loop is a single integer, the number of elements already
// delivered. [Dataset.From] continues from there without reading the elements before:
//
//	for batch, err := range data.From(ctx, position) { position++; … }
//
// A stream has to be read from its start. The position in a stream is a state of some bytes.
// A [Cursor] returns it after each element, and another process can continue from it.
//
//	numbered stages   Shuffle, ShuffleBlocks, Take, Skip, Split, SplitBy, Folds, Repeat, Map,
//	                  MapIndexed, Enumerate, Zip, Concat, Interleave, Mix, Batch, Window, Pack,
//	                  Share; Unbatch and FlatMap where all elements have as many rows
//	streams           Filter, TakeWhile, Unique, Scan, SkipErrors, Bucket, GroupByWindow,
//	                  ShuffleWindow, Cycle, what is made of iterators, and what is made of streams
//
// If a stage needs a numbered dataset, Filter becomes one: its condition is computed once
// for all elements. [Dataset.Cache] makes any stream numbered by writing it to files.
//
// A shuffle is a permutation of all elements, computed from the seed, and differs in each
// epoch. Elements with numbers beyond the length belong to the next epoch; Repeat reads
// them. If elements are read in blocks, as those of files are, ShuffleBlocks holds
// only a window of blocks at a time.
//
// Take, Skip and [Dataset.Split] after a shuffle select the same elements in each
// epoch, so training and test data do not mix:
//
//	parts := data.Shuffle(seed).Split(0.9, 0.1)
//	train, test := parts[0].Shuffle(seed).Repeat(10), parts[1]
//
// [Reduce] folds the elements into a carry. In a traced function it is a single operation
// of the graph.
//
// Several processes can train on their parts of each batch, which [Dataset.Share] returns. The
// batches and the position of a run do not depend on the number of processes.
//
// # Cost
//
// Rows that come in order or shuffled into a batch are gathered from the columns in one
// step for each field; rows mapped one by one are stacked, which is slower. So batch first,
// then map whole batches.
//
// Nothing runs before a loop starts, and everything has stopped when the loop ends,
// however it ends. Only [Dataset.Prefetch] uses goroutines: it computes several elements
// ahead at a time and delivers them in order. If mapped functions are pure, the elements do
// not depend on the number of goroutines. [Dataset.Measure] measures the stages.
//
// # Errors
//
// An error ends the loop. It is an [*ElementError] with the number of the element in the
// dataset in which it occurred. A panic in a function that runs under Prefetch becomes
// such an error, with its stack. [Dataset.SkipErrors] skips elements that cannot be
// computed.
//
// Stability: stable.
package dataset
