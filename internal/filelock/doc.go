// Package filelock locks files between programs.
package filelock
