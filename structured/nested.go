package structured

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
	"github.com/tenonml/tenon/tensor"
)

const nestedFn = "structured.FromNested"

// Missing says how [FromNested] treats null and fields that a record lacks.
type Missing uint8

const (
	MissingError   Missing = iota // an error that names the path and the row
	MissingDefault                // the default for the path or else zero, "", false, an empty list, or a record of defaults
	MissingMasked                 // an optional field: a tensor of package masked
	MissingEmpty                  // an empty list for fields that are lists, and otherwise an error
)

// A Record is a record whose fields keep their order, while those of a map are sorted by name.
type Record []Entry

// An Entry is a field of a [Record].
type Entry struct {
	Name  string
	Value any
}

// NestedOptions say how [FromNested] reads data. With the zero value, all types are inferred and
// missing values are an error.
type NestedOptions struct {
	Int   dtype.DType // for integers; None: int64
	Float dtype.DType // for numbers not all of which are integers; None: float64

	// Identifiers is as in [Options].
	Identifiers bool

	// Spec is the Spec that the data must have, including element types and dimensions. Fields that
	// it declares as masked are optional, and strings that it declares as a dictionary become one.
	// If it is nil, it is inferred from the data.
	Spec tenon.Spec

	Missing  Missing
	Defaults map[string]any // by path, as [PathString] writes it; for MissingDefault

	// Maps are the paths of objects that are read as maps, whose keys are data, instead of as
	// records with fields; each becomes a [Map]. In paths, what is inside a map has the name *:
	// "deps", "users.*.tags".
	Maps []string

	// Unions allows values of several types in a field, which becomes a [Union].
	Unions bool

	// Dictionaries stores strings as a [Dictionary].
	Dictionaries bool
}

// FromNested converts plain nested data to a tensor. A map with string keys, a [Record] or a struct
// becomes a record, a slice or array a list, and anything else a scalar. A time.Time becomes a
// timestamp and a time.Duration a duration, both in nanoseconds, a [16]byte a UUID, and an
// element.Item an element of its type. A map with other keys becomes a [Map]. The fields of a
// struct are those of gostruct.From. Lists of records become a structured tensor, other lists a
// dense or ragged one. Unless options allow otherwise, all records of a list must have the same
// fields, and all entries of a field the same depth and type; a missing field is an error of kind
// tenon.ErrNotFound that names its path and the record. An integer among floating-point numbers is
// an error if float64 cannot hold it exactly.
func FromNested(x any, o NestedOptions) (t tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	x = plainData(x)
	if o.Spec != nil {
		return o.expected(x)
	}
	if x == nil {
		return nil, invalid(nestedFn, "", "a null has no type")
	}
	return o.single(x, nil), nil
}

// single reads a value that is not in a list.
func (o NestedOptions) single(x any, path []string) tensor.Tensor {
	switch kindOf(x) {
	case recordKind:
		if o.isMap(path) {
			return pick(o.mapsWith([]any{x}, path, o.list), tensor.Scalar(int64(0)))
		}
		var cols []column
		for _, e := range entries(x) {
			below := o.named(path, e.Name)
			cols = append(cols, column{name: e.Name, now: o.single(e.Value, below), inner: allPlain})
		}
		return newTensor(0, nil, nil, cols, dtype.Int64)
	case listKind:
		return o.list(x.([]any), path)
	case mapKind:
		return pick(o.keyed([]any{x}, path), tensor.Scalar(int64(0)))
	case elementKind:
		return o.typed([]any{x}, sortOf(x).element, shape.Shape{}, path)
	case missingKind:
		switch {
		case o.Missing == MissingDefault:
			if d, ok := o.Defaults[PathString(path)]; ok {
				return o.single(d, path)
			}
			return o.scalars([]any{0.0}, shape.Shape{}, path)
		case o.Missing == MissingMasked:
			return tenon.Must(masked.New(o.scalars([]any{0.0}, shape.Shape{}, path), false))
		}
		tenon.Throw(invalid(nestedFn, PathString(path), "is null"))
	case stringKind:
		if o.Dictionaries {
			return tenon.Must(EncodeStrings(o.scalars([]any{x}, shape.Shape{}, path)))
		}
	}
	return o.scalars([]any{x}, shape.Shape{}, path)
}

