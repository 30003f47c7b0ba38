package arrowio

import (
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A reading makes Values from validated arrays.
type reading struct {
	fn      string // the function called by the user
	o       ReadOptions
	budget  int64  // bytes that may still be allocated beyond the size of the input
	allowed int64  // initial budget
	mapped  []byte // a file that is mapped temporarily, or nil

	// parts are partitions by the position of their offsets, so that data divided in the same way
	// shares them.
	parts map[place]*ragged.RowPartition
}

// place is the position of offsets.
type place struct {
	at   *byte
	n    int
	wide bool
}

// newReading returns a reading of an input of the given size in bytes.
func newReading(fn string, o ReadOptions, size int64) *reading {
	budget := o.MaxBytes
	if budget <= 0 {
		budget = 64<<20 + 1024*min(size, 1<<50)
	}
	return &reading{fn: fn, o: o, budget: budget, allowed: budget, parts: map[place]*ragged.RowPartition{}}
}

// ErrMemory is the cause of errors for data that takes more memory than [ReadOptions].MaxBytes
// allows.
var ErrMemory = errors.New("the memory limit is exceeded")

// take accounts for memory; it throws if the budget is exceeded.
func (r *reading) take(at string, n int64) {
	if n < 0 || n > r.budget {
		e := fail(tenon.ErrInvalid, r.fn, at, "the data takes more than %d bytes beyond the size of the input", r.allowed)
		if e.Hint = "ReadOptions.MaxBytes allows more"; n > 0 {
			e.Err = ErrMemory
		}
		tenon.Throw(e)
	}
	r.budget -= n
}

func (r *reading) unsupported(at string, t arrow.DataType) error {
	e := fail(tenon.ErrUnsupported, r.fn, at, "arrays of type %v cannot be represented as tensors", t)
	e.Hint = "cast the column to a supported type, or do not select it (ReadOptions.Columns)"
	return e
}

func (r *reading) mismatch(at string, t arrow.DataType, want string) error {
	return fail(tenon.ErrDType, r.fn, at, "an array of type %v is not %s", t, want)
}

// slice returns elements [i, j) of a child.
func slice(d arrow.ArrayData, i, j int) arrow.ArrayData {
	if i == 0 && j == d.Len() {
		return d
	}
	return array.NewSliceData(d, int64(i), int64(j))
}

// storage returns the storage array of an extension array, or the array itself, and the name and
// metadata of the extension type, which may also come from the field.
func storage(f arrow.Field, d arrow.ArrayData) (name, meta string, out arrow.ArrayData) {
	if e, ok := d.DataType().(arrow.ExtensionType); ok {
		s := array.NewData(e.StorageType(), d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset())
		s.SetDictionary(dictionaryOf(s))
		if e.StorageType().ID() == arrow.DICTIONARY {
			s.SetDictionary(d.Dictionary())
		}
		return e.ExtensionName(), e.Serialize(), s
	}
	name, _ = f.Metadata.GetValue(keyExtName)
	meta, _ = f.Metadata.GetValue(keyExtMeta)
	return name, meta, d
}

// A level is an array of lists taken apart.
type level struct {
	item  arrow.Field
	child arrow.ArrayData // exactly the elements of all lists
	k     int             // size of fixed-size lists; -1 for others
	ends  []int64         // offsets of other lists
	wide  bool
}

// size returns the size that all lists have, or -1 if there are no lists. It returns false if sizes
// differ.
func (l level) size() (int, bool) {
	if len(l.ends) < 2 {
		return l.k, true
	}
	k := l.ends[1] - l.ends[0]
	for i := 2; i < len(l.ends); i++ {
		if l.ends[i]-l.ends[i-1] != k {
			return 0, false
		}
	}
	return int(k), true
}

// level takes lists apart. It returns false for other arrays.
func (r *reading) level(d arrow.ArrayData) (level, bool) {
	switch t := d.DataType().(type) {
	case *arrow.FixedSizeListType:
		k := int(t.Len())
		return level{t.ElemField(), slice(d.Children()[0], d.Offset()*k, (d.Offset()+d.Len())*k), k, nil, true}, true
	case *arrow.ListType:
		return listLevel(t.ElemField(), d, false), true
	case *arrow.LargeListType:
		return listLevel(t.ElemField(), d, true), true
	case *arrow.MapType:
		return listLevel(t.ElemField(), d, false), true
	}
	return level{}, false
}

func listLevel(item arrow.Field, d arrow.ArrayData, wide bool) level {
	ends := offsets(d, wide)
	return level{item, slice(d.Children()[0], int(ends[0]), int(ends[len(ends)-1])), -1, ends, wide}
}

// partition returns the rows of a level as a partition, of the given Spec if it fits.
func (r *reading) partition(at string, l level, n int, s *ragged.PartitionSpec) *ragged.RowPartition {
	d := dtype.Int32
	if l.wide {
		d = dtype.Int64
	}
	if s != nil {
		d = s.DType()
	}
	if l.k >= 0 || s != nil && s.IsUniform() {
		k := l.k
		if k < 0 {
			k = s.UniformRowLength()
		}
		if k >= 0 && k*n == l.child.Len() {
			if s != nil && s.IsUniform() {
				if p := assembled(s, tensor.Scalar(int64(n)), tensor.Scalar(int64(k))); p != nil {
					return p
				}
			}
			return tenon.Must(ragged.PartitionFromUniformRowLength(k, ragged.PartitionOptions{NRows: n, DType: d}))
		}
	}
	ends := l.ends
	if ends == nil {
		r.take(at, 8*(int64(n)+1))
		ends = make([]int64, n+1)
		for i := range ends {
			ends[i] = int64(i * l.k)
		}
	}
	key := place{n: len(ends), wide: l.wide}
	if b := asBytes(ends); len(b) > 0 {
		key.at = &b[0]
	}
	if p := r.parts[key]; p != nil && p.DType() == d {
		return p
	}
	if ends[0] != 0 || r.borrowed(asBytes(ends)) {
		ends = shifted(ends)
	}
	splits := tensor.Tensor(tensor.Vector(ends))
	if d == dtype.Int32 {
		splits = ops.Cast(splits, d)
	}
	var p *ragged.RowPartition
	if s != nil {
		p = assembled(s, splits)
	}
	if p == nil {
		p = tenon.Must(ragged.PartitionFromRowSplits(splits, ragged.PartitionOptions{DType: d}))
	}
	r.parts[key] = p
	return p
}

// assembled returns the partition that a Spec makes from components, or nil if they do not fit.
func assembled(s *ragged.PartitionSpec, components ...tensor.Tensor) *ragged.RowPartition {
	values := make([]tenon.Value, len(components))
	for i, c := range components {
		values[i] = ops.Cast(c, s.DType())
	}
	v, err := s.Assemble(values)
	if err != nil {
		return nil
	}
	return v.(*ragged.RowPartition)
}

// reshaped returns the elements of a vector in another shape.
func reshaped(v tensor.Tensor, dims ...int) tensor.Tensor {
	switch t := v.(type) {
	case *tensor.Dense:
		return tensor.Contiguous(t).Reshaped(shape.Of(dims...))
	case *tensor.Strings:
		return t.Reshaped(shape.Of(dims...))
	}
	return ops.Reshape(v, dims)
}

// product multiplies sizes; it returns -1 on overflow.
func product(dims []int) int {
	n := 1
	if slices.Contains(dims, 0) {
		return 0
	}
	for _, k := range dims {
		if k < 0 || k > 1<<47/n {
			return -1
		}
		n *= k
	}
	return n
}
