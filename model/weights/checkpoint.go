package weights

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// A TensorFlow checkpoint is a tensor bundle: a table of names in PREFIX.index, and elements in
// PREFIX.data-00000-of-00001 and so on (tensor_bundle.cc). The table has a BundleHeaderProto
// under the empty key and a BundleEntryProto under each name.

// objectGraph is the key of the object graph, which is not a tensor.
const objectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH"

// bundleTypes are the element types, by their number in TensorFlow's DataType.
var bundleTypes = map[uint64]dtype.DType{
	1: dtype.Float32, 2: dtype.Float64, 3: dtype.Int32, 4: dtype.Uint8, 5: dtype.Int16, 6: dtype.Int8, 7: dtype.String,
	8: dtype.Complex64, 9: dtype.Int64, 10: dtype.Bool, 14: dtype.BFloat16, 17: dtype.Uint16, 18: dtype.Complex128,
	19: dtype.Float16, 22: dtype.Uint32, 23: dtype.Uint64,
}

// A bundle is an open checkpoint.
type bundle struct {
	shards  []section // whole data files
	swapped bool
	entries map[string]*bundleEntry
}

// A bundleEntry says where a tensor, or a slice of one, is stored.
type bundleEntry struct {
	kind   uint64
	dims   []int
	shard  uint64
	offset uint64
	size   uint64
	crc    uint32
	slices [][]extent // of a tensor that was saved in slices
}

// An extent is a range along an axis; a negative length means the whole axis.
type extent struct{ start, length int }

func openCheckpoint(f *File, prefix string) error {
	h, size, err := f.file(prefix + ".index")
	if err != nil {
		return err
	}
	b := &bundle{entries: map[string]*bundleEntry{}}
	names, shards, err := b.index(section{h, 0, size})
	if err != nil {
		return at("index", err)
	}
	for i := range shards {
		h, size, err := f.file(fmt.Sprintf("%s.data-%05d-of-%05d", prefix, i, shards))
		if err != nil {
			return err
		}
		b.shards = append(b.shards, section{h, 0, size})
	}
	for _, name := range names {
		e := b.entries[name]
		dt, ok := bundleTypes[e.kind]
		if !ok {
			return at(name, unsupported("elements of TensorFlow's type %d are not supported", e.kind))
		}
		if err := b.check(name, e, dt); err != nil {
			return at(name, err)
		}
		if err := f.add(name, specOf(dt, e.dims), func() (tensor.Tensor, error) { return b.read(name, e, dt) }); err != nil {
			return err
		}
	}
	return nil
}

// maxShards is far beyond what any program writes.
const maxShards = 1 << 16

// index reads the table and returns the names of tensors in its order.
func (b *bundle) index(s section) (names []string, shards int, err error) {
	header := false
	err = readTable(s, func(key, value []byte) error {
		if len(key) == 0 {
			header = true
			shards, b.swapped, err = bundleHeader(value)
			return err
		}
		name := string(key)
		if name == objectGraph {
			return nil
		}
		e, err := parseBundleEntry(value)
		if err != nil {
			return at(name, err)
		}
		if b.entries[name] != nil {
			return invalid("the name %q occurs twice", name)
		}
		if b.entries[name] = e; key[0] != 0 { // keys of slices begin with a zero byte
			names = append(names, name)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, 0, err
	case !header:
		return nil, 0, invalid("there is no header")
	case shards < 0 || shards > maxShards:
		return nil, 0, invalid("a checkpoint cannot have %d data files", shards)
	}
	return names, shards, nil
}

func bundleHeader(b []byte) (shards int, swapped bool, err error) {
	err = eachField(b, func(f protowire.Number, n uint64, _ []byte) error {
		switch f {
		case 1:
			shards = int(min(n, maxShards+1))
		case 2:
			swapped = n == 1
		}
		return nil
	})
	return shards, swapped, err
}

// eachField calls f for each field of a message, with its number or its bytes.
func eachField(b []byte, f func(field protowire.Number, n uint64, sub []byte) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return invalid("a message is truncated")
		}
		b = b[n:]
		var num uint64
		var sub []byte
		switch kind {
		case protowire.VarintType:
			num, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			num = uint64(x)
		case protowire.Fixed64Type:
			num, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			sub, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return invalid("a message is truncated")
		}
		b = b[n:]
		if err := f(field, num, sub); err != nil {
			return err
		}
	}
	return nil
}

