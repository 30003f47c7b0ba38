// Package stated derives what operations do to the names of dimensions from their statements. Named
// tensors rely on it when they answer operations, and the checker of dimensions when it predicts
// the answers.
package stated
