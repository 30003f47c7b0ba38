// Package dataset feeds loops with elements, in an order that is a function of a number.
//
//	data := dataset.FromRows(records).Shuffle(seed).Repeat(10).
//		Batch(512, dataset.BatchOptions{Kind: dataset.Ragged}).Prefetch(4)
//	for batch, err := range data.All(ctx) { … }
//
// An element is a Value, or a structure of Values that package nest walks, of one Go
// type T. [FromRows] makes a dataset of the rows of any Values, [FromSlice] one of Go
// data, [FromSeq] and [FromBatches] of iterators, such as jsonl.Batches.
//
// # Numbers and positions
//
// A dataset is numbered, or a stream. A numbered one has a length, and computes element i from i
// alone ([Dataset.At]); a stage of it is a function of numbers and holds no state. The position
// of a loop is one integer, the number of elements that it has had, and [Dataset.From] goes on
// there, without reading what was before:
//
//	for batch, err := range data.From(ctx, position) { position++; … }
//
// Of a stream only reading tells where an element is. Its position is a state of some bytes, which
// a [Cursor] gives after each element, and with which another process goes on.
//
//	numbered stages   Shuffle, ShuffleBlocks, Take, Skip, Split, SplitBy, Folds, Repeat, Map,
//	                  MapIndexed, Enumerate, Zip, Concat, Interleave, Mix, Batch, Window, Pack,
//	                  Share; Unbatch and FlatMap where all elements have as many rows
//	streams           Filter, TakeWhile, Unique, Scan, SkipErrors, Bucket, GroupByWindow,
//	                  ShuffleWindow, Cycle, what is made of iterators, and what is made of streams
//
// Filter becomes numbered where a stage asks for it: its condition is then computed for all
// elements once. [Dataset.Cache] makes numbers of any stream, by writing it to files.
//
// A shuffle is a permutation computed from the seed, over all elements, another one in
// each epoch: elements beyond the last number are those of the next epoch, which is what
// Repeat reads. Where elements are read by blocks, as those of files are, ShuffleBlocks needs
// a window of blocks at a time.
//
// What stands behind a shuffle as a part of it, by Take, Skip or [Dataset.Split], is the same
// part in each epoch, so that a part to train on and one to test on do not mix:
//
//	parts := data.Shuffle(seed).Split(0.9, 0.1)
//	train, test := parts[0].Shuffle(seed).Repeat(10), parts[1]
//
// [Reduce] is a loop over the elements with a carry, which a traced function has as one operation
// of its graph.
//
// Several processes train on the parts of each batch that [Dataset.Share] gives them; what a
// batch is, and where a run is, do not depend on how many there are.
//
// # Cost
//
// Rows that come in order or shuffled into a batch are gathered from the columns in one
// step for each field; rows that were mapped one by one are stacked, which is slower.
// So: batch first, then map whole batches.
//
// Nothing runs before a loop starts, and everything has stopped when the loop ends,
// however it ends. Only [Dataset.Prefetch] uses goroutines: it computes elements ahead,
// several at once, and delivers them in their order. What is delivered does not depend on how
// many there are, as long as mapped functions are pure. [Dataset.Measure] tells what the
// stages do.
//
// # Errors
//
// An error ends the loop, as an [*ElementError] that has the number of the element in the
// dataset where it arose. A panic of a function that runs under Prefetch is one as well, with
// its stack. [Dataset.SkipErrors] leaves out some elements that cannot be computed.
//
// Stability: stable.
package dataset
