// Package filelock locks files across processes.
package filelock
