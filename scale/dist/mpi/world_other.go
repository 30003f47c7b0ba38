//go:build !linux && !darwin

package mpi

import (
	"runtime"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/scale/dist"
)

// world returns an error: shared libraries are loaded on Linux and macOS only.
func world(dist.Options) (*dist.Comm, error) {
	return nil, tenon.NewError(tenon.ErrUnsupported, "dist/mpi", "MPI is not supported on "+runtime.GOOS)
}
