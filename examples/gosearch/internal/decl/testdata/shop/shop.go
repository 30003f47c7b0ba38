// Package shop is read by the tests of package decl.
package shop

import "io"

// Open opens the shop that lives at addr. It fails at night.
//
// The caller closes it.
func Open(addr string, hours ...int) (s *Shop, err error) { return nil, nil }

// Shop sells things.
type Shop struct{ base }

type base struct{}

// Close shuts the door.
func (*base) Close() error { return nil }

// Sell hands over n items
// and takes the money.
func (s *Shop) Sell(n, limit int, to io.Writer) {}

func (s *Shop) undocumented() {}

//go:noinline
func directiveOnly() {}

// less orders prices.
func less(a, b float64) bool { return a < b }

// Box holds one thing.
type Box[T any] struct{ v T }

// Map turns each thing into another.
func Map[A, B any](in []A, f func(A) B) []B { return nil }

// Get gives the thing, or false.
func (b Box[T]) Get() (T, bool) { return b.v, true }
