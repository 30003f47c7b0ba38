// Package bad has types that the generator rejects.
package bad
