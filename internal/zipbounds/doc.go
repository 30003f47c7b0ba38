// Package zipbounds checks the records of a ZIP archive, so that no reader of an untrusted archive
// allocates, or decompresses, more than the archive contains.
package zipbounds
