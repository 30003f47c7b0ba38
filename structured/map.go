package structured

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/rows"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The names of the two fields of a map's entry.
const (
	keyName   = "key"
	valueName = "value"
)

// entriesName is the name of a map's column that contains the entries.
const entriesName = "entries"

// Map is a tensor of maps whose keys have one type and whose values have one type. They are objects
// whose keys are data, while the fields of a record are known in advance. Keys are strings,
// numbers, booleans or elements of package element. Each map is a list of entries, which are
// records with a key and a value; their order is preserved, and a key occurs only once in a map. In
// a path, a key is used like the name of a field, and [*] stands for all values.
type Map struct {
	rec  *Tensor // records with one field, the lists of entries
	spec *MapSpec
}

var (
	_ op.Handler    = (*Map)(nil)
	_ tenon.Batcher = (*MapSpec)(nil)
)

// NewMap returns one map for each row of a partition, which divides keys and values. If a map has a
// key twice, and the keys are known, it returns an error of kind tenon.ErrInvalid that names the
// map and the key.
//
//	keys: [n]; values: [n, …], of any type
func NewMap(p *ragged.RowPartition, keys, values any) (m *Map, err error) {
	defer tenon.Catch(&err)
	k := tenon.Must(tensor.Convert(keys))
	v := tenon.Must(tensor.Convert(values))
	flat := tenon.Must(FromFieldsAndRank([]Field{{keyName, k}, {valueName, v}}, 1, Options{DType: p.DType()}))
	entries := tenon.Must(flat.PartitionOuterDimension(p))
	return MapOf(entries)
}

// MapOf returns the maps with the given entries, which are records with the fields key and value.
// The last dimension of the records is that of the entries of a map. See [NewMap].
//
//	entries: [n…, (k)]{key: K, value: T} → maps [n…]
func MapOf(entries *Tensor) (m *Map, err error) {
	const fn = "structured.MapOf"
	defer tenon.Catch(&err)
	if entries.rank == 0 {
		return nil, invalid(fn, "", "a single record is not a list of entries")
	}
	rec := tenon.Must(FromFields([]Field{{entriesName, entries}}, shape.OfRank(entries.rank-1), Options{DType: entries.dtype}))
	if !hasEntries(rec.typ()) {
		return nil, invalid(fn, "", "the entries are %v, want the fields key, which no entry lacks, and value", entries.typ())
	}
	m = newMap(rec)
	return m, m.checkKeys(fn)
}

func newMap(rec *Tensor) *Map { return &Map{rec, newMapSpec(rec.typ())} }

// checkKeys looks for a duplicate key in a map, if the keys are known.
func (m *Map) checkKeys(fn string) (err error) {
	defer tenon.Catch(&err)
	flat := m.flat()
	keys := flat.cols[flat.find(keyName)].v()
	ids, ok := op.Known(flat.parts[0].ValueRowIDs())
	if !ok || !concrete(keys) {
		return nil
	}
	_, first, counts := rows.Group(append([]any{ids}, anys(identities(keys))...)...)
	if first.Shape().Dim(0) == keys.Shape().Dim(0) {
		return nil
	}
	for i, n := range tensor.Data[int64](counts) {
		if n > 1 {
			at := int(tensor.Data[int64](first)[i])
			row, key := ops.Cast(ops.Index(ids, at), dtype.Int64), plain(ops.Index(keys, at))
			if text, ok := key.(string); ok {
				key = strconv.Quote(text)
			}
			return invalid(fn, fmt.Sprintf("[%d]", tensor.Item[int64](row)), "has the key %v %d times", key, n)
		}
	}
	return nil
}

// flat returns the entries of all maps as a single list of lists.
func (m *Map) flat() *Tensor {
	e := m.rec.rows()[0].v()
	return e.(*Tensor)
}

// Spec returns the *MapSpec.
func (m *Map) Spec() tenon.Spec { return m.spec }

// DType returns dtype.None: keys and values have element types of their own.
func (m *Map) DType() dtype.DType { return dtype.None }

// Shape returns the shape of the maps.
func (m *Map) Shape() shape.Shape { return m.rec.Shape() }

// Entries returns the entries of each map: records with the fields key and value, whose
// last dimension is that of the entries.
func (m *Map) Entries() *Tensor { return m.rec.field(m.rec.cols[0]).(*Tensor) }

