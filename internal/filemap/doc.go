// Package filemap returns the bytes of files, without copying them if the system supports it.
package filemap
