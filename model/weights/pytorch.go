package weights

import (
	"archive/zip"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/zipbounds"
	"github.com/tenonml/tenon/tensor"
)

// legacyMagic is the beginning of files that PyTorch wrote before version 1.6: a pickle of the
// number 0x1950a86a20f9469cfc6c.
const legacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"

// maxPyTorchPickle bounds the size of the pickle of an archive, which has names and shapes
// only.
const maxPyTorchPickle = 1 << 30

// An archive is a PyTorch file: a ZIP file with a pickle, data.pkl, and a record for each
// storage.
type archive struct {
	records  map[string]*zip.File
	root     string
	swapped  bool
	mu       sync.Mutex
	storages map[string]*loaded
}

// loaded is a storage that was read.
type loaded struct {
	once sync.Once
	d    *tensor.Dense
	err  error
}

// A storage is a record of elements that tensors share.
type storage struct {
	key      string
	dt       dtype.DType // None for bytes
	elements int
}

// A view is a tensor of the pickle: some elements of a storage.
type view struct {
	of      storage
	dt      dtype.DType
	offset  int
	dims    []int
	strides []int
	n       int
}

func openPyTorch(f *File, h io.ReaderAt, size int64) error {
	head := make([]byte, min(int64(len(legacyMagic)), size))
	if err := (section{h, 0, size}).into(head); err != nil {
		return err
	}
	if string(head) == legacyMagic {
		return &tenon.Error{Kind: tenon.ErrUnsupported, Msg: "it is in the format that PyTorch wrote before version 1.6",
			Hint: "load it in PyTorch and save it again, if possible as safetensors"}
	}
	z, err := zipbounds.Open(h, size)
	if err != nil {
		return invalid("it is not a complete archive: %v", err)
	}
	a, err := newArchive(z)
	if err != nil {
		return err
	}
	text, err := a.text("data.pkl", maxPyTorchPickle)
	if err != nil {
		return err
	}
	p := &pickle{rest: text, call: a.call, persistent: a.storage}
	x, err := p.load()
	if err != nil {
		return at("data.pkl", err)
	}
	n := &naming{f: f, a: a, left: 64 + 4*len(text)}
	return n.walk("", x, 0)
}

func newArchive(z *zip.Reader) (*archive, error) {
	a := &archive{records: map[string]*zip.File{}, storages: map[string]*loaded{}}
	found := false
	for _, r := range z.File {
		if a.records[r.Name] != nil {
			return nil, invalid("the record %q occurs twice", r.Name)
		}
		a.records[r.Name] = r
		if root, ok := strings.CutSuffix(r.Name, "data.pkl"); ok && !found && (root == "" || strings.HasSuffix(root, "/")) {
			a.root, found = root, true
		}
	}
	if !found {
		return nil, invalid("the archive has no data.pkl, so PyTorch did not write it")
	}
	if a.records[a.root+"byteorder"] == nil {
		return a, nil
	}
	order, err := a.text("byteorder", 16)
	if err != nil {
		return nil, err
	}
	switch strings.TrimSpace(string(order)) {
	case "little":
	case "big":
		a.swapped = true
	default:
		return nil, invalid("the byte order %q is unknown", order)
	}
	return a, nil
}

// text reads a short record.
func (a *archive) text(name string, most uint64) ([]byte, error) {
	r := a.records[a.root+name]
	if r.UncompressedSize64 > most {
		return nil, at(name, invalid("%d bytes are more than the limit of %d", r.UncompressedSize64, most))
	}
	b, err := unzip(r)
	if err != nil {
		return nil, at(name, err)
	}
	return b, nil
}

// storageTypes are the element types, by PyTorch's classes of storages.
var storageTypes = map[string]dtype.DType{
	"BoolStorage": dtype.Bool, "ByteStorage": dtype.Uint8, "CharStorage": dtype.Int8, "ShortStorage": dtype.Int16,
	"IntStorage": dtype.Int32, "LongStorage": dtype.Int64, "HalfStorage": dtype.Float16, "BFloat16Storage": dtype.BFloat16,
	"FloatStorage": dtype.Float32, "DoubleStorage": dtype.Float64, "ComplexFloatStorage": dtype.Complex64,
	"ComplexDoubleStorage": dtype.Complex128, "UntypedStorage": dtype.None,
}

// torchTypes are the element types, by PyTorch's names.
var torchTypes = map[string]dtype.DType{
	"bool": dtype.Bool, "uint8": dtype.Uint8, "int8": dtype.Int8, "int16": dtype.Int16, "int32": dtype.Int32, "int64": dtype.Int64,
	"uint16": dtype.Uint16, "uint32": dtype.Uint32, "uint64": dtype.Uint64, "float16": dtype.Float16, "bfloat16": dtype.BFloat16,
	"float32": dtype.Float32, "float64": dtype.Float64, "complex64": dtype.Complex64, "complex128": dtype.Complex128,
}

