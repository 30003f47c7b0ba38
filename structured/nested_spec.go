package structured

import (
	"fmt"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// expected reads data that must have a given Spec.
func (o NestedOptions) expected(x any) (tensor.Tensor, error) {
	t := o.one(x, o.Spec, nil)
	if !tenon.Compatible(t.Spec(), o.Spec) {
		return nil, invalid(nestedFn, "", "the data are %s, want %s", tenon.String(t.Spec()), tenon.String(o.Spec))
	}
	return t, nil
}

// one reads a value of a Spec.
func (o NestedOptions) one(x any, s tenon.Spec, path []string) tensor.Tensor {
	if m, ok := s.(optionalSpec); ok && m.Mask().(typedSpec).Shape().Rank() == 0 {
		there := kindOf(x) != missingKind && kindOf(x) != fillerKind
		if !there {
			x = filler{}
		}
		return tenon.Must(masked.New(o.one(x, m.Values(), path), there))
	}
	t, ok := s.(typedSpec)
	if !ok || !t.Shape().HasRank() {
		tenon.Throw(invalid(nestedFn, PathString(path), "plain data cannot be converted to %s", tenon.String(s)))
	}
	if t.Shape().Rank() > 0 {
		return o.rows(o.wantList(x, path, -1), s, path)
	}
	switch s := s.(type) {
	case *Spec:
		var cols []column
		values := o.fieldsOf([]any{x}, s, path)
		for i, c := range s.cols {
			cols = append(cols, column{name: c.name, now: o.one(values[i][0], c.spec, o.named(path, c.name)), inner: allPlain})
		}
		return newTensor(0, nil, nil, cols, s.dtype)
	case *MapSpec:
		return pick(o.maps([]any{x}, s, path), tensor.Scalar(int64(0)))
	case *DictionarySpec:
		return tenon.Must(EncodeStrings(o.typed([]any{x}, dtype.String, shape.Shape{}, path)))
	case *tensor.Spec, element.Spec:
		return o.typed([]any{x}, scalarType(t), shape.Shape{}, path)
	}
	tenon.Throw(invalid(nestedFn, PathString(path), "plain data cannot be converted to %s", tenon.String(s)))
	return nil
}

// wantList returns the elements of a list, which must have n elements unless n is
// negative.
func (o NestedOptions) wantList(x any, path []string, n int) []any {
	k := kindOf(x)
	l, ok := listOf(x)
	switch {
	case ok && (n < 0 || len(l) == n):
		return l
	case ok:
		tenon.Throw(invalid(nestedFn, PathString(path), "is a list of %d, want %d", len(l), n))
	case k == fillerKind || k == missingKind && (o.Missing == MissingDefault || o.Missing == MissingEmpty && n <= 0):
		return slices.Repeat([]any{filler{}}, max(n, 0))
	}
	tenon.Throw(invalid(nestedFn, PathString(path), "is %v, want a list", k))
	return nil
}

// fieldsOf returns the values of the fields of records, as a list for each field.
func (o NestedOptions) fieldsOf(values []any, s *Spec, path []string) [][]any {
	out := make([][]any, len(s.cols))
	for k := range out {
		out[k] = make([]any, len(values))
	}
	for i, x := range values {
		where := PathString(path)
		if s.rank > 0 {
			where = place(path, i)
		}
		var lacking any = absent{}
		switch k := kindOf(x); {
		case k == recordKind:
			for _, e := range entries(x) {
				if _, ok := s.column(0, e.Name); !ok {
					tenon.Throw(invalid(nestedFn, where, "has the field %q, want %q", e.Name, s.FieldNames()))
				}
			}
		case k == fillerKind || k == missingKind && o.Missing == MissingDefault:
			lacking = filler{}
		default:
			tenon.Throw(invalid(nestedFn, where, "is %v, want a record", k))
		}
		for k, c := range s.cols {
			out[k][i] = lacking
			switch r := x.(type) {
			case Record:
				if at := slices.IndexFunc(r, func(e Entry) bool { return e.Name == c.name }); at >= 0 {
					out[k][i] = r[at].Value
				}
			case map[string]any:
				if v, ok := r[c.name]; ok {
					out[k][i] = v
				}
			}
		}
	}
	return out
}

// rows reads values, one for each row of a Spec.
func (o NestedOptions) rows(values []any, s tenon.Spec, path []string) tensor.Tensor {
	n := s.(typedSpec).Shape().Dim(0)
	if n >= 0 && n != len(values) {
		tenon.Throw(invalid(nestedFn, PathString(path), "has %d rows, want %d", len(values), n))
	}
	switch s := s.(type) {
	case optionalSpec:
		return o.maskedRows(values, s, path)
	case *Spec:
		if s.rank > 1 {
			row := tenon.Must(s.Unbatched()).(*Spec)
			return o.divided(values, s.parts[0], outermost(row, shape.Unknown), path)
		}
		var cols []column
		for i, rows := range o.fieldsOf(values, s, path) {
			cols = append(cols, column{name: s.cols[i].name, now: o.rows(rows, outermost(s.cols[i].spec, shape.Unknown), o.named(path, s.cols[i].name)), inner: allPlain})
		}
		return newTensor(1, scalar(len(values), s.dtype), nil, cols, s.dtype)
	case dividedSpec:
		parts := s.Partitions()
		if len(parts) == 0 {
			return o.rows(values, s.Flat(), path)
		}
		below := outermost(s.Flat(), shape.Unknown)
		if len(parts) > 1 {
			below = outermost(ragged.FromSpecs(s.Flat(), parts[1:]), shape.Unknown)
		}
		return o.divided(values, parts[0], below, path)
	case *MapSpec:
		if s.rec.rank > 1 {
			row := tenon.Must(s.Unbatched())
			return o.divided(values, s.rec.parts[0], outermost(row, shape.Unknown), path)
		}
		return o.maps(values, s, path)
	case *DictionarySpec:
		return tenon.Must(EncodeStrings(o.rows(values, tensor.NewSpec(dtype.String, s.Shape()), path)))
	case *tensor.Spec, element.Spec:
		return o.block(values, s.(typedSpec), path)
	}
	tenon.Throw(invalid(nestedFn, PathString(path), "plain data cannot be converted to %s", tenon.String(s)))
	return nil
}

// maps reads records as a map, or as rows of maps, of a Spec. If the keys are not strings, it reads
// lists of entries.
func (o NestedOptions) maps(values []any, s *MapSpec, path []string) tensor.Tensor {
	if !s.HasTextKeys() {
		return tenon.Must(MapOf(o.rows(values, outermost(s.flat(), shape.Unknown), path).(*Tensor)))
	}
	return o.mapsWith(values, path, func(all []any, path []string) tensor.Tensor {
		v, _ := s.flat().column(1, valueName)
		return o.rows(all, outermost(v.spec, shape.Unknown), path)
	})
}

// mapsWith reads records as maps; read makes a column from their values.
func (o NestedOptions) mapsWith(values []any, path []string, read func(all []any, path []string) tensor.Tensor) tensor.Tensor {
	lengths := make([]int64, len(values))
	keys, all := []string{}, []any{}
	for i, x := range values {
		switch k := kindOf(x); {
		case k == fillerKind || k == missingKind && (o.Missing == MissingDefault || o.Missing == MissingEmpty):
			continue
		case k != recordKind:
			tenon.Throw(invalid(nestedFn, place(path, i), "is %v, want a map", k))
		}
		for _, e := range entries(x) {
			keys, all = append(keys, e.Name), append(all, e.Value)
			lengths[i]++
		}
	}
	p := tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
	column := read(all, append(slices.Clone(path), "*"))
	return tenon.Must(NewMap(p, tensor.Of(keys, len(keys)), column))
}

// maskedRows reads values, or elements of lists, that may be missing.
func (o NestedOptions) maskedRows(values []any, s optionalSpec, path []string) tensor.Tensor {
	// parted returns x with filler for what is missing k lists deep, and which of it is there.
	var parted func(x any, k int) (full, there any)
	parted = func(x any, k int) (full, there any) {
		l, ok := x.([]any)
		if k == 0 || !ok {
			present := kindOf(x) != missingKind && kindOf(x) != fillerKind
			if !present {
				x = filler{}
			}
			if k == 0 {
				return x, present
			}
			return x, []any{}
		}
		values, mask := make([]any, len(l)), make([]any, len(l))
		for i, y := range l {
			values[i], mask[i] = parted(y, k-1)
		}
		return values, mask
	}
	full, there := parted(values, s.Mask().(typedSpec).Shape().Rank())
	m := o.rows(there.([]any), s.Mask(), path)
	return tenon.Must(masked.New(o.rows(full.([]any), s.Values(), path), m))
}

// divided reads lists with elements of a Spec.
func (o NestedOptions) divided(values []any, p *ragged.PartitionSpec, below tenon.Spec, path []string) tensor.Tensor {
	lengths := make([]int64, len(values))
	var all []any
	for i, x := range values {
		if k := kindOf(x); k != listKind && k != mapKind && k != fillerKind && (k != missingKind || o.Missing == MissingError) {
			tenon.Throw(invalid(nestedFn, place(path, i), "is %v, want a list", k))
		}
		l := o.wantList(x, path, p.UniformRowLength())
		lengths[i] = int64(len(l))
		all = append(all, l...)
	}
	opts := ragged.PartitionOptions{DType: p.DType()}
	var part *ragged.RowPartition
	if n := p.UniformRowLength(); n >= 0 {
		opts.NRows = len(values)
		part = tenon.Must(ragged.PartitionFromUniformRowLength(n, opts))
	} else {
		part = tenon.Must(ragged.PartitionFromRowLengths(lengths, opts))
	}
	v := withSplits(o.rows(all, below, path), p.DType())
	return grouped(v, part)
}

// block reads lists nested to the depth of a dense tensor. At each depth, they must have the same
// size.
func (o NestedOptions) block(values []any, s typedSpec, path []string) tensor.Tensor {
	dims := []int{len(values)}
	flat := values
	for i := 1; i < s.Shape().Rank(); i++ {
		n := s.Shape().Dim(i)
		for _, x := range flat {
			if l, ok := x.([]any); ok && n < 0 {
				n = len(l)
			}
		}
		n = max(n, 0)
		next := make([]any, 0, len(flat))
		for _, x := range flat {
			next = append(next, o.wantList(x, path, n)...)
		}
		flat, dims = next, append(dims, n)
	}
	return o.typed(flat, scalarType(s), shape.Of(dims...), path)
}

// scalarType returns the type of scalars, a dtype.DType or an element.Type.
func scalarType(s typedSpec) fmt.Stringer {
	if e, ok := s.(element.Spec); ok {
		return e.Type()
	}
	return s.DType()
}

// typed reads scalars of a type, a dtype.DType or an element.Type.
func (o NestedOptions) typed(values []any, t fmt.Stringer, s shape.Shape, path []string) tensor.Tensor {
	e, isElement := t.(element.Type)
	var zero any = 0
	switch {
	case isElement:
		zero = filler{}
	case t == dtype.Bool:
		zero = false
	case t == dtype.String:
		zero = ""
	}
	full := slices.Clone(values)
	for i, x := range full {
		k := kindOf(x)
		switch {
		case k == fillerKind:
			full[i] = zero
		case k == missingKind && o.Missing == MissingDefault:
			full[i] = zero
			if x, ok := o.Defaults[PathString(path)]; ok {
				full[i] = x
			}
		case k == missingKind || k == listKind || k == recordKind || k == mapKind || k == elementKind && !isElement:
			have := k.String()
			if _, ok := x.(absent); ok {
				have = "missing"
			}
			tenon.Throw(invalid(nestedFn, placeIn(s, path, i), "is %s, want %v", have, t))
		}
	}
	if isElement {
		return fromElements(full, e, s, path)
	}
	v, err := tensor.FromScalars(full, s, tensor.Options{DType: t.(dtype.DType)})
	if err != nil {
		tenon.Throw(invalid(nestedFn, PathString(path), "%s", tenon.AsError(err).Msg))
	}
	return v
}

// placeIn returns the place of element i of a value with the given shape.
func placeIn(s shape.Shape, path []string, i int) string {
	if s.Rank() == 0 {
		return PathString(path)
	}
	return place(path, i)
}

// fromElements converts Go values and texts to elements.
func fromElements(values []any, t element.Type, s shape.Shape, path []string) tensor.Tensor {
	b := element.NewBuilder(t, len(values))
	for i, x := range values {
		if x == any(filler{}) {
			b.Skip()
		} else if err := b.AppendValue(x); err != nil {
			tenon.Throw(invalid(nestedFn, placeIn(s, path, i), "%v", err))
		}
	}
	return b.Build(s)
}
