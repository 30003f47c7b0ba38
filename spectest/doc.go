// Package spectest tests that a type of Value obeys the laws that the rest of
// Tenon relies on.
//
// The author of a type calls [Laws] from a test, with a few values that
// differ in sizes and static data, including empty ones.
//
//	func TestLaws(t *testing.T) {
//		spectest.Laws(t, spectest.Options{}, graphs.New(…), graphs.Empty())
//	}
//
// The laws are those of tenon.Value and tenon.Spec. A Spec survives a round trip through its text and
// binary form. A value flattens into the components that its Spec names,
// packs again, and shares no memory with its Spec. Wrong components give a *tenon.Error. Equal,
// Subtype, Compatible and Merge form an order. Key agrees with Equal. Batching and
// boxing, if a type has them, can be undone. No encoding, however hostile,
// causes a panic.
//
// Stability: experimental.
package spectest
