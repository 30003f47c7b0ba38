// Package stated says what operations do to the names of dimensions, as their statements
// tell. Named tensors answer by it, and the checker of dimensions knows by it what they answer.
package stated