// isMap reports whether objects at a path are read as maps.
func (o NestedOptions) isMap(path []string) bool {
	return slices.ContainsFunc(o.Maps, func(text string) bool {
		return slices.EqualFunc(parsed(text).Segments, path, func(s jsonpath.Segment, name string) bool {
			switch s := s.(type) {
			case jsonpath.Wildcard:
				return name == "*"
			case jsonpath.ByName:
				return len(s.Names) == 1 && s.Names[0] == name
			}
			return false
		})
	})
}

// kind is the kind of a piece of nested data.
type kind uint8

const (
	missingKind kind = iota
	fillerKind       // stands for the contents of a missing record or list
	recordKind
	listKind
	boolKind
	numberKind
	stringKind
	elementKind // of package element
	mapKind     // with keys that are not strings
)

var kindNames = [...]string{"null", "null", "record", "list", "bool", "number", "string", "", "map"}

func (k kind) String() string {
	switch k {
	case missingKind, fillerKind:
		return "null"
	}
	return "a " + kindNames[k]
}

// absent stands for a field that a record lacks, and filler for data that does
// not matter.
type (
	absent struct{}
	filler struct{}
)

// A sort is the kind of a column's values and, for elements, their type.
type sort struct {
	kind
	element element.Type
}

func sortOf(x any) sort {
	t, _ := elementType(x)
	return sort{kindOf(x), t}
}

// name returns the name of a variant of a union.
func (s sort) name() string {
	if s.kind == elementKind {
		return s.element.String()
	}
	return kindNames[s.kind]
}

func (s sort) String() string {
	if s.kind == elementKind {
		return "a " + s.element.String()
	}
	return s.kind.String()
}

func kindOf(x any) kind {
	switch x.(type) {
	case nil, absent:
		return missingKind
	case filler:
		return fillerKind
	case map[string]any, Record:
		return recordKind
	case []any:
		return listKind
	case bool:
		return boolKind
	case string, []byte:
		return stringKind
	case time.Time, time.Duration, element.Item:
		return elementKind
	case keyed:
		return mapKind
	}
	return numberKind
}

// entries returns the fields of a record. Those of a map are sorted by name.
func entries(x any) []Entry {
	if r, ok := x.(Record); ok {
		for i, e := range r {
			if slices.ContainsFunc(r[:i], func(d Entry) bool { return d.Name == e.Name }) {
				tenon.Throw(invalid(nestedFn, e.Name, "is given twice in a record"))
			}
		}
		return r
	}
	m := x.(map[string]any)
	out := make([]Entry, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Entry{name, m[name]})
	}
	return out
}

func (o NestedOptions) named(path []string, name string) []string {
	if err := checkNames(nestedFn, []Field{{name, tensor.Scalar(false)}}, o.Identifiers); err != nil {
		tenon.Throw(err)
	}
	return append(slices.Clone(path), name)
}

// list reads values, one for each row.
func (o NestedOptions) list(values []any, path []string) tensor.Tensor {
	var kinds []sort
	holes := false
	for i, x := range values {
		switch k := sortOf(x); {
		case k.kind == missingKind:
			holes = true
		case k.kind != fillerKind && !slices.Contains(kinds, k):
			if len(kinds) > 0 && !o.Unions {
				e := invalid(nestedFn, place(path, i), "is %v, earlier rows have %v", k, kinds[0])
				e.Hint = "set NestedOptions.Unions to allow values of several types in a field"
				tenon.Throw(e)
			}
			kinds = append(kinds, k)
		}
	}
	if len(kinds) > 1 {
		return o.holes(values, path, holes, func(values []any) tensor.Tensor { return o.union(values, kinds, path) })
	}
	only := numberKind
	if len(kinds) > 0 {
		only = kinds[0].kind
	}
	return o.holes(values, path, holes, func(values []any) tensor.Tensor {
		switch only {
		case recordKind:
			if o.isMap(path) {
				return o.mapsWith(values, path, o.list)
			}
			return o.records(values, path)
		case listKind:
			return o.lists(values, path)
		case mapKind:
			return o.keyed(values, path)
		case elementKind:
			return o.typed(values, kinds[0].element, shape.Of(len(values)), path)
		}
		t := o.scalars(withoutFiller(values, zeroOf(only)), shape.Of(len(values)), path)
		if o.Dictionaries && only == stringKind {
			return tenon.Must(EncodeStrings(t))
		}
		return t
	})
}

