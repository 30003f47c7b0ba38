//go:build !unix

package saved_test

import "errors"

// pipe makes a pipe where the system has them in folders.
func pipe(string, string) error { return errors.ErrUnsupported }
