package coords

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/named"
)

// Labels are the labels along a dimension, one for each position. They are all strings, all int64,
// or all float64. They are immutable.
type Labels struct {
	list []any
	at   map[any]int
}

// A Coordinate is a dimension with its labels.
type Coordinate struct {
	Name   named.Name
	Labels *Labels
}

// Along returns labels along a dimension: strings, integers or floating-point numbers, individually
// or as slices. It throws if they are of several kinds, or one occurs twice.
func Along[N named.Is[N]](labels ...any) Coordinate {
	var n N
	name, ok := any(n).(named.Name)
	if !ok {
		fail(tenon.ErrInvalid, "coords.Along", "%T is not a name", n)
	}
	return AlongName(name, labels...)
}

// AlongName is [Along] for a name that is a value.
func AlongName(n named.Name, labels ...any) Coordinate {
	return Coordinate{n, tenon.Must(NewLabels(labels...))}
}

// NewLabels returns labels: strings, integers or floating-point numbers, individually or as slices.
func NewLabels(labels ...any) (*Labels, error) {
	l := &Labels{at: map[any]int{}}
	for _, x := range labels {
		v := reflect.ValueOf(x)
		if v.IsValid() && v.Kind() == reflect.Slice {
			for i := range v.Len() {
				if err := l.add(v.Index(i)); err != nil {
					return nil, err
				}
			}
			continue
		}
		if err := l.add(v); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *Labels) add(v reflect.Value) error {
	x, err := label(v)
	if err != nil {
		return err
	}
	if len(l.list) > 0 && reflect.TypeOf(l.list[0]) != reflect.TypeOf(x) {
		return tenon.NewError(tenon.ErrDType, "coords.NewLabels", fmt.Sprintf("labels are all strings, all integers or all floating-point numbers: %s follows %s", text(x), text(l.list[0])))
	}
	if at, twice := l.at[x]; twice {
		return tenon.NewError(tenon.ErrInvalid, "coords.NewLabels", fmt.Sprintf("the label %s occurs twice, at %d and %d", text(x), at, len(l.list)))
	}
	l.at[x] = len(l.list)
	l.list = append(l.list, x)
	return nil
}

// label converts a Go value to a label.
func label(v reflect.Value) (any, error) {
	switch {
	case !v.IsValid():
	case v.Kind() == reflect.Interface:
		return label(v.Elem())
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.CanInt():
		return v.Int(), nil
	case v.CanFloat() && !math.IsNaN(v.Float()):
		return v.Float() + 0, nil // -0 is 0
	}
	return nil, tenon.NewError(tenon.ErrDType, "coords.NewLabels", fmt.Sprintf("a label is a string, an integer or a floating-point number, not %v", v))
}

func text(x any) string {
	switch x := x.(type) {
	case string:
		return strconv.Quote(x)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(x)
}

// Len returns the number of labels.
func (l *Labels) Len() int { return len(l.list) }

// At returns the label at a position: a string, an int64 or a float64.
func (l *Labels) At(i int) any { return l.list[i] }

// Position returns the position of a label, and false if there is no such label. The label may be
// given as any Go string or number.
func (l *Labels) Position(x any) (int, bool) {
	y, err := label(reflect.ValueOf(x))
	if err != nil {
		return 0, false
	}
	if len(l.list) > 0 {
		switch l.list[0].(type) {
		case float64:
			if n, ok := y.(int64); ok {
				y = float64(n)
			}
		case int64:
			if f, ok := y.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
				y = int64(f)
			}
		}
	}
	at, ok := l.at[y]
	return at, ok
}

// Equal reports whether two lists have the same labels in the same order.
func (l *Labels) Equal(m *Labels) bool { return l == m || slices.Equal(l.list, m.list) }

// String returns "[2020 2021]", abbreviated if there are many.
func (l *Labels) String() string {
	s := "["
	for i, x := range l.list {
		if i > 0 {
			s += " "
		}
		if i == 3 && len(l.list) > 7 {
			s += "… " + text(l.list[len(l.list)-1])
			break
		}
		s += text(x)
	}
	return s + "]"
}

// pick returns the labels at the given positions.
func (l *Labels) pick(positions []int64) *Labels {
	m := &Labels{at: map[any]int{}}
	for _, p := range positions {
		x := l.list[p]
		if _, twice := m.at[x]; twice {
			fail(tenon.ErrInvalid, "coords.Select", "the label %s is selected twice", text(x))
		}
		m.at[x] = len(m.list)
		m.list = append(m.list, x)
	}
	return m
}

// encode returns the labels as plain data.
func (l *Labels) encode() tenon.Encoding {
	out := make(tenon.List, len(l.list))
	for i, x := range l.list {
		switch x := x.(type) {
		case string:
			out[i] = tenon.Str(x)
		case int64:
			out[i] = tenon.Int(x)
		case float64:
			out[i] = tenon.Float(x)
		}
	}
	return out
}

func decodeLabels(list tenon.List) (*Labels, error) {
	out := make([]any, len(list))
	for i, x := range list {
		switch x := x.(type) {
		case tenon.Str:
			out[i] = string(x)
		case tenon.Int:
			out[i] = int64(x)
		case tenon.Float:
			if out[i] = float64(x); x == 0 {
				out[i] = 0.0
			}
		default:
			return nil, tenon.NewError(tenon.ErrInvalid, "coords.Spec", "a label is a string or a number")
		}
	}
	return NewLabels(out...)
}

func fail(kind error, fn, format string, args ...any) {
	tenon.Throw(tenon.NewError(kind, fn, fmt.Sprintf(format, args...)))
}
