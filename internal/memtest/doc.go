// Package memtest tells tests how much memory a process holds at once: the heap of a process of its own,
// with what was there before left out, text that is mapped or decompressed included.
package memtest
