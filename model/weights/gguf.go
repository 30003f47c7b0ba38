package weights

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// The format is described in docs/gguf.md of ggml. All numbers are little-endian.

// ggufReader reads the header: the part before the tensors' elements.
type ggufReader struct {
	r        io.ReaderAt
	size, at int64
	buffer   []byte // read ahead
}

// next returns the next n bytes, which stay valid until the next call.
func (g *ggufReader) next(n int64) ([]byte, error) {
	if n < 0 || n > g.size-g.at {
		return nil, invalid("the header is truncated: %d bytes at offset %d of %d", n, g.at, g.size)
	}
	if int64(len(g.buffer)) < n {
		g.buffer = make([]byte, min(max(n, 1<<16), g.size-g.at))
		if err := (section{g.r, g.at, int64(len(g.buffer))}).into(g.buffer); err != nil {
			return nil, err
		}
	}
	b := g.buffer[:n]
	g.buffer = g.buffer[n:]
	g.at += n
	return b, nil
}

func (g *ggufReader) uint32() (uint32, error) {
	b, err := g.next(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (g *ggufReader) uint64() (uint64, error) {
	b, err := g.next(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

func (g *ggufReader) text() (string, error) {
	n, err := g.uint64()
	if err != nil {
		return "", err
	}
	if n > uint64(g.size-g.at) {
		return "", invalid("a string of %d bytes at offset %d does not fit %d bytes", n, g.at, g.size)
	}
	b, err := g.next(int64(n))
	if err != nil {
		return "", err
	}
	return string(b), nil
}

// The kinds of values.
const (
	ggufBool  = 7
	ggufText  = 8
	ggufArray = 9
)

// ggufNumbers are the sizes of the kinds that are numbers or bools.
var ggufNumbers = map[uint32]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, ggufBool: 1, 10: 8, 11: 8, 12: 8}

// value reads a value of a kind.
func (g *ggufReader) value(kind uint32, depth int) (any, error) {
	switch kind {
	case ggufText:
		return g.text()
	case ggufArray:
		return g.array(depth)
	}
	n, ok := ggufNumbers[kind]
	if !ok {
		return nil, invalid("a value has the unknown kind %d", kind)
	}
	b, err := g.next(int64(n))
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	switch kind {
	case 0:
		return int(b[0]), nil
	case 1:
		return int(int8(b[0])), nil
	case 2:
		return int(le.Uint16(b)), nil
	case 3:
		return int(int16(le.Uint16(b))), nil
	case 4:
		return int(le.Uint32(b)), nil
	case 5:
		return int(int32(le.Uint32(b))), nil
	case 6:
		return math.Float32frombits(le.Uint32(b)), nil
	case ggufBool:
		return b[0] != 0, nil
	case 10:
		return le.Uint64(b), nil
	case 11:
		return int(le.Uint64(b)), nil
	}
	return math.Float64frombits(le.Uint64(b)), nil
}

func (g *ggufReader) array(depth int) (any, error) {
	kind, err := g.uint32()
	if err != nil {
		return nil, err
	}
	n, err := g.uint64()
	if err != nil {
		return nil, err
	}
	least := 8 // of a string; an array has 12
	if s, ok := ggufNumbers[kind]; ok {
		least = s
	}
	if n > uint64(g.size-g.at)/uint64(least) || depth > 3 {
		return nil, invalid("an array of %d values at offset %d does not fit %d bytes", n, g.at, g.size)
	}
	out := make([]any, 0, n)
	for range n {
		x, err := g.value(kind, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// A ggufTensor is the header's description of a tensor.
type ggufTensor struct {
	name   string
	dims   []int // outermost first
	n      int   // elements
	block  ggufBlock
	offset uint64
	bytes  int64
}

func openGGUF(f *File, h io.ReaderAt, size int64) error {
	g := &ggufReader{r: h, size: size}
	tensors, err := g.header(f.meta)
	if err != nil {
		return err
	}
	align, err := alignment(f.meta)
	if err != nil {
		return err
	}
	start, sum := padded(g.at, align), int64(0)
	for _, t := range tensors {
		if t.offset != uint64(sum) {
			return at(t.name, invalid("its elements should begin at %[2]d, after the previous tensor, but the header says %[1]d", t.offset, sum))
		}
		data, err := within(h, size, start+sum, t.bytes)
		if err != nil {
			return at(t.name, err)
		}
		sum += padded(t.bytes, align)
		if err := f.add(t.name, specOf(t.block.dt, t.dims), func() (tensor.Tensor, error) { return t.read(data) }); err != nil {
			return err
		}
	}
	return nil
}

// padded returns n rounded up to a multiple of align.
func padded(n, align int64) int64 { return (n + align - 1) / align * align }

// alignment returns the alignment of tensors, a power of two.
func alignment(meta map[string]any) (int64, error) {
	x, ok := meta["general.alignment"]
	if !ok {
		return 32, nil
	}
	n, ok := x.(int)
	if !ok || n <= 0 || n > 1<<20 || bits.OnesCount(uint(n)) != 1 {
		return 0, invalid("general.alignment is %v, which is not a power of two", x)
	}
	return int64(n), nil
}

// header reads everything before the tensors' elements.
func (g *ggufReader) header(meta map[string]any) ([]*ggufTensor, error) {
	magic, err := g.next(4)
	if err != nil {
		return nil, err
	}
	if string(magic) != "GGUF" {
		return nil, invalid("it does not begin like a GGUF file")
	}
	version, err := g.uint32()
	if err != nil {
		return nil, err
	}
	switch {
	case version&0xFFFF == 0:
		return nil, invalid("it has the opposite byte order: its version reads as %#x", version)
	case version != 2 && version != 3:
		return nil, invalid("version %d of GGUF is not supported; versions 2 and 3 are", version)
	}
	tensors, err := g.uint64()
	if err != nil {
		return nil, err
	}
	keys, err := g.uint64()
	if err != nil {
		return nil, err
	}
	const leastTensor, leastKey = 8 + 4 + 4 + 8, 8 + 4 + 1
	if left := uint64(g.size - g.at); tensors > left/leastTensor || keys > left/leastKey {
		return nil, invalid("%d tensors and %d keys do not fit into %d bytes", tensors, keys, g.size)
	}
	for range keys {
		if err := g.key(meta); err != nil {
			return nil, err
		}
	}
	out := make([]*ggufTensor, 0, tensors)
	for range tensors {
		t, err := g.tensor()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func (g *ggufReader) key(meta map[string]any) error {
	name, err := g.text()
	if err != nil {
		return err
	}
	if _, twice := meta[name]; twice {
		return invalid("the key %q occurs twice", name)
	}
	kind, err := g.uint32()
	if err != nil {
		return err
	}
	meta[name], err = g.value(kind, 0)
	if err != nil {
		return at(name, err)
	}
	return nil
}

func (g *ggufReader) tensor() (*ggufTensor, error) {
	name, err := g.text()
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(name) {
		return nil, invalid("the name %q is not UTF-8", name)
	}
	rank, err := g.uint32()
	if err != nil {
		return nil, err
	}
	if rank > 4 {
		return nil, at(name, invalid("it has %d dimensions, but GGUF allows at most 4", rank))
	}
	t := &ggufTensor{name: name}
	for range rank {
		d, err := g.uint64()
		if err != nil {
			return nil, err
		}
		if d > maxElements {
			return nil, at(name, invalid("it has the size %d", d))
		}
		t.dims = append(t.dims, int(d))
	}
	slices.Reverse(t.dims) // the file has the innermost dimension first
	if t.n, err = count(t.dims); err != nil {
		return nil, at(name, err)
	}
	kind, err := g.uint32()
	if err != nil {
		return nil, err
	}
	if t.offset, err = g.uint64(); err != nil {
		return nil, err
	}
	if t.block, err = blockOf(kind); err != nil {
		return nil, at(name, err)
	}
	if per := t.block.elements; rank > 0 && t.dims[rank-1]%per != 0 || rank == 0 && per > 1 {
		return nil, at(name, invalid("a row of %v is not a whole number of blocks of %d", t.dims, per))
	}
	if blocks := int64(t.n / t.block.elements); blocks > g.size/int64(t.block.bytes) {
		return nil, at(name, invalid("%d blocks of %d bytes do not fit %d bytes", blocks, t.block.bytes, g.size))
	} else {
		t.bytes = blocks * int64(t.block.bytes)
	}
	return t, nil
}

// read reads the elements.
func (t *ggufTensor) read(s section) (tensor.Tensor, error) {
	if t.block.decode == nil {
		return s.dense(specOf(t.block.dt, t.dims), false)
	}
	b, err := s.bytes()
	if err != nil {
		return nil, err
	}
	d := tensor.Uninit(dtype.Float32, specOf(dtype.Float32, t.dims).Shape())
	out := tensor.Data[float32](d)
	for ; len(out) > 0; out = out[t.block.elements:] {
		t.block.decode(out[:t.block.elements], b[:t.block.bytes])
		b = b[t.block.bytes:]
	}
	return d, nil
}
