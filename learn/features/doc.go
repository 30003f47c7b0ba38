// Package features makes vectors of records: of the rows of a table, and of whatever is nested in them.
//
// A [Schema] follows the Spec of the records. Numbers are scaled, strings are categories, which are
// looked up in a vocabulary and embedded, a list is the mean of its items and how many they are, and
// a record, or a list of records, is what its fields are, one behind the other. Options say
// otherwise, path by path.
//
//	s, err := features.NewSchema(orders.Spec().(*structured.Spec), features.Options{
//		Columns: map[string]features.Column{"customer.id": {Kind: features.Skip}, "items.size": {Kind: features.OneHot}},
//	})
//	err = s.Update(orders) // as often as there are batches
//	enc, err := s.Encoder(key)
//	x := enc.Apply(orders) // [rows, enc.Width()]
//
// [Fit] does it in one step. An [Encoder] is a layer as those of package nn are: its embeddings
// are trained, while scales and vocabularies are saved with it and stay as they are. Apply is
// made of operations, so it runs in traced functions, in servers and on records of any length.
//
// A path is the names of fields with a point between them; lists add nothing to it.
//
// Stability: experimental.
package features
