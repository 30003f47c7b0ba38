//go:build !linux && !darwin

package mpi

import (
	"runtime"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/scale/dist"
)

// world is an error: the loader of shared libraries is used on Linux and macOS only.
func world(dist.Options) (*dist.Comm, error) {
	return nil, tenon.NewError(tenon.ErrUnsupported, "dist/mpi", "MPI is not supported on "+runtime.GOOS)
}