// Keys returns the keys of each map.
//
//	[n…, (k)]
func (m *Map) Keys() tensor.Tensor { return child(m.Entries(), keyName, nil) }

// Values returns the values of each map, in the order of the keys.
//
//	[n…, (k), …]
func (m *Map) Values() tensor.Tensor { return child(m.Entries(), valueName, nil) }

// Lengths returns the number of entries of each map.
//
//	int64[n…]
func (m *Map) Lengths() tensor.Tensor {
	return m.dimensioned(ops.Cast(m.flat().parts[0].RowLengths(), dtype.Int64))
}

// Lookup returns each map's value for a key, which is compared with the keys as by ops.Equal. The
// value is missing if a map does not have the key.
//
//	[n…, …], masked
func (m *Map) Lookup(key any) tensor.Tensor { return m.dimensioned(m.lookup(key)) }

// lookup returns the values for a key, one for each map, flat.
func (m *Map) lookup(key any) tensor.Tensor {
	flat := m.flat()
	p := flat.parts[0]
	found := ops.Equal(flat.cols[flat.find(keyName)].v(), key)
	splits := rows.MaskSplits(p.RowSplits(), found)
	has := ops.Greater(rows.Lengths(splits), ops.Cast(0, splits.DType()))
	at := ops.BooleanMask(upTo(p.NVals()), found, 0)
	at = ops.Gather(at, ops.BooleanMask(starts(splits), has, 0), 0)
	return spread(gatherRows(flat.cols[flat.find(valueName)].v(), at), has)
}

// dimensioned gives entries, one for each map, the dimensions of the maps.
func (m *Map) dimensioned(v tensor.Tensor) tensor.Tensor {
	if m.rec.rank == 0 {
		return pick(v, tensor.Scalar(int64(0)))
	}
	return m.rec.field(column{now: v, inner: allPlain})
}

// HandleOp answers operations that move elements, and compares maps regardless of the order of
// their entries.
func (m *Map) HandleOp(c *op.Call) ([]tenon.Value, error) { return ofRecords(c) }

// String prints the entries.
func (m *Map) String() string { return m.text("%v") }

// Format prints the value for the verbs v and s as String does. A plus flag prints all elements.
func (m *Map) Format(s fmt.State, verb rune) { tensor.Format(s, verb, m, m.text) }

func (m *Map) text(verb string) string {
	return "map " + fmt.Sprintf(verb, m.Entries())
}

// MapTypeName is the registered name of [*MapSpec].
const MapTypeName = "structured.Map"

// MapSpec describes maps: the Spec of their entries.
type MapSpec struct{ composed }

var mappings composition

func init() {
	mappings = composition{
		name: MapTypeName, what: "a map consists of entries with a key and a value", fits: hasEntries,
		like: func(rec *Spec) tenon.Spec { return newMapSpec(rec) },
		of: func(rec *Tensor) (tensor.Tensor, error) {
			m := newMap(rec)
			return m, m.checkKeys(MapTypeName)
		},
	}
	tenon.Register(MapTypeName, mappings.decode)
}

func newMapSpec(rec *Spec) *MapSpec { return &MapSpec{composed{rec, &mappings}} }

// NewMapSpec returns the Spec of maps with the given shape, each with any number of values of the
// given Spec.
func NewMapSpec(s shape.Shape, value tenon.Spec) (m *MapSpec, err error) {
	defer tenon.Catch(&err)
	b := tenon.Must(batcher("structured.NewMapSpec", value))
	values := tenon.Must(b.Batched(shape.Unknown))
	one := tenon.Must(NewSpec(shape.Of(shape.Unknown), []tenon.Field{{Name: keyName, Spec: tensor.NewSpec(dtype.String, shape.Of(shape.Unknown))}, {Name: valueName, Spec: values}}))
	for _, n := range slices.Backward(s.Dims()) {
		one = tenon.Must(one.Batched(n)).(*Spec)
	}
	return MapSpecOf(one)
}