func parseBundleEntry(b []byte) (*bundleEntry, error) {
	e := &bundleEntry{}
	err := eachField(b, func(f protowire.Number, n uint64, sub []byte) (err error) {
		switch f {
		case 1:
			e.kind = n
		case 2:
			e.dims, err = bundleShape(sub)
		case 3:
			e.shard = n
		case 4:
			e.offset = n
		case 5:
			e.size = n
		case 6:
			e.crc = uint32(n)
		case 7:
			var s []extent
			s, err = bundleSlice(sub)
			e.slices = append(e.slices, s)
		}
		return err
	})
	return e, err
}

// bundleShape reads a TensorShapeProto.
func bundleShape(b []byte) (dims []int, err error) {
	err = eachField(b, func(f protowire.Number, n uint64, sub []byte) error {
		if f == 3 && n != 0 {
			return invalid("a tensor has an unknown rank")
		}
		if f != 2 {
			return nil
		}
		size := 0
		err := eachField(sub, func(f protowire.Number, n uint64, _ []byte) error {
			if f == 1 {
				size = int(n)
			}
			return nil
		})
		dims = append(dims, size)
		return err
	})
	return dims, err
}

// bundleSlice reads a TensorSliceProto.
func bundleSlice(b []byte) (out []extent, err error) {
	err = eachField(b, func(f protowire.Number, _ uint64, sub []byte) error {
		if f != 1 {
			return nil
		}
		x := extent{0, -1}
		err := eachField(sub, func(f protowire.Number, n uint64, _ []byte) error {
			switch f {
			case 1:
				x.start = int(n)
			case 2:
				x.length = int(n)
			}
			return nil
		})
		out = append(out, x)
		return err
	})
	return out, err
}

// place returns the section with the elements of an entry.
func (b *bundle) place(e *bundleEntry) (section, error) {
	if e.shard >= uint64(len(b.shards)) {
		return section{}, invalid("it is in data file %d, but there are %d", e.shard, len(b.shards))
	}
	s := b.shards[e.shard]
	if e.offset > uint64(s.n) || e.size > uint64(s.n)-e.offset {
		return section{}, invalid("%d bytes at offset %d extend beyond the end of data file %d, which has %d", e.size, e.offset, e.shard, s.n)
	}
	return section{s.r, int64(e.offset), int64(e.size)}, nil
}

// check compares an entry with the files, before anything is read.
func (b *bundle) check(name string, e *bundleEntry, dt dtype.DType) error {
	n, err := count(e.dims)
	if err != nil {
		return err
	}
	if e.slices == nil {
		if _, err := b.place(e); err != nil {
			return err
		}
		least := max(1, dt.Size()) // a string has at least one byte, for its length
		if uint64(n) > e.size/uint64(least) || dt != dtype.String && uint64(n*least) != e.size {
			return invalid("%d elements of type %v do not fit %d bytes", n, dt, e.size)
		}
		return nil
	}
	if dt == dtype.String {
		return unsupported("strings that were saved in slices are not supported")
	}
	sum := 0
	for i, s := range e.slices {
		part := b.entries[sliceKey(name, s)]
		if part == nil || part.kind != e.kind || part.slices != nil {
			return invalid("slice %d is missing", i)
		}
		dims, err := e.sliced(s)
		if err != nil {
			return err
		}
		if !slices.Equal(dims, part.dims) {
			return invalid("slice %d has sizes %v, not %v", i, part.dims, dims)
		}
		if err := b.check("", part, dt); err != nil {
			return err
		}
		m, _ := count(dims)
		sum += m
	}
	if sum != n {
		return invalid("the slices have %d of %d elements", sum, n)
	}
	return nil
}

