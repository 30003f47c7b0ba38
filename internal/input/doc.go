// Package input opens data to read: memory, readers and files, compressed or not.
package input
