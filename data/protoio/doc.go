// Package protoio exchanges Specs and data with TensorFlow through protocol
// buffers.
//
// # Specs
//
// [AppendStructure] and [DecodeStructure] write and read StructuredValue, the
// message by which TensorFlow stores signatures: nested plain data and Specs
// (TypeSpecProto). Plain data are a [tenon.Encoding].
//
// # Examples
//
// [ParseExamples] turns serialized tf.Example messages into columns: dense, ragged
// and sparse tensors, as [Features] ask for; [ParseSequenceExamples] does it for
// tf.SequenceExample, and [ParseStructured] makes one structured tensor of them.
// [InferFeatures] looks at messages and says what is in them. [AppendExample],
// [EncodeExamples] and [EncodeSequenceExamples] write messages.
//
// A message is read in one pass over its bytes, without a message object: the lists
// of the features that were asked for are decoded to the end of growing columns, all
// else is skipped. Batches are divided among the processors.
//
// # Records
//
// [RecordReader] and [RecordWriter] stream TFRecord files, which hold messages with
// checksums, as they are or compressed.
//
// Nothing in here allocates by a length that only a message claims, and every
// message that is not well-formed is a [*tenon.Error] that names the place.
//
// Stability: stable.
package protoio
