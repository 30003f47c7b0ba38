package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon/internal/message"
)

// The messages of onnx.proto, as far as they are needed. Bytes alias the file.

type protoModel struct {
	irVersion int64
	producer  string
	opsets    map[string]int // the version of each domain
	graph     *protoGraph
	functions map[string]*protoFunction // by domain, name and overload
	metadata  map[string]string
}

type protoGraph struct {
	name         string
	nodes        []*protoNode
	initializers []*protoTensor
	sparse       []*protoSparse
	inputs       []*protoValue
	outputs      []*protoValue
}

type protoFunction struct {
	name, domain, overload string
	inputs, outputs        []string
	attributes             []string
	defaults               map[string]*protoAttr
	nodes                  []*protoNode
	opsets                 map[string]int
}

type protoNode struct {
	op, name, domain, overload string
	inputs, outputs            []string
	attrs                      map[string]*protoAttr
}

// key is the key by which a function is looked up.
func (n *protoNode) key() string { return n.domain + ":" + n.op + ":" + n.overload }

// String names the node in messages.
func (n *protoNode) String() string {
	s := n.op
	if n.domain != "" {
		s = n.domain + "." + s
	}
	if n.name != "" {
		return s + " " + n.name
	}
	if len(n.outputs) > 0 {
		return s + " of " + n.outputs[0]
	}
	return s
}

type protoAttr struct {
	name   string
	ref    string // the attribute of the enclosing function that it refers to
	f      float32
	i      int64
	s      []byte
	t      *protoTensor
	g      *protoGraph
	sparse *protoSparse
	typ    *protoType
	floats []float32
	ints   []int64
	texts  [][]byte
	graphs []*protoGraph
}

type protoTensor struct {
	name     string
	dims     []int64
	dtype    int
	floats   []byte // packed
	int32s   []int64
	int64s   []int64
	texts    [][]byte
	doubles  []byte
	uint64s  []uint64
	raw      []byte
	hasRaw   bool
	external map[string]string
	isOut    bool
}

type protoSparse struct {
	values, indices *protoTensor
	dims            []int64
}

type protoValue struct {
	name string
	typ  *protoType
}

// A protoType is the type of a value. Exactly one kind is set.
type protoType struct {
	kind  typeKind
	dtype int // of tensors
	dims  []protoDim
	ranks bool       // dims are known
	elem  *protoType // of sequences and optionals, and of the values of maps
}

type typeKind int

const (
	kindUnknown typeKind = iota
	kindTensor
	kindSequence
	kindMap
	kindOptional
	kindSparse
)

type protoDim struct {
	size  int64 // -1 if unknown
	param string
}

// maxDepth bounds the nesting of graphs.
const maxDepth = 64

// fields decodes the fields of a message with the functions in a table.
func fields(b []byte, table map[message.Tag]func(n uint64, data []byte) error) error {
	return message.Each(b, func(t message.Tag, n uint64, data []byte) error {
		if f := table[t]; f != nil {
			return f(n, data)
		}
		return nil
	})
}

type fieldFunc = func(n uint64, data []byte) error

func toText(s *string) fieldFunc {
	return func(_ uint64, data []byte) error { *s = string(data); return nil }
}

func toInt(x *int64) fieldFunc {
	return func(n uint64, _ []byte) error { *x = int64(n); return nil }
}

func addText(s *[]string) fieldFunc {
	return func(_ uint64, data []byte) error { *s = append(*s, string(data)); return nil }
}

func addBytes(s *[][]byte) fieldFunc {
	return func(_ uint64, data []byte) error { *s = append(*s, data); return nil }
}

// add appends the result of read for a message to a list.
func add[T any](list *[]T, read func(b []byte) (T, error)) fieldFunc {
	return func(_ uint64, data []byte) error {
		x, err := read(data)
		*list = append(*list, x)
		return err
	}
}

// set stores the result of read for a message.
func set[T any](place *T, read func(b []byte) (T, error)) fieldFunc {
	return func(_ uint64, data []byte) (err error) {
		*place, err = read(data)
		return err
	}
}

// addVarints adds a field of numbers, single or packed, to a table.
func addVarints(table map[message.Tag]fieldFunc, field protowire.Number, add func(x uint64)) {
	table[message.Varint(field)] = func(n uint64, _ []byte) error { add(n); return nil }
	table[message.Bytes(field)] = func(_ uint64, data []byte) error {
		for len(data) > 0 {
			x, n := protowire.ConsumeVarint(data)
			if n < 0 {
				return protowire.ParseError(n)
			}
			add(x)
			data = data[n:]
		}
		return nil
	}
}

