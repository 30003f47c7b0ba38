// Package archtest holds the architecture of the module as tests: who may import
// whom ([Order]), that exported identifiers are documented, that nothing panics
// outside internal/throw, and what else a reader of the source may count on.
package archtest
