// Package track is the type that docs/extension-types.md walks through: where something
// that moves was, and when.
package track