// addPacked appends the bytes of numbers of a fixed size.
func addPacked(table map[message.Tag]fieldFunc, field protowire.Number, size int, to *[]byte) {
	one := message.Fixed32(field)
	if size == 8 {
		one = message.Fixed64(field)
	}
	table[one] = func(n uint64, _ []byte) error {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		*to = append((*to)[:len(*to):len(*to)], b[:size]...)
		return nil
	}
	table[message.Bytes(field)] = func(_ uint64, data []byte) error {
		if len(data)%size != 0 {
			return fmt.Errorf("%d bytes do not hold numbers of %d bytes each", len(data), size)
		}
		if *to == nil {
			*to = data
		} else {
			*to = append((*to)[:len(*to):len(*to)], data...)
		}
		return nil
	}
}

func readModel(b []byte) (*protoModel, error) {
	m := &protoModel{opsets: map[string]int{}, functions: map[string]*protoFunction{}, metadata: map[string]string{}}
	var functions []*protoFunction
	err := fields(b, map[message.Tag]fieldFunc{
		message.Varint(1): toInt(&m.irVersion),
		message.Bytes(2):  toText(&m.producer),
		message.Bytes(7):  set(&m.graph, func(b []byte) (*protoGraph, error) { return readGraph(b, 0) }),
		message.Bytes(8):  opset(m.opsets),
		message.Bytes(14): entry(m.metadata),
		message.Bytes(25): add(&functions, readFunction),
	})
	for _, f := range functions {
		m.functions[f.domain+":"+f.name+":"+f.overload] = f
	}
	return m, err
}

// opset reads an OperatorSetIdProto.
func opset(into map[string]int) fieldFunc {
	return func(_ uint64, data []byte) error {
		var domain string
		var version int64
		err := fields(data, map[message.Tag]fieldFunc{message.Bytes(1): toText(&domain), message.Varint(2): toInt(&version)})
		if domain == "ai.onnx" {
			domain = ""
		}
		into[domain] = int(min(version, math.MaxInt32))
		return err
	}
}

// entry reads a StringStringEntryProto.
func entry(into map[string]string) fieldFunc {
	return func(_ uint64, data []byte) error {
		var key, value string
		err := fields(data, map[message.Tag]fieldFunc{message.Bytes(1): toText(&key), message.Bytes(2): toText(&value)})
		into[key] = value
		return err
	}
}

func readGraph(b []byte, depth int) (*protoGraph, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("graphs are nested more than %d deep", maxDepth)
	}
	g := &protoGraph{}
	return g, fields(b, map[message.Tag]fieldFunc{
		message.Bytes(1):  add(&g.nodes, func(b []byte) (*protoNode, error) { return readNode(b, depth) }),
		message.Bytes(2):  toText(&g.name),
		message.Bytes(5):  add(&g.initializers, readTensor),
		message.Bytes(11): add(&g.inputs, readValue),
		message.Bytes(12): add(&g.outputs, readValue),
		message.Bytes(15): add(&g.sparse, readSparse),
	})
}

func readFunction(b []byte) (*protoFunction, error) {
	f := &protoFunction{opsets: map[string]int{}, defaults: map[string]*protoAttr{}}
	var attrs []*protoAttr
	err := fields(b, map[message.Tag]fieldFunc{
		message.Bytes(1):  toText(&f.name),
		message.Bytes(4):  addText(&f.inputs),
		message.Bytes(5):  addText(&f.outputs),
		message.Bytes(6):  addText(&f.attributes),
		message.Bytes(7):  add(&f.nodes, func(b []byte) (*protoNode, error) { return readNode(b, 0) }),
		message.Bytes(9):  opset(f.opsets),
		message.Bytes(10): toText(&f.domain),
		message.Bytes(11): add(&attrs, func(b []byte) (*protoAttr, error) { return readAttr(b, 0) }),
		message.Bytes(13): toText(&f.overload),
	})
	for _, a := range attrs {
		f.defaults[a.name] = a
	}
	if f.domain == "ai.onnx" {
		f.domain = ""
	}
	return f, err
}

func readNode(b []byte, depth int) (*protoNode, error) {
	n := &protoNode{attrs: map[string]*protoAttr{}}
	var attrs []*protoAttr
	err := fields(b, map[message.Tag]fieldFunc{
		message.Bytes(1): addText(&n.inputs),
		message.Bytes(2): addText(&n.outputs),
		message.Bytes(3): toText(&n.name),
		message.Bytes(4): toText(&n.op),
		message.Bytes(5): add(&attrs, func(b []byte) (*protoAttr, error) { return readAttr(b, depth+1) }),
		message.Bytes(7): toText(&n.domain),
		message.Bytes(8): toText(&n.overload),
	})
	for _, a := range attrs {
		n.attrs[a.name] = a
	}
	if n.domain == "ai.onnx" {
		n.domain = ""
	}
	return n, err
}

