// Package relpath tells which names from elsewhere, of files in archives, models and
// repositories, are paths inside a folder on every system.
package relpath
