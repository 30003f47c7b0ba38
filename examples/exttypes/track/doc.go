// Package track is the type that docs/extension-types.md walks through: the positions of a
// moving object and the times at which it was there.
package track
