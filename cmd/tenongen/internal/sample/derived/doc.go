// Package derived has the types of package sample without generated code, and the types that
// both use.
package derived
