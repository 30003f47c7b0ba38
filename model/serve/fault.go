package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
)

// statusGone is the status of a call whose client has disconnected, and never reads it.
const statusGone = 499

// A fault is an error with an HTTP status.
type fault struct {
	status int
	text   string
	retry  bool // the client may retry later
}

// Error returns the text.
func (f *fault) Error() string { return f.text }

func faulty(status int, format string, args ...any) *fault {
	return &fault{status: status, text: fmt.Sprintf(format, args...)}
}

func badInput(format string, args ...any) *fault {
	return faulty(http.StatusBadRequest, format, args...)
}

// faultOf returns the error that a client is told: never a source line or a stack.
func faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return faulty(http.StatusGatewayTimeout, "the deadline has passed")
	case errors.Is(err, context.Canceled):
		return faulty(statusGone, "the client has disconnected")
	}
	text := explained(err)
	for _, kind := range []error{tenon.ErrInvalid, tenon.ErrShape, tenon.ErrDType, tenon.ErrAxis, tenon.ErrRange} {
		if errors.Is(err, kind) {
			return faulty(http.StatusBadRequest, "%s", text)
		}
	}
	if errors.Is(err, tenon.ErrUnsupported) {
		return faulty(http.StatusNotImplemented, "%s", text)
	}
	return faulty(http.StatusInternalServerError, "%s", text)
}

// place matches places in source files, which are internal to the program.
var place = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s*\((at )?\S*\.go:\d+\)|\s*(at )?\S*\.go:\d+`)
})

// explained returns the text of an error in one line, without places in source files.
func explained(err error) string {
	text := place().ReplaceAllString(err.Error(), "")
	return strings.Join(strings.Fields(text), " ")
}
