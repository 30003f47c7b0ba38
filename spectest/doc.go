// Package spectest tests a type of Value against everything that the rest of
// Tenon takes for granted of it.
//
// Whoever writes a type calls [Laws] from a test, with a few of its values that
// differ: in sizes, in static data, empty ones.
//
//	func TestLaws(t *testing.T) {
//		spectest.Laws(t, spectest.Options{}, graphs.New(…), graphs.Empty())
//	}
//
// The laws are those of tenon.Value and tenon.Spec: a Spec survives its text and
// binary form; a value comes apart into the components that its Spec names and
// goes together again and shares no memory with its Spec; wrong components are refused with a *tenon.Error; Equal,
// Subtype, Compatible and Merge form an order; Key agrees with Equal; batching and
// boxing, where a type has them, can be undone; no encoding, however hostile,
// makes it panic.
//
// Stability: experimental.
package spectest
