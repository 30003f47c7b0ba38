// Package beamio lets pipelines of Apache Beam work on Values: on one machine, or on the workers of
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
// An element of a collection is a [Batch]: the rows of a Value of any type, such as some thousand records, and a
// number that says where they come from. Between workers it is the Spec and the columns of the Value. A
// type that a worker does not know arrives as a tenon.OpaqueValue.
//
// # Functions
//
// Workers are processes of the same program, which get no closures. So functions are defined at package level, under
// a name ([Traced], [Go]), and pipelines refer to them. Beam may call a function again for the same batch, after a
// fault: it should depend on its argument alone.
//
// # Order
//
// Beam keeps no order. Batches have numbers, by which [Write] and [GroupBy] put them in order: what is
// written is the same, byte for byte, on every runner and for any number of workers, and the same that a
// loop over a dataset of the files writes.
//
// # Files
//
// [Read] and [Write] know JSON lines, Parquet, Arrow IPC files and TFRecord, in the file systems of
// Beam: import the package of another than the local one, such as beam/io/filesystem/gcs. A file is read by one
// worker, so that data belong in several files, of a hundred megabytes or so. The rows of a batch, and those that
// GroupBy brings into one partition or Write into one file, have to fit into memory.
//
// # Runners
//
// Pipelines use ParDo, GroupByKey and Reshuffle alone, which all runners have. The runner is chosen by Beam's flags;
// docs/distributed.md has the commands.
//
// The package is a module of its own, since Beam's dependencies are many.
//
// Stability: experimental.
package beamio
