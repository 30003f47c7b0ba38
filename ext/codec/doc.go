// Package codec holds what the code that cmd/tenongen writes is made of. Nobody else
// needs it: types are registered with package ext, which works without such code.
//
// Stability: experimental.
package codec