// sliced returns the sizes of a slice.
func (e *bundleEntry) sliced(s []extent) ([]int, error) {
	if len(s) != len(e.dims) {
		return nil, invalid("a slice has %d axes, but the tensor has %d", len(s), len(e.dims))
	}
	out := make([]int, len(s))
	for k, x := range s {
		if out[k] = x.length; x.length < 0 {
			out[k] = e.dims[k]
		}
		if x.start < 0 || x.start > e.dims[k] || out[k] > e.dims[k]-x.start {
			return nil, invalid("a slice has entries from %d, %d of them, but the axis has %d", x.start, out[k], e.dims[k])
		}
	}
	return out, nil
}

// read reads a tensor and checks its checksum.
func (b *bundle) read(name string, e *bundleEntry, dt dtype.DType) (tensor.Tensor, error) {
	if e.slices == nil {
		return b.whole(e, dt)
	}
	d := tensor.NewDense(dt, specOf(dt, e.dims).Shape())
	for _, s := range e.slices {
		t, err := b.whole(b.entries[sliceKey(name, s)], dt)
		if err != nil {
			return nil, err
		}
		e.put(d, t.(*tensor.Dense), s)
	}
	return d, nil
}

// put copies a slice to its place, row by row along the last axis.
func (e *bundleEntry) put(d, part *tensor.Dense, s []extent) {
	dims, size := part.Shape().Dims(), d.DType().Size()
	if part.Len() == 0 {
		return
	}
	if len(dims) == 0 {
		copy(d.Bytes(), part.Bytes())
		return
	}
	last := len(dims) - 1
	row := dims[last] * size
	index := make([]int, last)
	for from := part.Bytes(); len(from) > 0; from = from[row:] {
		at := 0
		for k, i := range index {
			at = (at + s[k].start + i) * e.dims[k+1]
		}
		copy(d.Bytes()[(at+s[last].start)*size:], from[:row])
		for k := last - 1; k >= 0; k-- {
			if index[k]++; index[k] < dims[k] {
				break
			}
			index[k] = 0
		}
	}
}

// whole reads the elements of an entry without slices.
func (b *bundle) whole(e *bundleEntry, dt dtype.DType) (tensor.Tensor, error) {
	s, err := b.place(e)
	if err != nil {
		return nil, err
	}
	if dt == dtype.String {
		return b.texts(s, e)
	}
	d := tensor.Uninit(dt, specOf(dt, e.dims).Shape())
	if err := s.into(d.Bytes()); err != nil {
		return nil, err
	}
	if crc := masked(crc32.Checksum(d.Bytes(), castagnoli)); crc != e.crc {
		return nil, invalid("its elements have the checksum %08x, want %08x", crc, e.crc)
	}
	mend(dt, d.Bytes(), b.swapped)
	return d, nil
}

// texts reads strings: their lengths as varints, a checksum of the lengths as 32-bit numbers
// (64-bit for long ones), and the bytes.
func (b *bundle) texts(s section, e *bundleEntry) (tensor.Tensor, error) {
	data, err := s.bytes()
	if err != nil {
		return nil, err
	}
	n, err := count(e.dims)
	if err != nil {
		return nil, err
	}
	lengths, crc := make([]uint64, n), uint32(0)
	for i := range lengths {
		x, k := binary.Uvarint(data)
		if k <= 0 || x > uint64(len(data)) {
			return nil, invalid("the length of string %d is invalid", i)
		}
		lengths[i], data = x, data[k:]
		crc = crc32.Update(crc, castagnoli, binary.LittleEndian.AppendUint32(nil, uint32(x)))
	}
	if len(data) < 4 || masked(crc) != binary.LittleEndian.Uint32(data) {
		return nil, invalid("the lengths of its strings do not match their checksum")
	}
	crc = crc32.Update(crc, castagnoli, data)
	if data = data[4:]; masked(crc) != e.crc {
		return nil, invalid("its strings do not match their checksum")
	}
	out := make([]string, n)
	for i, l := range lengths {
		if l > uint64(len(data)) {
			return nil, invalid("string %d is truncated", i)
		}
		out[i], data = string(data[:l]), data[l:]
	}
	if len(data) > 0 {
		return nil, invalid("%d bytes follow the strings", len(data))
	}
	return texts(out, e.dims), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns a checksum as it is stored: masked, so that checksums of data that contains
// checksums do not coincide with them.
func masked(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }
