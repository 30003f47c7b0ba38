// Package filemap gives the bytes of files without copying them, where the system can.
package filemap
