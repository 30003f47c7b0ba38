package protoio

import (
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/message"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Fields of TypeSpecProto, and of TensorSpecProto and BoundedTensorSpecProto.
const (
	specClass      = 1
	specState      = 2
	specClassName  = 3
	specComponents = 4

	tensorSpecName  = 1
	tensorSpecShape = 2
	tensorSpecDType = 3
	boundedMin      = 4
	boundedMax      = 5
)

// Classes of TypeSpecProto.
const (
	classSparse     = 1
	classRagged     = 3
	classPartition  = 10
	classRegistered = 12
	classExtension  = 13
)

// specSuffix is the suffix of the names of Specs of TensorFlow's extension types.
const specSuffix = ".Spec"

func (w encoder) spec(b []byte, s tenon.Spec) ([]byte, error) {
	switch s := s.(type) {
	case nil:
		return b, fail(tenon.ErrInvalid, "", "the Spec is nil")
	case *tensor.Spec:
		return message.Append(b, specValue, func(m []byte) ([]byte, error) { return appendTensorSpec(m, s) })
	case *tenon.Opaque:
		if s.TypeName() == BoundedTypeName {
			return message.Append(b, boundedSpec, func(m []byte) ([]byte, error) { return appendBounded(m, s) })
		}
	}
	return message.Append(b, typeSpec, func(m []byte) ([]byte, error) { return w.typeSpec(m, s) })
}

func appendTensorSpec(b []byte, s *tensor.Spec) ([]byte, error) {
	if s.Name() != "" {
		b = message.AppendBytes(b, tensorSpecName, s.Name())
	}
	b = message.AppendBytes(b, tensorSpecShape, appendShape(nil, s.Shape()))
	n, err := dtypeNumber(s.DType())
	return message.AppendVarint(b, tensorSpecDType, n), err
}

func parseTensorSpec(b []byte) (*tensor.Spec, error) {
	name, d, s := "", dtype.None, shape.Of()
	err := eachField(b, func(t message.Tag, n uint64, data []byte) (err error) {
		switch t {
		case message.Bytes(tensorSpecName):
			name = string(data)
		case message.Bytes(tensorSpecShape):
			s, err = parseShape(data)
		case message.Varint(tensorSpecDType):
			d, err = parseDType(n)
		}
		return err
	})
	if err == nil && d == dtype.None {
		err = fail(tenon.ErrInvalid, "dtype", "the Spec of a tensor must have an element type")
	}
	if err != nil {
		return nil, err
	}
	spec := tensor.NewSpec(d, s)
	if name != "" {
		spec = spec.Named(name)
	}
	return spec, nil
}

// typeSpec writes a TypeSpecProto.
func (w encoder) typeSpec(b []byte, s tenon.Spec) ([]byte, error) {
	class, name, state := w.describe(s)
	b = message.AppendVarint(b, specClass, uint64(class))
	b, err := message.Append(b, specState, func(m []byte) ([]byte, error) { return w.value(m, state) })
	if err != nil {
		return b, within(err, "<"+s.TypeName()+">")
	}
	b = message.AppendBytes(b, specClassName, name)
	if n := leaves(s); n > 0 {
		b = message.AppendVarint(b, specComponents, uint64(n))
	}
	return b, nil
}

// describe returns the class, its name and the state that represent s.
func (w encoder) describe(s tenon.Spec) (class int, name string, state tenon.Encoding) {
	size := func(n int) tenon.Encoding { return tenon.Shape{Shape: shape.Of(n)} }
	switch s := s.(type) {
	case *sparse.Spec:
		return classSparse, "SparseTensorSpec", tenon.Tuple{tenon.Shape{Shape: s.Shape()}, tenon.DType{DType: s.DType()}}
	case *ragged.PartitionSpec:
		return classPartition, "RowPartitionSpec", tenon.Tuple{size(s.NRows()), size(s.NVals()), size(s.UniformRowLength()), tenon.DType{DType: s.DType()}}
	case *ragged.Spec:
		t := tenon.Tuple{tenon.Shape{Shape: s.Shape()}, tenon.DType{DType: s.DType()}, tenon.Int(s.RaggedRank()), tenon.DType{DType: s.SplitsDType()}}
		if _, ok := s.Flat().(*tensor.Spec); !ok {
			t = append(t, tenon.SpecOf{Spec: s.Flat()})
		}
		return classRagged, "RaggedTensorSpec", t
	case *structured.Spec:
		return classExtension, recordsClass + specSuffix, recordsState(s)
	case *ragged.ShapeSpec:
		return classExtension, shapeClass + specSuffix, shapeState(s)
	case *structured.UnionSpec:
		return classRegistered, structured.UnionTypeName, unionState(s)
	}
	name = s.TypeName()
	if c, ok := w.o.Classes[name]; ok {
		name = c
	}
	state = s.Encode()
	if fields, ok := derived(s.TypeName(), state); ok || fields.Name == name && name != "" {
		pairs := make(tenon.Tuple, len(fields.Fields))
		for i, f := range fields.Fields {
			pairs[i] = tenon.Tuple{tenon.Str(f.Name), f.Value}
		}
		return classExtension, name + specSuffix, pairs
	}
	return classRegistered, name, state
}

// derived returns the fields of a type that package ext derives from a struct. Its encoding starts
// with a version, which can be omitted only if it is 0. For any other type it returns the encoding
// itself if that is a named tuple.
func derived(typeName string, state tenon.Encoding) (tenon.NamedTuple, bool) {
	switch t := state.(type) {
	case tenon.NamedTuple:
		return t, false
	case tenon.Tuple:
		if len(t) == 2 && t[0] == tenon.Encoding(tenon.Int(0)) {
			fields, ok := t[1].(tenon.NamedTuple)
			return fields, ok && fields.Name == shortName(typeName)
		}
	}
	return tenon.NamedTuple{}, false
}

// shortName returns the last part of a type's name.
func shortName(typeName string) string {
	return typeName[strings.LastIndexAny(typeName, "./")+1:]
}

// leaves counts the tensors of values of s as TensorFlow does, for which every row partition
// consists of its splits.
func leaves(s tenon.Spec) int {
	switch s := s.(type) {
	case *ragged.PartitionSpec:
		return 1
	case *ragged.Spec:
		return leaves(s.Flat()) + s.RaggedRank()
	case *ragged.ShapeSpec:
		return len(s.Partitions()) + 1
	case *structured.Spec:
		n := s.Rank()
		if n == 0 {
			n = 1
		}
		for _, f := range s.Fields() {
			n += leaves(f.Spec)
		}
		return n
	}
	if tenon.IsLeaf(s) {
		return 1
	}
	n := 0
	for _, f := range s.Components() {
		n += leaves(f.Spec)
	}
	return n
}

func (r decoder) typeSpec(b []byte, depth int) (tenon.Spec, error) {
	var class, components uint64
	var name string
	var joined []byte
	err := eachField(b, func(t message.Tag, n uint64, data []byte) error {
		switch t {
		case message.Varint(specClass):
			class = n
		case message.Bytes(specState):
			joined = append(joined[:len(joined):len(joined)], data...)
		case message.Bytes(specClassName):
			name = string(data)
		case message.Varint(specComponents):
			components = n
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	state, err := r.value(joined, depth)
	if err != nil {
		return nil, within(err, "<"+name+">")
	}
	switch class {
	case classSparse:
		return sparseOf(state)
	case classRagged:
		return raggedOf(state)
	case classPartition:
		return partitionOf(state)
	case classRegistered, classExtension:
		return r.typeNamed(class, name, state, components)
	}
	return nil, fail(tenon.ErrUnsupported, "", "tensorflow's %s (class %d) has no counterpart", name, class)
}

// typeNamed returns the Spec of an extension type or registered type.
func (r decoder) typeNamed(class uint64, name string, state tenon.Encoding, components uint64) (tenon.Spec, error) {
	if class == classExtension {
		name = strings.TrimSuffix(name, specSuffix)
		fields, err := fieldsOf(state)
		if err != nil {
			return nil, within(err, "<"+name+">")
		}
		t := tenon.NamedTuple{Name: name, Fields: fields}
		switch name {
		case recordsClass:
			return recordsOf(t)
		case shapeClass:
			return shapeOf(t)
		}
		state = t
	}
	if t, ok := r.types[name]; ok {
		name = t
	}
	if name == structured.UnionTypeName {
		return unionOf(state)
	}
	if tenon.Registered(name) {
		return tenon.Decode(name, state)
	}
	var parts []tenon.Field
	n := 0
	eachComponent(state, func(s tenon.Spec) {
		parts = append(parts, tenon.Field{Name: component(len(parts)), Spec: s})
		n += leaves(s)
	})
	if uint64(n) != components {
		e := tenon.AsError(fail(tenon.ErrInvalid, "<"+name+">", "the type is not known in this program, and the message does not describe its %d components well enough", components))
		e.Hint = "import the package that defines " + name + ", or write the Spec with tenon.AppendBinary, which includes those of the components"
		return nil, e
	}
	return tenon.NewOpaque(name, state, parts), nil
}

// eachComponent calls f for the Specs in a state in order, except for those that are static data of
// a type that package ext derives.
func eachComponent(state tenon.Encoding, f func(tenon.Spec)) {
	elems := func(es []tenon.Encoding) {
		for _, e := range es {
			eachComponent(e, f)
		}
	}
	fields := func(es []tenon.Entry) {
		for _, e := range es {
			eachComponent(e.Value, f)
		}
	}
	switch e := state.(type) {
	case tenon.SpecOf:
		f(e.Spec)
	case tenon.List:
		elems(e)
	case tenon.Tuple:
		elems(e)
	case tenon.Dict:
		fields(e)
	case tenon.NamedTuple:
		if e.Name != codec.Static {
			fields(e.Fields)
		}
	}
}

// fieldsOf converts the state of an extension type, a tuple of pairs, to fields.
func fieldsOf(state tenon.Encoding) ([]tenon.Entry, error) {
	pairs, err := tenon.Elems(state, -1)
	if err != nil {
		return nil, err
	}
	fields := make([]tenon.Entry, len(pairs))
	for i, p := range pairs {
		pair, err := tenon.Elems(p, 2)
		if err != nil {
			return nil, err
		}
		name, err := tenon.As[tenon.Str](pair[0])
		if err != nil {
			return nil, err
		}
		fields[i] = tenon.Entry{Name: string(name), Value: pair[1]}
	}
	return fields, nil
}
