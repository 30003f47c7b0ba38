package weights

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The format is NumPy's NEP 1: a magic string, two bytes of version, the length of a header,
// the header as a Python dictionary in text form, and the elements.
const npyMagic = "\x93NUMPY"

// maxNPYHeader is far beyond what NumPy itself reads (10,000 bytes).
const maxNPYHeader = 1 << 20

// An npyHeader is the decoded header of an array.
type npyHeader struct {
	kind     byte // of the element type: b i u f c S U
	item     int  // bytes of an element
	big      bool // big-endian
	columns  bool // column-major
	dims     []int
	elements int
	start    int64 // of the elements
}

// openNumPy opens an .npy file, or an .npz archive of such files.
func openNumPy(f *File, h io.ReaderAt, size int64) error {
	var magic [2]byte
	if _, err := h.ReadAt(magic[:], 0); err == nil && string(magic[:]) == "PK" {
		return openNPZ(f, h, size)
	}
	return f.addNPY("", h, size)
}

// addNPY adds the array that r provides.
func (f *File) addNPY(name string, r io.ReaderAt, size int64) error {
	head, err := readNPYHeader(r, size)
	if err != nil {
		return err
	}
	if head.item > 0 && int64(head.elements) > size/int64(head.item) {
		return invalid("%d elements of %d bytes do not fit the file, which has %d bytes", head.elements, head.item, size)
	}
	elements, err := within(r, size, head.start, int64(head.elements)*int64(head.item))
	if err != nil {
		return err
	}
	dt := head.dtype()
	return f.add(name, specOf(dt, head.dims), func() (tensor.Tensor, error) { return head.read(elements) })
}

func readNPYHeader(r io.ReaderAt, size int64) (*npyHeader, error) {
	head := make([]byte, min(12, size))
	if err := (section{r, 0, size}).into(head); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(head, []byte(npyMagic)) {
		return nil, invalid("it does not begin like an .npy file")
	}
	if len(head) < 10 {
		return nil, invalid("the file ends before its header")
	}
	start, length := int64(10), int64(binary.LittleEndian.Uint16(head[8:]))
	switch head[6] {
	case 1:
	case 2, 3:
		if len(head) < 12 {
			return nil, invalid("the file ends before its header")
		}
		start, length = 12, int64(binary.LittleEndian.Uint32(head[8:]))
	default:
		return nil, invalid("version %d.%d of the format is unknown", head[6], head[7])
	}
	if length > maxNPYHeader {
		return nil, invalid("a header of %d bytes is too long", length)
	}
	text, err := within(r, size, start, length)
	if err != nil {
		return nil, err
	}
	b, err := text.bytes()
	if err != nil {
		return nil, err
	}
	if head[6] == 3 && !utf8.Valid(b) {
		return nil, invalid("the header is not UTF-8")
	}
	h, err := parseNPYHeader(string(b))
	if err != nil {
		return nil, err
	}
	h.start = start + length
	return h, nil
}

func parseNPYHeader(text string) (*npyHeader, error) {
	p := &literals{text: text}
	x, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, invalid("the header continues after the dictionary: %.20q", p.text[p.at:])
	}
	dict, ok := x.(map[string]any)
	if !ok || len(dict) != 3 {
		return nil, invalid("the header is not a dictionary of descr, fortran_order and shape")
	}
	h := &npyHeader{}
	if h.columns, ok = dict["fortran_order"].(bool); !ok {
		return nil, invalid("fortran_order is neither True nor False")
	}
	dims, ok := dict["shape"].([]any)
	if !ok {
		return nil, invalid("the shape is not a tuple")
	}
	for _, d := range dims {
		n, ok := d.(int)
		if !ok {
			return nil, invalid("the shape has the size %v", d)
		}
		h.dims = append(h.dims, n)
	}
	if h.elements, err = count(h.dims); err != nil {
		return nil, err
	}
	switch descr := dict["descr"].(type) {
	case string:
		return h, h.describe(descr)
	case []any:
		return nil, unsupported("the elements are records; read them as an Arrow or Parquet table")
	}
	return nil, invalid("descr is not an element type")
}

