// Package bad has types that the generator refuses.
package bad
