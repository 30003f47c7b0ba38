package elementwise

import "testing"

// eachFamily runs a test with every family of kernels that this machine can run.
func eachFamily(t *testing.T, f func(t *testing.T)) {
	forget := func() { // what was built for another family
		for i := range cached {
			cached[i].Store(nil)
		}
	}
	defer forget()
	for family := range table.Each() {
		forget()
		t.Run(family.String(), f)
	}
}