func readAttr(b []byte, depth int) (*protoAttr, error) {
	a := &protoAttr{}
	graph := func(b []byte) (*protoGraph, error) { return readGraph(b, depth) }
	var floats []byte
	table := map[message.Tag]fieldFunc{
		message.Bytes(1):   toText(&a.name),
		message.Fixed32(2): func(n uint64, _ []byte) error { a.f = math.Float32frombits(uint32(n)); return nil },
		message.Varint(3):  toInt(&a.i),
		message.Bytes(4):   func(_ uint64, data []byte) error { a.s = data; return nil },
		message.Bytes(5):   set(&a.t, readTensor),
		message.Bytes(6):   set(&a.g, graph),
		message.Bytes(9):   addBytes(&a.texts),
		message.Bytes(11):  add(&a.graphs, graph),
		message.Bytes(14):  set(&a.typ, func(b []byte) (*protoType, error) { return readType(b, 0) }),
		message.Bytes(21):  toText(&a.ref),
		message.Bytes(22):  set(&a.sparse, readSparse),
	}
	addPacked(table, 7, 4, &floats)
	addVarints(table, 8, func(x uint64) { a.ints = append(a.ints, int64(x)) })
	err := fields(b, table)
	for ; len(floats) > 0; floats = floats[4:] {
		a.floats = append(a.floats, math.Float32frombits(binary.LittleEndian.Uint32(floats)))
	}
	return a, err
}

func readTensor(b []byte) (*protoTensor, error) {
	t := &protoTensor{}
	var dtype, location int64
	table := map[message.Tag]fieldFunc{
		message.Varint(2): toInt(&dtype),
		message.Bytes(6):  addBytes(&t.texts),
		message.Bytes(8):  toText(&t.name),
		message.Bytes(9):  func(_ uint64, data []byte) error { t.raw, t.hasRaw = data, true; return nil },
		message.Bytes(13): func(_ uint64, data []byte) error {
			if t.external == nil {
				t.external = map[string]string{}
			}
			return entry(t.external)(0, data)
		},
		message.Varint(14): toInt(&location),
	}
	addVarints(table, 1, func(x uint64) { t.dims = append(t.dims, int64(x)) })
	addPacked(table, 4, 4, &t.floats)
	addVarints(table, 5, func(x uint64) { t.int32s = append(t.int32s, int64(x)) })
	addVarints(table, 7, func(x uint64) { t.int64s = append(t.int64s, int64(x)) })
	addPacked(table, 10, 8, &t.doubles)
	addVarints(table, 11, func(x uint64) { t.uint64s = append(t.uint64s, x) })
	err := fields(b, table)
	t.dtype, t.isOut = int(dtype), location == 1
	return t, err
}

func readSparse(b []byte) (*protoSparse, error) {
	s := &protoSparse{}
	table := map[message.Tag]fieldFunc{
		message.Bytes(1): set(&s.values, readTensor),
		message.Bytes(2): set(&s.indices, readTensor),
	}
	addVarints(table, 3, func(x uint64) { s.dims = append(s.dims, int64(x)) })
	return s, fields(b, table)
}

func readValue(b []byte) (*protoValue, error) {
	v := &protoValue{}
	return v, fields(b, map[message.Tag]fieldFunc{
		message.Bytes(1): toText(&v.name),
		message.Bytes(2): set(&v.typ, func(b []byte) (*protoType, error) { return readType(b, 0) }),
	})
}

func readType(b []byte, depth int) (*protoType, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("types are nested more than %d deep", maxDepth)
	}
	t := &protoType{}
	var dtype int64
	dims := func(_ uint64, data []byte) error {
		t.ranks = true
		return fields(data, map[message.Tag]fieldFunc{message.Bytes(1): add(&t.dims, readDim)})
	}
	tensor := func(kind typeKind) fieldFunc {
		return func(_ uint64, data []byte) error {
			t.kind = kind
			return fields(data, map[message.Tag]fieldFunc{message.Varint(1): toInt(&dtype), message.Bytes(2): dims})
		}
	}
	of := func(kind typeKind, field protowire.Number) fieldFunc {
		return func(_ uint64, data []byte) error {
			t.kind = kind
			return fields(data, map[message.Tag]fieldFunc{
				message.Bytes(field): set(&t.elem, func(b []byte) (*protoType, error) { return readType(b, depth+1) }),
			})
		}
	}
	err := fields(b, map[message.Tag]fieldFunc{
		message.Bytes(1): tensor(kindTensor),
		message.Bytes(4): of(kindSequence, 1),
		message.Bytes(5): of(kindMap, 2),
		message.Bytes(8): tensor(kindSparse),
		message.Bytes(9): of(kindOptional, 1),
	})
	t.dtype = int(dtype)
	return t, err
}

func readDim(b []byte) (protoDim, error) {
	d := protoDim{size: -1}
	return d, fields(b, map[message.Tag]fieldFunc{message.Varint(1): toInt(&d.size), message.Bytes(2): toText(&d.param)})
}