// storage returns the storage for a persistent identifier: ("storage", class, key, device,
// number of elements).
func (a *archive) storage(id any) (any, error) {
	l, ok := id.(*pickleList)
	if !ok || len(l.items) < 5 || l.items[0] != "storage" {
		return nil, invalid("the pickle refers to something that is not a storage")
	}
	class, ok1 := l.items[1].(global)
	key, ok2 := l.items[2].(string)
	n, ok3 := l.items[4].(int)
	if !ok1 || !ok2 || !ok3 || n < 0 {
		return nil, invalid("the pickle's description of a storage is invalid")
	}
	dt, ok := storageTypes[class.name]
	if !ok || class.module != "torch" && class.module != "torch.storage" {
		return nil, unsupported("elements of %s.%s are not supported", class.module, class.name)
	}
	s := storage{key: key, dt: dt, elements: n}
	r := a.records[a.root+"data/"+key]
	if r == nil {
		return nil, invalid("the storage %q is not in the archive", key)
	}
	if uint64(n) > r.UncompressedSize64/uint64(max(1, dt.Size())) {
		return nil, invalid("the storage %q should have %d elements, but has %d bytes", key, n, r.UncompressedSize64)
	}
	return s, nil
}

// call implements the functions that make tensors from storages and dictionaries from pairs.
// Any other function would be code.
func (a *archive) call(f global, args []any) (any, error) {
	switch f {
	case global{"collections", "OrderedDict"}:
		return orderedDict(args)
	case global{"torch", "Size"}, global{"builtins", "tuple"}, global{"__builtin__", "tuple"}, global{"builtins", "list"}, global{"__builtin__", "list"}:
		if len(args) == 1 {
			if l, ok := args[0].(*pickleList); ok {
				return l, nil
			}
		}
		return &pickleList{}, nil
	case global{"torch", "device"}, global{"builtins", "set"}, global{"__builtin__", "set"}, global{"_codecs", "encode"}:
		return &pickleSet{}, nil
	case global{"torch._utils", "_rebuild_tensor"}, global{"torch._utils", "_rebuild_tensor_v2"}:
		return rebuild(args, dtype.None)
	case global{"torch._utils", "_rebuild_tensor_v3"}:
		if len(args) >= 7 {
			if g, ok := args[6].(global); ok && g.module == "torch" && torchTypes[g.name] != dtype.None {
				return rebuild(args, torchTypes[g.name])
			}
		}
		return nil, unsupported("a tensor has an unknown element type")
	case global{"torch._utils", "_rebuild_parameter"}, global{"torch._utils", "_rebuild_parameter_with_state"}:
		if len(args) >= 1 {
			if v, ok := args[0].(*view); ok {
				return v, nil
			}
		}
		return nil, invalid("a parameter is not a tensor")
	}
	return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Msg: "it calls " + f.module + "." + f.name + ", which is code; code in files is not run",
		Hint: "save only the tensors: torch.save(model.state_dict(), path), or as safetensors"}
}

func orderedDict(args []any) (any, error) {
	d := &pickleDict{}
	if len(args) == 0 {
		return d, nil
	}
	pairs, ok := args[0].(*pickleList)
	if !ok {
		return nil, invalid("an ordered dictionary is not made of pairs")
	}
	for _, x := range pairs.items {
		p, ok := x.(*pickleList)
		if !ok || len(p.items) != 2 {
			return nil, invalid("an ordered dictionary is not made of pairs")
		}
		d.keys, d.values = append(d.keys, p.items[0]), append(d.values, p.items[1])
	}
	return d, nil
}

// rebuild makes a view from (storage, offset, sizes, strides, …). If dt is not given, it is
// that of the storage.
func rebuild(args []any, dt dtype.DType) (any, error) {
	if len(args) < 4 {
		return nil, invalid("a tensor is described by %d values", len(args))
	}
	s, ok1 := args[0].(storage)
	offset, ok2 := args[1].(int)
	dims, ok3 := ints(args[2])
	strides, ok4 := ints(args[3])
	if !ok1 || !ok2 || !ok3 || !ok4 || len(dims) != len(strides) {
		return nil, invalid("the description of a tensor is invalid")
	}
	if dt == dtype.None {
		dt = s.dt
	}
	room := s.elements
	if s.dt == dtype.None {
		if dt == dtype.None {
			dt = dtype.Uint8
		}
		room /= dt.Size()
	} else if dt.Size() != s.dt.Size() {
		return nil, invalid("a tensor has the type %v, but its storage has %v", dt, s.dt)
	}
	n, err := count(dims)
	if err != nil {
		return nil, err
	}
	if err := reaches(room, n, offset, dims, strides); err != nil {
		return nil, err
	}
	return &view{of: s, dt: dt, offset: offset, dims: dims, strides: strides, n: n}, nil
}

