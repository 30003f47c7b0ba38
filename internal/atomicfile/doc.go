// Package atomicfile writes files that are either whole or not there.
package atomicfile