func zeroOf(k kind) any {
	switch k {
	case boolKind:
		return false
	case stringKind:
		return ""
	}
	return 0
}

// withoutFiller replaces filler by a value.
func withoutFiller(values []any, zero any) []any {
	at := slices.Index(values, any(filler{}))
	if at < 0 {
		return values
	}
	if _, number := zero.(int); number {
		for _, x := range values {
			if kindOf(x) == numberKind { // a zero of the type of the other values
				zero = reflect.Zero(reflect.TypeOf(x)).Interface()
				break
			}
		}
	}
	out := slices.Clone(values)
	for i, x := range out {
		if x == any(filler{}) {
			out[i] = zero
		}
	}
	return out
}

// holes reads values, some of which are missing, as the policy says.
func (o NestedOptions) holes(values []any, path []string, holes bool, read func([]any) tensor.Tensor) tensor.Tensor {
	if !holes {
		return read(values)
	}
	var instead any = filler{}
	switch o.Missing {
	case MissingDefault:
		if d, ok := o.Defaults[PathString(path)]; ok {
			instead = d
		}
	case MissingMasked:
	case MissingEmpty:
		if slices.ContainsFunc(values, func(x any) bool { return kindOf(x) == listKind }) {
			break
		}
		fallthrough
	default:
		i := slices.IndexFunc(values, func(x any) bool { return kindOf(x) == missingKind })
		e := invalid(nestedFn, place(path, i), "is null")
		if _, ok := values[i].(absent); ok {
			e.Kind, e.Where, e.Msg = tenon.ErrNotFound, place(path[:len(path)-1], i), fmt.Sprintf("the record has no field %q, but others do", path[len(path)-1])
		}
		e.Hint = "NestedOptions.Missing says how to handle it"
		tenon.Throw(e)
	}
	there := make([]bool, len(values))
	full := slices.Clone(values)
	for i, x := range full {
		there[i] = kindOf(x) != missingKind
		if !there[i] {
			full[i] = instead
		}
	}
	if o.Missing == MissingDefault && instead != any(filler{}) {
		return o.list(full, path)
	}
	t := read(full)
	if o.Missing != MissingMasked {
		return t
	}
	return tenon.Must(masked.New(t, tensor.Of(there)))
}

func place(path []string, row int) string { return fmt.Sprintf("%s[%d]", PathString(path), row) }

func (o NestedOptions) records(values []any, path []string) tensor.Tensor {
	var names []string
	at := map[string]int{}
	ordered := false
	for _, x := range values {
		if kindOf(x) != recordKind {
			continue
		}
		if _, ok := x.(Record); ok {
			ordered = true
		}
		for _, e := range entries(x) {
			if _, ok := at[e.Name]; !ok {
				at[e.Name] = len(names)
				names = append(names, e.Name)
			}
		}
	}
	if !ordered {
		slices.Sort(names)
		for i, name := range names {
			at[name] = i
		}
	}
	cells := make([]any, len(names)*len(values))
	for i, x := range values {
		var lacking any = absent{}
		if kindOf(x) == fillerKind {
			lacking = filler{}
		}
		for k := range names {
			cells[k*len(values)+i] = lacking
		}
		if kindOf(x) == recordKind {
			for _, e := range entries(x) {
				cells[at[e.Name]*len(values)+i] = e.Value
			}
		}
	}
	var cols []column
	for k, name := range names {
		rows := cells[k*len(values) : (k+1)*len(values)]
		cols = append(cols, column{name: name, now: o.list(rows, o.named(path, name)), inner: allPlain})
	}
	return newTensor(1, scalar(len(values), dtype.Int64), nil, cols, dtype.Int64)
}

