// Package throw holds the one way in which this module panics.
//
// Expression functions such as ops.Add return a single value, so that
// formulas read like formulas. What goes wrong inside them is thrown: a panic
// with a carrier that is private to this package. Who recovers asks [Recovered]
// whether a panic is one of ours, and lets every other one pass with [Again].
package throw

type carrier struct{ err error }

// Error lets a carrier that nobody caught print as the error it carries.
func (c carrier) Error() string { return c.err.Error() }

// Unwrap gives errors.Is and errors.As the carried error.
func (c carrier) Unwrap() error { return c.err }

// Throw panics with a carrier of err. It does nothing for a nil error.
func Throw(err error) {
	if err != nil {
		panic(carrier{err})
	}
}

// Recovered reports whether r, which recover returned, was thrown, and stores
// the error it carries.
func Recovered(r any, err *error) bool {
	c, ok := r.(carrier)
	if ok {
		*err = c.err
	}
	return ok
}

// Again goes on with a panic that was recovered but is not ours.
func Again(r any) { panic(r) }