// describe parses a descr such as <f4.
func (h *npyHeader) describe(descr string) error {
	s := descr
	if s != "" && strings.IndexByte("<>|=", s[0]) >= 0 {
		h.big = s[0] == '>'
		s = s[1:]
	}
	if s == "" {
		return invalid("the element type %q is unknown", descr)
	}
	h.kind = s[0]
	switch h.kind {
	case 'O':
		return unsupported("the elements are pickled Python objects")
	case 'M', 'm':
		return unsupported("the elements are dates or times; store them as integers, or in an Arrow or Parquet file")
	case 'V':
		return unsupported("the elements are raw bytes of type %s", descr)
	}
	n, err := strconv.Atoi(s[1:])
	if err != nil || n < 0 || n > 1<<30 {
		return invalid("the element type %q is unknown", descr)
	}
	if h.item = n; h.kind == 'U' {
		h.item = 4 * n
	}
	if h.kind != 'U' && h.kind != 'S' && h.dtype() == dtype.None {
		if h.kind == 'f' || h.kind == 'c' {
			return unsupported("numbers of type %s are not supported", descr)
		}
		return invalid("the element type %q is unknown", descr)
	}
	if h.item == 0 && h.elements > 1<<20 {
		return invalid("%d strings cannot have zero bytes", h.elements)
	}
	return nil
}

// npyTypes are the element types, by kind and size.
var npyTypes = map[string]dtype.DType{
	"b1": dtype.Bool, "i1": dtype.Int8, "i2": dtype.Int16, "i4": dtype.Int32, "i8": dtype.Int64,
	"u1": dtype.Uint8, "u2": dtype.Uint16, "u4": dtype.Uint32, "u8": dtype.Uint64,
	"f2": dtype.Float16, "f4": dtype.Float32, "f8": dtype.Float64, "c8": dtype.Complex64, "c16": dtype.Complex128,
}

func (h *npyHeader) dtype() dtype.DType {
	if h.kind == 'S' || h.kind == 'U' {
		return dtype.String
	}
	return npyTypes[string(h.kind)+strconv.Itoa(h.item)]
}

// read reads the elements.
func (h *npyHeader) read(s section) (tensor.Tensor, error) {
	// Column-major order is row-major order with the sizes, and then the axes, reversed.
	dims := slices.Clone(h.dims)
	if h.columns {
		slices.Reverse(dims)
	}
	if h.dtype() == dtype.String {
		return h.texts(s, dims)
	}
	t, err := s.dense(specOf(h.dtype(), dims), h.big)
	if err != nil || !h.columns || len(dims) < 2 {
		return t, err
	}
	d := t.(*tensor.Dense)
	return tensor.Contiguous(d.View(0, shape.Of(h.dims...), h.strides())), nil
}

// strides returns the strides, in elements, of a column-major array.
func (h *npyHeader) strides() []int {
	out, n := make([]int, len(h.dims)), 1
	for i, d := range h.dims {
		out[i] = n
		n *= d
	}
	return out
}

// texts reads strings of a fixed width, without trailing zeros.
func (h *npyHeader) texts(s section, dims []int) (tensor.Tensor, error) {
	b, err := s.bytes()
	if err != nil {
		return nil, err
	}
	out := make([]string, h.elements)
	for i := range out {
		item := b[i*h.item:][:h.item]
		if h.kind == 'S' {
			out[i] = string(bytes.TrimRight(item, "\x00"))
		} else if out[i], err = h.runes(item); err != nil {
			return nil, err
		}
	}
	if h.columns && len(dims) > 1 {
		out = h.rowsFirst(out)
	}
	return texts(out, h.dims), nil
}

// runes decodes a UTF-32 string.
func (h *npyHeader) runes(item []byte) (string, error) {
	var order binary.ByteOrder = binary.LittleEndian
	if h.big {
		order = binary.BigEndian
	}
	var text strings.Builder
	zeros := 0
	for ; len(item) > 0; item = item[4:] {
		r := rune(order.Uint32(item))
		if r == 0 {
			zeros++
			continue
		}
		if !utf8.ValidRune(r) {
			return "", invalid("the string contains %#x, which is not a character", uint32(r))
		}
		text.WriteString(strings.Repeat("\x00", zeros))
		zeros = 0
		text.WriteRune(r)
	}
	return text.String(), nil
}

// rowsFirst brings elements in column-major order into row-major order.
func (h *npyHeader) rowsFirst(in []string) []string {
	out, strides := make([]string, 0, len(in)), h.strides()
	index := make([]int, len(h.dims))
	for range in {
		at := 0
		for k, i := range index {
			at += i * strides[k]
		}
		out = append(out, in[at])
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < h.dims[k] {
				break
			}
			index[k] = 0
		}
	}
	return out
}
