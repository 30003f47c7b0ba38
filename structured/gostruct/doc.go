// Package gostruct makes records of Go structs, and Go structs of records.
//
// [From] and [To] go there and back; [Builder] collects structs that come one after another,
// and [SpecOf] tells what the records of a type are without any. Values are read and
// written where they lie in memory, a block of structs and a field at a time.
//
// Stability: stable.
package gostruct
