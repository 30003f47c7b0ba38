package csvio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/internal/abort"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
)

func rowsOf(n int) shape.Shape { return shape.Of(n) }

// WriteOptions control writing. The zero value writes comma-separated text with a header.
type WriteOptions struct {
	Delim    byte   // delimiter; 0 means a comma
	NoHeader bool   // omits the header
	Missing  string // text of missing fields

	// Context ends writing when it ends, with its cause as the error. Nil means no context.
	Context context.Context
}

// WriteFile is [Write] to a file, which is compressed if its name ends in .gz or .zst. An existing
// file is replaced only after everything has been written.
func WriteFile(name string, t *structured.Tensor, o WriteOptions) error {
	err := input.WriteFile(name, func(w io.Writer) error { return Write(w, t, o) })
	var e *tenon.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "csvio.WriteFile", Where: name, Err: err, Line: source.Line()}
}

// Write writes records of rank 1, one line for each. Floats that are whole are written with a
// point, so that their type can be inferred again; a text is quoted if necessary, and also if
// it is empty or equals the text of missing fields. Lists, records, unions and maps are
// written as JSON, which the type [JSON] reads.
func Write(w io.Writer, t *structured.Tensor, o WriteOptions) error {
	const fn = "csvio.Write"
	if t.Shape().Rank() != 1 {
		return fail(tenon.ErrInvalid, fn, "", "the records have rank %d, want 1", t.Shape().Rank())
	}
	t, err := inTexts(t)
	if err != nil {
		return err
	}
	nested, err := t.ToNested()
	if err != nil {
		return err
	}
	if o.Delim == 0 {
		o.Delim = ','
	}
	w = abort.Writer(o.Context, w)
	names := t.FieldNames()
	b := &strings.Builder{}
	flush := func() error {
		_, err := io.WriteString(w, b.String())
		b.Reset()
		if err != nil {
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Err: err, Line: source.Line()}
		}
		return nil
	}
	line := func(put func(name string) error) error {
		for i, n := range names {
			if i > 0 {
				b.WriteByte(o.Delim)
			}
			if err := put(n); err != nil {
				return err
			}
		}
		b.WriteByte('\n')
		return nil
	}
	if !o.NoHeader && len(names) > 0 {
		_ = line(func(n string) error { o.text(b, n); return nil }) // writing a name cannot fail
	}
	for row, x := range nested.([]any) {
		rec, _ := x.(map[string]any)
		err := line(func(n string) error {
			if err := o.field(b, rec[n]); err != nil {
				return fail(tenon.ErrUnsupported, fn, structured.PathString([]string{n}), "row %d: %v", row, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(names) == 1 && rec[names[0]] == nil && o.Missing == "" {
			return fail(tenon.ErrUnsupported, fn, names[0], "row %d: the only field is missing and would be written as an empty line, which is not a record; set WriteOptions.Missing", row)
		}
		if b.Len() > 1<<18 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// inTexts returns records in which elements of package element, and entries that are not single values,
// are replaced by their texts.
func inTexts(t *structured.Tensor) (*structured.Tensor, error) {
	var fields []structured.Field
	some := false
	for _, name := range t.FieldNames() {
		v, err := t.Field(name)
		if err != nil {
			return nil, err
		}
		if isNested(v) {
			some = true
			v, err = inJSON(v)
		} else if _, ok := element.TypeOf(v); ok {
			some = true
			v, err = element.Texts(v)
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, structured.Field{Name: name, Value: v})
	}
	if !some {
		return t, nil
	}
	return structured.FromFields(fields, t.Shape(), structured.Options{NRows: t.NRows()})
}

// field writes a value.
func (o *WriteOptions) field(b *strings.Builder, v any) error {
	switch x := v.(type) {
	case nil:
		b.WriteString(o.Missing)
	case string:
		o.text(b, x)
	case bool:
		b.WriteString(strconv.FormatBool(x))
	case int64:
		b.WriteString(strconv.FormatInt(x, 10))
	case uint64:
		b.WriteString(strconv.FormatUint(x, 10))
	case float64:
		b.WriteString(number(x, 64))
	case float32:
		b.WriteString(number(float64(x), 32))
	case int, int8, int16, int32, uint8, uint16, uint32:
		fmt.Fprint(b, x)
	case interface{ Float32() float32 }:
		b.WriteString(number(float64(x.Float32()), 32))
	default:
		return fmt.Errorf("a text table cannot contain a %T", x)
	}
	return nil
}

// number formats a float, always with a point or an exponent.
func number(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, bits), "+")
	}
	s := strconv.FormatFloat(x, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// text writes a string.
func (o *WriteOptions) text(b *strings.Builder, s string) {
	if s != "" && s != o.Missing && !strings.ContainsAny(s, "\"\r\n"+string(rune(o.Delim))) {
		b.WriteString(s)
		return
	}
	b.WriteString(`"` + strings.ReplaceAll(s, `"`, `""`) + `"`)
}