// maxExpanded bounds how often a tensor of more than 1 Mi elements may repeat the elements of
// its storage.
const maxExpanded = 64

// reaches checks that a view stays within its storage, which has room elements.
func reaches(room, n, offset int, dims, strides []int) error {
	if offset < 0 || offset > room {
		return invalid("a tensor begins at element %d of a storage of %d", offset, room)
	}
	if n == 0 {
		return nil
	}
	last := offset
	for k, d := range dims {
		if strides[k] < 0 || d > 1 && strides[k] > (room-last)/(d-1) {
			return invalid("a tensor %v with strides %v at %d extends beyond its storage of %d elements", dims, strides, offset, room)
		}
		last += (d - 1) * strides[k]
	}
	if last >= room {
		return invalid("a tensor %v with strides %v at %d extends beyond its storage of %d elements", dims, strides, offset, room)
	}
	if n > 1<<20 && n/maxExpanded > room {
		return invalid("a tensor of %d elements repeats a storage of %d elements too often", n, room)
	}
	return nil
}

func ints(x any) ([]int, bool) {
	l, ok := x.(*pickleList)
	if !ok {
		return nil, false
	}
	out := make([]int, len(l.items))
	for i, e := range l.items {
		if out[i], ok = e.(int); !ok {
			return nil, false
		}
	}
	return out, true
}

// naming gives tensors their names.
type naming struct {
	f    *File
	a    *archive
	left int // number of values that may still be visited; shared ones count each time
}

func (n *naming) walk(path string, x any, depth int) error {
	if n.left--; n.left < 0 || depth > 200 {
		return invalid("the pickle contains itself, or is nested too deeply")
	}
	join := func(key string) string {
		if depth == 0 {
			return key
		}
		return path + "." + key
	}
	switch x := x.(type) {
	case *view:
		return n.f.add(path, specOf(x.dt, x.dims), func() (tensor.Tensor, error) { return n.a.read(x) })
	case *pickleList:
		for i, e := range x.items {
			if err := n.walk(join(strconv.Itoa(i)), e, depth+1); err != nil {
				return err
			}
		}
	case *pickleDict:
		for i, e := range x.values {
			switch k := x.keys[i].(type) {
			case string:
				if err := n.walk(join(k), e, depth+1); err != nil {
					return err
				}
			case int:
				if err := n.walk(join(strconv.Itoa(k)), e, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// read reads a tensor. Tensors with the same storage share its memory.
func (a *archive) read(v *view) (tensor.Tensor, error) {
	a.mu.Lock()
	l := a.storages[v.of.key]
	if l == nil {
		l = &loaded{}
		a.storages[v.of.key] = l
	}
	a.mu.Unlock()
	l.once.Do(func() { l.d, l.err = a.load(v.of) })
	if l.err != nil {
		return nil, l.err
	}
	d := l.d
	if d.DType() != v.dt { // the storage has no type of its own
		var err error
		if d, err = retyped(d, v.dt, a.swapped); err != nil {
			return nil, err
		}
	}
	return tensor.Contiguous(d.View(v.offset, specOf(v.dt, v.dims).Shape(), v.strides)), nil
}

// load reads a storage.
func (a *archive) load(s storage) (*tensor.Dense, error) {
	r := a.records[a.root+"data/"+s.key]
	if s.dt == dtype.None {
		s.dt = dtype.Uint8
	}
	d := tensor.Uninit(s.dt, specOf(s.dt, []int{s.elements}).Shape())
	b := d.Bytes()
	if r.Method == zip.Store {
		h, err := r.OpenRaw()
		if err == nil {
			_, err = io.ReadFull(h, b)
		}
		if err != nil {
			return nil, invalid("the storage %q cannot be read: %v", s.key, err)
		}
	} else {
		whole, err := unzip(r)
		if err != nil {
			return nil, err
		}
		if copy(b, whole) < len(b) {
			return nil, errors.New("the storage is too short")
		}
	}
	mend(s.dt, b, a.swapped)
	return d, nil
}

// retyped returns the bytes of a storage as elements of another type.
func retyped(d *tensor.Dense, dt dtype.DType, swapped bool) (*tensor.Dense, error) {
	n := d.Len() / dt.Size()
	b := append([]byte(nil), d.Bytes()[:n*dt.Size()]...)
	mend(dt, b, swapped)
	return tensor.FromBytes(dt, specOf(dt, []int{n}).Shape(), b)
}
