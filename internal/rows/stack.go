package rows

import (
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Join combines several tensors into one; where is the path to them within the Value.
type Join func(where string, ts []tensor.Tensor) tensor.Tensor

// Stack returns one value that holds the given ones as its rows. join combines tensors; nil means
// ops.Stack.
func Stack(values []tenon.Value, join Join) (tenon.Value, error) {
	if join == nil {
		join = func(_ string, ts []tensor.Tensor) tensor.Tensor { return ops.Stack(ts, 0) }
	}
	return together(values, "", join, func(s tenon.Spec) (tenon.Spec, error) { return BatchSpec(s, len(values)) }, 0)
}

// Concat returns one value with the rows of all the given ones, in order.
func Concat(values []tenon.Value) (tenon.Value, error) {
	join := func(_ string, ts []tensor.Tensor) tensor.Tensor { return ops.Concat(ts, 0) }
	return together(values, "", join, anyNumber, 1)
}

// together joins values; minRank is the minimum rank of their tensors.
func together(values []tenon.Value, where string, join Join, result func(tenon.Spec) (tenon.Spec, error), minRank int) (out tenon.Value, err error) {
	defer tenon.Catch(&err)
	if len(values) == 0 {
		return nil, fail(tenon.ErrInvalid, "there are no values")
	}
	w, shared := wayOf(values[0])
	for _, v := range values[1:] {
		if x, _ := wayOf(v); x != w {
			if _, ok := v.(tensor.Tensor); ok && (w == asTensor || w == boxed) && (x == asTensor || x == boxed) {
				w = asTensor // for two types, one of which may handle both
				continue
			}
			return nil, apartFrom(values[0].Spec(), v.Spec())
		}
	}
	if w == none {
		return nil, noRows(values[0].Spec())
	}
	if w == asTensor {
		return joinTensors(where, values, join)
	}
	if w == boxed {
		columns, self, err := boxes(values, minRank)
		if err != nil {
			return nil, err
		}
		if self {
			return joinTensors(where, values, join)
		}
		merged, err := common(values)
		if err != nil {
			return nil, err
		}
		spec, err := result(merged)
		if err != nil {
			return nil, err
		}
		ts := make([]tenon.Value, len(columns))
		for k, c := range columns {
			if ts[k], err = joinTensors(where, c, join); err != nil {
				return nil, err
			}
		}
		return unboxed(spec, ts)
	}
	merged, err := common(values)
	if err != nil {
		return nil, err
	}
	spec, err := result(merged)
	if err != nil {
		return nil, err
	}
	fields := merged.Components()
	columns, err := columnsOf(values, len(fields))
	if err != nil {
		return nil, err
	}
	parts := make([]tenon.Value, len(fields))
	for k, c := range columns {
		name := fields[k].Name
		if shared[k] {
			if err := same(c); err != nil {
				return nil, codec.Within(name, err)
			}
			parts[k] = c[0]
			continue
		}
		if parts[k], err = together(c, codec.Join(where, name), join, result, minRank); err != nil {
			return nil, codec.Within(name, err)
		}
	}
	return Assemble(spec, parts)
}

// same returns an error if a component that all rows share differs.
func same(column []tenon.Value) error {
	for i, x := range column[1:] {
		if x != column[0] && !tensor.Equal(x, column[0], tensor.EqualOptions{NaN: true}) {
			return fail(tenon.ErrInvalid, "all rows share the field (batch=keep), but that of row %d differs from the first", i+1)
		}
	}
	return nil
}

// boxes returns the tensors that values are encoded as, one list for each; self reports that all of
// them are the values themselves.
func boxes(values []tenon.Value, minRank int) (columns [][]tenon.Value, self bool, err error) {
	self = true
	for i, v := range values {
		ts, err := v.Spec().(tenon.Boxer).Box(v, minRank)
		if err != nil {
			return nil, false, err
		}
		self = self && itself(ts, v)
		if i == 0 {
			columns = make([][]tenon.Value, len(ts))
		}
		if len(ts) != len(columns) {
			return nil, false, fail(tenon.ErrInvalid, "%s boxes into %d tensors, the first into %d", tenon.String(v.Spec()), len(ts), len(columns))
		}
		for k, t := range ts {
			columns[k] = append(columns[k], t)
		}
	}
	return columns, self, nil
}

// columnsOf takes values apart, and returns the values of each component.
func columnsOf(values []tenon.Value, n int) ([][]tenon.Value, error) {
	columns := make([][]tenon.Value, n)
	for _, v := range values {
		parts, err := v.Spec().Disassemble(v)
		if err != nil {
			return nil, err
		}
		if len(parts) != n {
			return nil, fail(tenon.ErrInvalid, "%s has %d components, others have %d", tenon.String(v.Spec()), len(parts), n)
		}
		for k, p := range parts {
			columns[k] = append(columns[k], p)
		}
	}
	return columns, nil
}

func joinTensors(where string, values []tenon.Value, join Join) (tenon.Value, error) {
	ts := make([]tensor.Tensor, len(values))
	for i, v := range values {
		t, ok := v.(tensor.Tensor)
		if !ok {
			return nil, noRows(v.Spec())
		}
		ts[i] = t
	}
	return tenon.Try(func() tenon.Value { return join(where, ts) })
}

// common returns the most specific Spec that covers those of all values.
func common(values []tenon.Value) (tenon.Spec, error) {
	merged := values[0].Spec()
	for i, v := range values[1:] {
		s := v.Spec()
		m, ok := tenon.Merge(merged, s)
		if !ok {
			e := apartFrom(merged, s)
			e.Msg = "row " + strconv.Itoa(i+1) + ": " + e.Msg
			return nil, e
		}
		merged = m
	}
	return merged, nil
}

// apartFrom is the error for two Specs without a common Spec.
func apartFrom(a, b tenon.Spec) *tenon.Error {
	e := fail(tenon.ErrDType, "%s and %s have no common Spec", tenon.String(a), tenon.String(b))
	if where, what := tenon.Difference(a, b); what != "" {
		e.Where, e.Msg = where, what
		e.Hint = "rows of a batch must have the same static data and optional fields: map the elements to one Spec first"
	}
	return e
}

// Assemble makes a value from components that were stacked, taken or read. If one of them has a
// special form, such as ragged rows instead of dense ones, the Spec is adapted to it.
func Assemble(s tenon.Spec, parts []tenon.Value) (tenon.Value, error) {
	fields := s.Components()
	if len(fields) != len(parts) {
		return nil, tenon.CheckComponents(s, parts)
	}
	fits := true
	specs := make([]tenon.Spec, len(parts))
	for k, p := range parts {
		specs[k] = p.Spec()
		fits = fits && tenon.Compatible(fields[k].Spec, specs[k])
	}
	if !fits {
		var err error
		if s, err = with(s, specs); err != nil {
			return nil, err
		}
	}
	return s.Assemble(parts)
}

// with returns s with other Specs for its components.
func with(s tenon.Spec, specs []tenon.Spec) (tenon.Spec, error) {
	if r, ok := s.(interface {
		WithComponents([]tenon.Spec) (tenon.Spec, error)
	}); ok {
		return r.WithComponents(specs)
	}
	fields, k := s.Components(), 0
	e, err := tenon.MapSpecs(s.Encode(), func(inner tenon.Spec) (tenon.Spec, error) {
		if k < len(fields) && tenon.Equal(inner, fields[k].Spec) {
			k++
			return specs[k-1], nil
		}
		return inner, nil
	}, nil)
	if err != nil || k < len(fields) {
		return s, err // Assemble reports what does not fit
	}
	return tenon.Decode(s.TypeName(), e)
}
