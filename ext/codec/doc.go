// Package codec contains the functions called by the code that cmd/tenongen generates. Other programs
// do not need it: package ext registers types without generated code.
//
// Stability: experimental.
package codec
