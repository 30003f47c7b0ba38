package protoio

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/internal/source"
)

// eachField is [message.Each] with errors of this package.
func eachField(b []byte, f func(t message.Tag, n uint64, data []byte) error) error {
	err := message.Each(b, f)
	var e *message.Error
	if errors.As(err, &e) {
		return fail(tenon.ErrInvalid, fmt.Sprintf("byte %d", e.At), "%v", e)
	}
	return err
}

// fail returns an error of the package.
func fail(kind error, where, format string, args ...any) error {
	return &tenon.Error{Kind: kind, Op: "protoio", Where: where, Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}
