package stream

import "testing"

// eachFamily runs a test with every family of kernels that this machine can run.
func eachFamily(t *testing.T, f func(t *testing.T)) {
	for family := range table.Each() {
		t.Run(family.String(), f)
	}
}
