// Package memtest measures how much memory reading a file takes at most: the heap of a separate process,
// not counting what was there before, but including mapped or decompressed text.
package memtest
