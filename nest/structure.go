package nest

import (
	"hash/maphash"
	"math/bits"
	"unsafe"

	"github.com/tenonml/tenon/tensor"
)

// structureHash computes a number that identifies a structure while the structure is walked.
// Methods of a nil hash do nothing.
type structureHash struct {
	sum     uint64
	unknown bool // the structure contains something that the number does not cover
}

var seed = maphash.MakeSeed()

// absent stands for a leaf or container that is missing.
const absent = 0x9E3779B97F4A7C15

func (h *structureHash) add(x uint64) {
	if h != nil {
		hi, lo := bits.Mul64(h.sum^x^0xA0761D6478BD642F, 0xE7037ED1A0B428DB)
		h.sum = bits.RotateLeft64(h.sum, 23) ^ hi ^ lo
	}
}

// plan adds a Go type that is found at run time. The plan of a type never
// changes.
func (h *structureHash) plan(p *plan) {
	if h != nil {
		h.add(uint64(uintptr(unsafe.Pointer(p))))
	}
}

func (h *structureHash) length(isNil bool, n int) {
	if h == nil {
		return
	}
	h.add(uint64(n) << 1)
	if isNil && n == 0 {
		h.add(absent)
	}
}

func (h *structureHash) keys(p *plan, es []entry) {
	if h == nil {
		return
	}
	h.add(uint64(len(es)))
	for i := range es {
		if p.keys == stringKeys {
			h.name(es[i].name)
		} else {
			h.add(uint64(es[i].num))
		}
	}
}

func (h *structureHash) name(s string) { h.add(maphash.String(seed, s)) }

// static notes that a struct has static fields, whose values belong to the
// structure.
func (h *structureHash) static(p *plan) {
	if h != nil && p.partial {
		h.unknown = true
	}
}

// node notes a Node, which may have data besides its parts.
func (h *structureHash) node() {
	if h != nil {
		h.unknown = true
	}
}

// FlattenWithStructure is [Flatten] without options. It also returns a number that identifies the
// structure: within one run of a program, it is equal for structures that are the [Same] and
// otherwise differs, except with a probability of 2^-64. The number is 0 for structures with static
// data, which have none.
func FlattenWithStructure(x any) (leaves []any, structure uint64, err error) {
	h := structureHash{sum: 1}
	f := flattener{hash: &h}
	if err := f.root(x); err != nil {
		return nil, 0, err.as("nest.FlattenWithStructure")
	}
	if h.unknown {
		return f.out, 0, nil
	}
	return f.out, max(h.sum, 1), nil
}

// VisitTensors calls visit with the leaves of x in order, one or more at a time, as long as it
// returns true, and returns the same number as [FlattenWithStructure]. Nothing is copied: the
// slices may be parts of x and may only be read, and only during the call. It returns 0 if visit
// has returned false, a leaf is not a [tensor.Tensor], or x cannot be walked.
func VisitTensors(x any, visit func(run []tensor.Tensor) bool) (structure uint64) {
	h := structureHash{sum: 1}
	f := flattener{hash: &h, visit: visit}
	if err := f.root(x); err != nil || f.refused || h.unknown {
		return 0
	}
	return max(h.sum, 1)
}

// visitAll visits the tensors of a run that are not nil.
func (f *flattener) visitAll(ts []tensor.Tensor) {
	from := 0
	for i, t := range ts {
		if t == nil {
			f.hash.add(absent + uint64(i))
			f.visitRun(ts[from:i])
			from = i + 1
		}
	}
	f.visitRun(ts[from:])
}

func (f *flattener) visitRun(ts []tensor.Tensor) {
	if len(ts) > 0 && !f.refused {
		f.refused = !f.visit(ts)
	}
}

func (f *flattener) visitOne(x any) {
	t, ok := x.(tensor.Tensor)
	if !ok {
		f.refused = true
		return
	}
	if f.visited == nil {
		f.visited = make([]tensor.Tensor, 1)
	}
	f.visited[0] = t
	f.visitRun(f.visited)
}
