package throw

import "fmt"

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

// Bug panics with a text: a caller inside the module has broken a rule that no
// argument of a user can break.
func Bug(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