// MapSpecOf returns the Spec of maps with entries of the given Spec; see [MapOf].
func MapSpecOf(entries *Spec) (*MapSpec, error) {
	const fn = "structured.MapSpecOf"
	if entries.rank == 0 {
		return nil, tenon.NewError(tenon.ErrInvalid, fn, "a single record is not a list of entries")
	}
	rec, err := NewSpec(entries.Shape().Slice(0, entries.rank-1), []tenon.Field{{Name: entriesName, Spec: entries}})
	if err != nil {
		return nil, err
	}
	if !hasEntries(rec) {
		return nil, failed(tenon.ErrInvalid, fn, "", "the entries are %v, want the fields key, which no entry lacks, and value", entries)
	}
	return newMapSpec(rec), nil
}

// hasEntries reports whether records contain the entries of maps and nothing
// else.
func hasEntries(s *Spec) bool {
	if len(s.cols) != 1 || s.cols[0].name != entriesName {
		return false
	}
	e, ok := s.cols[0].spec.(*Spec)
	if !ok || len(e.cols) != 2 || e.rank != min(s.rank, 1)+1 {
		return false
	}
	k, hasKey := e.column(0, keyName)
	_, hasValue := e.column(1, valueName)
	t, typed := k.spec.(typedSpec)
	if !hasKey || !hasValue || !typed || t.Shape().Rank() != 1 {
		return false
	}
	switch t.(type) {
	case *tensor.Spec, element.Spec:
		return true
	case optionalSpec:
		return false
	}
	return t.DType().IsString()
}

// HasTextKeys reports whether the keys are strings. Such maps become objects in JSON and Go maps in
// plain data; others become lists of entries.
func (s *MapSpec) HasTextKeys() bool {
	return s.keyType().IsString()
}

// keyOf converts a name in a path to a key: a number or a boolean if the keys are. Elements are
// compared by their texts.
func (s *MapSpec) keyOf(name, path string) any {
	var key any
	var err error
	switch t := s.keyType(); {
	case s.HasTextKeys() || t == dtype.None:
		return name
	case t == dtype.Bool:
		key, err = strconv.ParseBool(name)
	case t.IsFloat():
		key, err = strconv.ParseFloat(name, 64)
	case t.IsUnsigned():
		key, err = strconv.ParseUint(name, 10, 8*t.Size())
	default:
		key, err = strconv.ParseInt(name, 10, 8*t.Size())
	}
	if err != nil {
		tenon.Throw(failed(tenon.ErrNotFound, "structured.Field", path, "the keys of the map are %v, which %q is not", s.keyType(), name))
	}
	return ops.Cast(key, s.keyType())
}

// keyType returns the type of keys that are numbers, booleans or strings, and dtype.None for
// elements.
func (s *MapSpec) keyType() dtype.DType {
	k, _ := s.flat().column(0, keyName)
	if _, ok := k.spec.(element.Spec); ok {
		return dtype.None
	}
	return k.spec.(typedSpec).DType()
}

// Key returns the Spec of a single key.
func (s *MapSpec) Key() tenon.Spec {
	k, _ := s.flat().column(0, keyName)
	return lowered(k.spec, 1)
}

// flat returns the Spec of the entries of all maps as a single list of lists.
func (s *MapSpec) flat() *Spec { return s.rec.cols[0].spec.(*Spec) }

// Entries returns the Spec of the entries, records with the fields key and value; see
// [Map.Entries].
func (s *MapSpec) Entries() *Spec { return s.rec.field(s.rec.cols[0]).(*Spec) }

// Value returns the Spec of a single value.
func (s *MapSpec) Value() tenon.Spec {
	v, _ := s.flat().column(1, valueName)
	return lowered(v.spec, 1)
}

// lookup returns the Spec of the values for a key.
func (s *MapSpec) lookup() (tenon.Spec, error) {
	v, _ := s.flat().column(1, valueName)
	if s.rec.rank == 0 {
		return optionalOf(s.Value(), 0)
	}
	found, err := optionalOf(outermost(v.spec, shape.Unknown), 1)
	if err != nil {
		return nil, err
	}
	return s.rec.field(columnSpec{spec: found, inner: allPlain}), nil
}

// String returns "map[2]{key: string[?], value: float64[?]}".
func (s *MapSpec) String() string {
	e := s.flat()
	flat := &Spec{rank: s.rec.rank, nrows: s.rec.nrows, dtype: s.rec.dtype, parts: s.rec.parts, cols: e.cols}
	return "map" + flat.String()[len("struct"):]
}
