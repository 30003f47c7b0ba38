// Package archtest tests the architecture of the module: which packages may import which others
// ([Order]), that exported identifiers are documented, that nothing panics outside of
// internal/throw, and other rules that readers of the source can rely on.
package archtest
