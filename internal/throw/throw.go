package throw

import "fmt"

type carrier struct{ err error }

// Error makes an uncaught carrier print as the error it carries.
func (c carrier) Error() string { return c.err.Error() }

// Unwrap returns the carried error, for errors.Is and errors.As.
func (c carrier) Unwrap() error { return c.err }

// Throw panics with err. It does nothing if err is nil.
func Throw(err error) {
	if err != nil {
		panic(carrier{err})
	}
}

// Recovered reports whether r, a value returned by recover, was thrown, and if so stores the error
// it carries in err.
func Recovered(r any, err *error) bool {
	c, ok := r.(carrier)
	if ok {
		*err = c.err
	}
	return ok
}

// Again continues a panic that was recovered but is not ours.
func Again(r any) { panic(r) }

// Bug panics with a formatted string: a caller inside the module has broken a rule that no user
// input can break.
func Bug(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
