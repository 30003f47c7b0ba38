// Package input opens what is read: memory, readers and files, compressed or not.
package input
