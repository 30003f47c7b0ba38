// Package protoio exchanges Specs and data with TensorFlow through protocol
// buffers.
//
// # Specs
//
// [AppendStructure] and [DecodeStructure] write and read StructuredValue, the
// message in which TensorFlow stores signatures: nested plain data and Specs
// (TypeSpecProto). Plain data is a [tenon.Encoding].
//
// # Examples
//
// [ParseExamples] converts serialized tf.Example messages into columns: dense, ragged
// and sparse tensors, as described by [Features]. [ParseSequenceExamples] does the same for
// tf.SequenceExample, and [ParseStructured] returns one structured tensor.
// [InferFeatures] infers the features from messages. [AppendExample],
// [EncodeExamples] and [EncodeSequenceExamples] write messages.
//
// A message is parsed in one pass over its bytes, without a message object: the lists
// of the requested features are appended to columns, and everything
// else is skipped. Batches are divided among the processors.
//
// # Records
//
// [RecordReader] and [RecordWriter] stream TFRecord files, which hold messages with
// checksums, optionally compressed.
//
// No function allocates by a length that only a message claims. Every malformed message
// gives a [*tenon.Error] that names the position.
//
// Stability: stable.
package protoio
