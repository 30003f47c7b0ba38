// Package features turns records into feature vectors: the rows of a table, and any data nested in them.
//
// A [Schema] follows the Spec of the records. Numbers are scaled. Strings are categories, looked
// up in a vocabulary and embedded. A list becomes the mean of its items and their number, and
// a record, or a list of records, the concatenation of its fields. Options override this
// for single paths.
//
//	s, err := features.NewSchema(orders.Spec().(*structured.Spec), features.Options{
//		Columns: map[string]features.Column{"customer.id": {Kind: features.Skip}, "items.size": {Kind: features.OneHot}},
//	})
//	err = s.Update(orders) // as often as there are batches
//	enc, err := s.Encoder(key)
//	x := enc.Apply(orders) // [rows, enc.Width()]
//
// [Fit] does all this in one step. An [Encoder] is a layer like those of package nn: training
// changes its embeddings, while scales and vocabularies are fixed and saved with it. Apply
// consists of operations, so it runs in traced functions, in servers and on any number of records.
//
// A path consists of field names joined by dots; lists do not appear in it.
//
// Stability: experimental.
package features
