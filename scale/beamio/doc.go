// Package beamio lets Apache Beam pipelines work on Values, on one machine or on the workers of
// Flink, Spark or Dataflow.
//
//	var energy = beamio.Traced("energy", func(events *structured.Tensor) *structured.Tensor { … })
//
//	func main() {
//		flag.Parse()
//		beam.Init()
//		p, s := beam.NewPipelineWithRoot()
//		events := beamio.Read(s, "events-*.jsonl", beamio.ReadOptions{Schema: schema})
//		beamio.Write(s, "features/part", beamio.Map(s, energy, events), beamio.WriteOptions{Format: beamio.Parquet})
//		err := beamx.Run(context.Background(), p)
//	}
//
// # Elements
//
// An element of a collection is a [Batch]: rows of a Value of any type, such as some thousand records, and a
// number that says where they come from. Workers exchange it as the Spec and columns of the Value. A
// type that a worker does not know arrives as a tenon.OpaqueValue.
//
// # Functions
//
// Workers are processes of the same program and cannot receive closures. Functions are therefore defined at
// package level under a name ([Traced], [Go]), and pipelines refer to them by name. Beam may call a function
// again for the same batch after a failure, so it should depend only on its argument.
//
// # Order
//
// Beam does not keep elements in order. Batches are numbered, and [Write] and [GroupBy] sort them by number. The
// output is the same, byte for byte, on every runner and for any number of workers, and the same as that of a
// loop over a dataset of the files.
//
// # Files
//
// [Read] and [Write] support JSON lines, Parquet, Arrow IPC files and TFRecord, in the file systems of
// Beam. For other than local files, import the package of the file system, such as beam/io/filesystem/gcs. One worker reads
// a file as a whole, so divide data into several files, of a hundred megabytes or so. The rows of a batch, and the rows that
// GroupBy collects in one partition or Write in one file, must fit into memory.
//
// # Runners
//
// Pipelines use only ParDo, GroupByKey and Reshuffle, which all runners support. Beam's flags select the runner;
// docs/distributed.md has the commands.
//
// The package is a separate module because Beam has many dependencies.
//
// Stability: experimental.
package beamio
