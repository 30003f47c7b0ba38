// Package atomicfile writes files atomically: they are either complete or not there.
package atomicfile
