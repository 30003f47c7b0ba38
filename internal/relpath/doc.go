// Package relpath checks whether untrusted names of files, from archives, models and repositories,
// are paths inside a folder on every system.
package relpath
