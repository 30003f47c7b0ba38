// Package zipbounds says what the records of a ZIP archive can be, so that no reader of one
// from elsewhere allocates, or decompresses, more than the archive holds.
package zipbounds
