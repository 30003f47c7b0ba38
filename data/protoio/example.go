package protoio

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// ParseExamples reads serialized tf.Example messages and returns a tensor for each requested
// feature, whose first dimension is that of the messages. It returns an error of kind ErrInvalid
// that names the example and the feature if a message is malformed, if a list has a different
// element type or length than requested, or if a feature without a default is missing.
//
// Messages are interpreted as protocol buffers prescribe: if a feature or list occurs twice, the
// last one counts; numbers may be packed or not; and unknown fields are skipped.
func ParseExamples(messages [][]byte, fs Features, o ParseOptions) (map[string]tensor.Tensor, error) {
	p, err := newPlan(fs, o)
	if err != nil {
		return nil, err
	}
	columns, err := parse(p, messages, false, (*scanner).example)
	if err != nil {
		return nil, err
	}
	return build(p, columns, o, (*column).result)
}

// ParseExample is [ParseExamples] for a single message: the results lack the dimension of the
// messages. A [Ragged] feature without partitions then is a vector.
func ParseExample(message []byte, fs Features, o ParseOptions) (map[string]tensor.Tensor, error) {
	p, err := newPlan(fs, o)
	if err != nil {
		return nil, err
	}
	columns, err := parse(p, [][]byte{message}, false, (*scanner).example)
	if err != nil {
		return nil, err
	}
	return build(p, columns, o, (*column).single)
}

// ParseStructured is [ParseExamples] with the results as the fields of a tensor of records, one
// record for each message. A [VarLen] feature is an error, because records cannot have sparse
// fields; use a [Ragged] one.
func ParseStructured(messages [][]byte, fs Features, o ParseOptions) (*structured.Tensor, error) {
	for _, name := range sortedKeys(fs) {
		if _, ok := fs[name].(VarLen); ok {
			return nil, fail(tenon.ErrUnsupported, name, noSparseField)
		}
	}
	columns, err := ParseExamples(messages, fs, o)
	if err != nil {
		return nil, err
	}
	return structured.FromFields(recordFields(columns), shape.Of(len(messages)), structured.Options{})
}

const noSparseField = "records cannot have sparse fields; use a Ragged feature"

// recordFields returns columns as fields of records, sorted by name.
func recordFields(columns map[string]tensor.Tensor) []structured.Field {
	fields := make([]structured.Field, 0, len(columns))
	for _, name := range sortedKeys(columns) {
		fields = append(fields, structured.Field{Name: name, Value: columns[name]})
	}
	return fields
}

// build makes the results from columns.
func build(p *plan, columns []column, o ParseOptions, f func(*column, *builder) (tensor.Tensor, error)) (m map[string]tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	m = make(map[string]tensor.Tensor, len(p.results))
	for i := range p.results {
		r := &p.results[i]
		t, err := f(&columns[r.source], &builder{plan: p, result: r, columns: columns, o: o})
		if err != nil {
			return nil, err
		}
		m[r.name] = t
	}
	return m, nil
}

// A builder holds the parameters for making the tensor of a feature.
type builder struct {
	*plan
	*result
	columns []column
	o       ParseOptions
	steps   []int64 // for feature lists: the splits of examples into rows
}

// at returns an error about a row.
func (b *builder) at(row int, format string, args ...any) error {
	where := fmt.Sprintf("example %d", row)
	if b.steps != nil {
		e := 0
		for b.steps[e+1] <= int64(row) {
			e++
		}
		where = fmt.Sprintf("example %d, step %d", e, int64(row)-b.steps[e])
	}
	return fail(tenon.ErrInvalid, fmt.Sprintf("%s, feature %q", where, b.keys[b.source]), format, args...)
}

// result returns a column in the form that the feature requests.
func (c *column) result(b *builder) (tensor.Tensor, error) {
	switch f := b.feature.(type) {
	case Fixed:
		return c.fixed(b, f)
	case VarLen:
		return c.varLen()
	case Sequence:
		return c.sequence(b, f)
	case Ragged:
		return c.ragged(b, f)
	}
	return nil, fail(tenon.ErrUnsupported, b.name, "unknown feature type %T", b.feature)
}

// single is result for the only row, without the dimension of rows.
func (c *column) single(b *builder) (tensor.Tensor, error) {
	switch f := b.feature.(type) {
	case VarLen:
		return c.varLenRow()
	case Ragged:
		return c.raggedRow(b, f)
	}
	t, err := c.result(b)
	if err != nil {
		return nil, err
	}
	return ops.Squeeze(t, 0), nil
}

// reshape gives a vector of values a different shape.
func reshape(t tensor.Tensor, s shape.Shape) tensor.Tensor {
	switch t := t.(type) {
	case *tensor.Strings:
		return t.Reshaped(s)
	case *tensor.Dense:
		return t.Reshaped(s)
	}
	return ops.Reshape(t, s.Dims())
}

// fixed returns [rows, shape…].
func (c *column) fixed(b *builder, f Fixed) (tensor.Tensor, error) {
	n := f.Shape.Size()
	if !f.Shape.IsFull() {
		return nil, fail(tenon.ErrShape, b.name, "the shape %v of a fixed feature must be fully known", f.Shape)
	}
	full, err := withOuter(b.name, f.Shape, c.rows())
	if err != nil {
		return nil, err
	}
	fill, err := filler(b.name, f.DType, f.Default, n)
	if err != nil {
		return nil, err
	}
	values := c.values
	if c.uniform(n) {
		return reshape(values, full), nil
	}
	for i := range c.rows() {
		switch got := c.splits[i+1] - c.splits[i]; {
		case !c.has(i) && fill == nil:
			return nil, b.at(i, "is missing and has no default")
		case c.has(i) && got != int64(n):
			return nil, b.at(i, "has %d values, not %d", got, n)
		}
	}
	if c.missing != nil {
		values = c.padded(n, fill)
	}
	return reshape(values, full), nil
}

// withOuter returns a shape preceded by outer dimensions.
func withOuter(name string, s shape.Shape, outer ...int) (shape.Shape, error) {
	full, err := shape.From(append(outer, s.Dims()...))
	if err == nil {
		_, err = full.CheckedSize(16)
	}
	if err != nil {
		return s, fail(tenon.ErrShape, name, "%v", err)
	}
	return full, nil
}

// filler returns the default elements, as many as an item has, or nil without a default.
func filler(name string, d dtype.DType, x any, n int) (tensor.Tensor, error) {
	if x == nil {
		return nil, nil
	}
	t, ok := x.(tensor.Tensor)
	if !ok {
		var err error
		if t, err = tensor.Const(x, tensor.Options{DType: d}); err != nil {
			return nil, err
		}
	}
	switch size := t.Shape().Size(); {
	case t.DType() != d:
		return nil, fail(tenon.ErrDType, name, "the default is %v, but the feature is %v", t.DType(), d)
	case size == n:
		return reshape(t, shape.Of(n)), nil
	case size == 1:
		return ops.BroadcastTo(reshape(t, shape.Of(1)), []int{n}), nil
	default:
		return nil, fail(tenon.ErrShape, name, "the default has %d elements, want 1 or %d", size, n)
	}
}