func (o NestedOptions) lists(values []any, path []string) tensor.Tensor {
	lengths := make([]int64, len(values))
	var all []any
	for i, x := range values {
		l, _ := listOf(x) // filler is empty
		lengths[i] = int64(len(l))
		all = append(all, l...)
	}
	p := tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
	return grouped(o.list(all, path), p)
}

// listOf returns a list as it is, and a map whose keys are not strings as a list of its entries.
func listOf(x any) ([]any, bool) {
	switch x := x.(type) {
	case []any:
		return x, true
	case keyed:
		return x, true
	}
	return nil, false
}

// keyed reads maps whose keys are not strings. In paths, their values have the name *.
func (o NestedOptions) keyed(values []any, path []string) tensor.Tensor {
	lengths := make([]int64, len(values))
	var keys, all []any
	for i, x := range values {
		entries, _ := listOf(x)
		lengths[i] = int64(len(entries))
		for _, e := range entries {
			keys, all = append(keys, e.(Record)[0].Value), append(all, e.(Record)[1].Value)
		}
	}
	p := tenon.Must(ragged.PartitionFromRowLengths(lengths, ragged.PartitionOptions{}))
	return tenon.Must(NewMap(p, o.list(keys, path), o.list(all, append(slices.Clone(path), "*"))))
}

// union reads values of several sorts.
func (o NestedOptions) union(values []any, kinds []sort, path []string) tensor.Tensor {
	tags := make([]int8, len(values))
	fields := make([]Field, len(kinds))
	for k, want := range kinds {
		own := make([]any, len(values))
		for i, x := range values {
			own[i] = filler{}
			if sortOf(x) == want {
				own[i], tags[i] = x, int8(k)
			}
		}
		fields[k] = Field{want.name(), o.list(own, path)}
	}
	return tenon.Must(NewUnion(tags, fields))
}

// inexact returns the position of an integer, among numbers that are not all integers, that changes
// when it is converted to float64, or -1 if there is none.
func (o NestedOptions) inexact(values []any) int {
	if o.Float != dtype.None && o.Float != dtype.Float64 {
		return -1
	}
	at, floats := -1, false
	for i, x := range values {
		var exact bool
		switch n := x.(type) {
		case float64, float32:
			floats = true
			continue
		case int:
			exact = integral(int64(n))
		case int64:
			exact = integral(n)
		case uint64:
			exact = n < 1<<63 && integral(int64(n)) || n == uint64(float64(n)) && float64(n) < 1<<64
		default:
			continue
		}
		if !exact && at < 0 {
			at = i
		}
	}
	if !floats {
		return -1
	}
	return at
}

// integral reports whether float64 can hold an integer exactly.
func integral(n int64) bool {
	f := float64(n)
	return f < 1<<63 && int64(f) == n
}

func (o NestedOptions) scalars(values []any, s shape.Shape, path []string) tensor.Tensor {
	opts := tensor.Options{Int: o.Int, Float: o.Float}
	if len(values) == 0 {
		opts.DType = o.Float
	}
	if at := o.inexact(values); at >= 0 {
		e := invalid(nestedFn, place(path, at), "is %v, which float64 cannot hold exactly, and others are floating-point numbers", values[at])
		e.Hint = "give the integers as text, or all numbers as float64"
		tenon.Throw(e)
	}
	for i, x := range values {
		if n, ok := x.(uint64); ok && n > math.MaxInt64 && o.Int != dtype.Uint64 {
			tenon.Throw(invalid(nestedFn, place(path, i), "is %d, which int64 cannot hold", n))
		}
	}
	t, err := tensor.FromScalars(values, s, opts)
	if err != nil {
		tenon.Throw(invalid(nestedFn, PathString(path), "%s", tenon.AsError(err).Msg))
	}
	return t
}
