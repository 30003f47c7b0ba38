package str

import (
	"bytes"
	"errors"
	"strconv"
	"unsafe"

	"github.com/tenonml/tenon/internal/par"
)

// Integer is the set of integer types that strings can be parsed as.
type Integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// ToInt writes the decimal integer in each string to out. White space around it and a sign are
// accepted. It is an error if a string is not an integer, or does not fit.
func ToInt[T Integer](out []T, x Column) error {
	return parse(out, x, func(s string) (T, error) {
		var zero T
		bits := int(unsafe.Sizeof(zero)) * 8
		if ^zero < 0 { // signed
			v, err := strconv.ParseInt(s, 10, bits)
			return T(v), err
		}
		if len(s) > 1 && s[0] == '+' && s[1] != '+' && s[1] != '-' {
			s = s[1:]
		}
		v, err := strconv.ParseUint(s, 10, bits)
		return T(v), err
	})
}

// ToFloat writes the number in each string to out, rounded to its type. White space around it, a
// sign, an exponent, hexadecimal notation, "inf", "infinity" and "nan" are accepted; numbers that
// are too large become infinite. Anything else is an error.
func ToFloat[T float32 | float64](out []T, x Column) error {
	return parse(out, x, func(s string) (T, error) {
		bits := int(unsafe.Sizeof(T(0))) * 8
		v, err := strconv.ParseFloat(s, bits)
		if err != nil {
			if errors.Is(err, strconv.ErrRange) {
				err = nil
			} else if isHexInteger(s) {
				v, err = strconv.ParseFloat(s+"p0", bits)
			}
		}
		return T(v), err
	})
}

// isHexInteger reports whether s may be a hexadecimal number without an exponent,
// which C accepts and Go does not.
func isHexInteger(s string) bool {
	b := []byte(s)
	return bytes.ContainsAny(b, "xX") && !bytes.ContainsAny(b, "pP")
}

func parse[T any](out []T, x Column, one func(s string) (T, error)) error {
	if x.Len() <= chunk {
		return parseChunk(out, x, one, 0, x.Len())
	}
	failed := make([]error, (x.Len()+chunk-1)/chunk)
	par.For(x.Len(), chunk, func(lo, hi int) { failed[lo/chunk] = parseChunk(out, x, one, lo, hi) })
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// parseChunk is parse for the strings from lo up to hi.
func parseChunk[T any](out []T, x Column, one func(s string) (T, error), lo, hi int) error {
	for i := lo; i < hi; i++ {
		s := x.At(i)
		for len(s) > 0 && space(s[0]) {
			s = s[1:]
		}
		for len(s) > 0 && space(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		var err error
		if bytes.IndexByte(s, '_') >= 0 {
			err = strconv.ErrSyntax
		} else {
			// The string lives no longer than this call: strconv copies what its
			// errors quote.
			out[i], err = one(unsafe.String(unsafe.SliceData(s), len(s)))
		}
		if err != nil {
			return &Error{Index: i, Detail: describe(x.At(i), err)}
		}
	}
	return nil
}

func describe(s []byte, err error) string {
	const most = 40
	quoted := strconv.Quote(string(s[:min(len(s), most)]))
	if len(s) > most {
		quoted += "…"
	}
	if errors.Is(err, strconv.ErrRange) {
		return quoted + " is out of range"
	}
	return quoted + " is not a number of this type"
}
