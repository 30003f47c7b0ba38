// Package gostruct converts between records and Go structs.
//
// [From] and [To] convert in both directions. [Builder] collects structs one by
// one, and [SpecOf] returns the Spec of a struct type's records. Conversions access
// the memory of structs directly, one field of a block of structs at a time.
//
// Stability: stable.
package gostruct
