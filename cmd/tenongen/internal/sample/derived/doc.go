// Package derived has the types of package sample without generated code, and those that
// both are made of.
package derived
