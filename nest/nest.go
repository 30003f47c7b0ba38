package nest

import (
	"unsafe"

	"github.com/tenonml/tenon"
)

// Options say what is a leaf and which structures are the same. With the zero
// value, Values are leaves and Go types must agree.
type Options struct {
	// Expand takes Values and Specs apart into the components of their Specs,
	// down to tensors and the Specs of tensors.
	Expand bool

	// AnyTypes lets slices, arrays and nodes of different Go types count as the
	// same if they have as many elements, maps if they have the same keys, and
	// structs if their fields have the same names.
	AnyTypes bool

	// Hidden also compares what is not walked: unexported fields and those with the tag "-" are the
	// same if they are equal scalars or refer to the same memory.
	Hidden bool
}

// A Node is a Go type that defines its own parts.
type Node interface {
	// NestParts returns the parts of the receiver, each a structure of its own.
	NestParts() []Part

	// NestPack returns a value of the receiver's type with the receiver's static
	// data and the given parts, as many as NestParts returns.
	NestPack(parts []any) (any, error)
}

// A Leaf is a Go type whose values are leaves, whatever they consist of.
type Leaf interface{ NestLeaf() }

// A Part is a part of a [Node]; the name is for paths and may be empty.
type Part struct {
	Name  string
	Value any
}

// Flatten returns the leaves of x in order.
func Flatten(x any, o Options) ([]any, error) {
	f := flattener{expand: o.Expand}
	if err := f.root(x); err != nil {
		return nil, err.as("nest.Flatten")
	}
	return f.out, nil
}

// FlattenWithPaths returns the leaves of x in order, and the path to each.
func FlattenWithPaths(x any, o Options) ([]Path, []any, error) {
	f := flattener{expand: o.Expand, withPaths: true}
	if err := f.root(x); err != nil {
		return nil, nil, err.as("nest.FlattenWithPaths")
	}
	return f.paths, f.out, nil
}

// Pack returns a structure like the template like, filled with the given leaves
// in order. Static data, and with Expand the Specs of Values, come from the
// template, which may hold Specs in place of Values. It returns an error if there
// are too few or too many leaves, or if a leaf does not fit the Go type of its
// place or the Spec that it is a component of.
func Pack[T any](like T, leaves []any, o Options) (T, error) {
	p, err := planTo((*T)(nil))
	if err != nil {
		var zero T
		return zero, err.as("nest.Pack")
	}
	if p.runs && !o.Expand && len(*(*sliceMap)(unsafe.Pointer(&like))) <= few {
		m, err := packRunMap(p, *(*sliceMap)(unsafe.Pointer(&like)), leaves)
		return *(*T)(unsafe.Pointer(&m)), err
	}
	return packLike(p, like, leaves, o)
}

// packLike is Pack for any type.
func packLike[T any](p *plan, like T, leaves []any, o Options) (T, error) {
	var out T
	k := packer{leaves: leaves, expand: o.Expand, tables: tablesPool.Get().(*tables)}
	err := k.pack(p, unsafe.Pointer(&like), unsafe.Pointer(&out))
	if err == nil {
		err = k.finish()
	}
	k.tables.release()
	if err != nil {
		var zero T
		return zero, err.as("nest.Pack")
	}
	return out, nil
}

// Map returns a structure like x whose leaves are what f returns for the leaves
// of x and of the structures in rest, which must have the same structure. The
// slice passed to f is reused for the next leaf.
func Map[T any](f func(leaves []any) (any, error), o Options, x T, rest ...any) (T, error) {
	var zero T
	all := make([][]any, 0, 1+len(rest))
	for i := range 1 + len(rest) {
		var s any = x
		if i > 0 {
			s = rest[i-1]
			if err := sameRoots(x, s, o); err != nil {
				return zero, err.as("nest.Map")
			}
		}
		fl := flattener{expand: o.Expand}
		if err := fl.root(s); err != nil {
			return zero, err.as("nest.Map")
		}
		all = append(all, fl.out)
	}
	out := make([]any, len(all[0]))
	args := make([]any, len(all))
	for i := range out {
		for k := range all {
			if i >= len(all[k]) {
				return zero, tenon.NewError(tenon.ErrInvalid, "nest.Map", "the structures have different numbers of leaves")
			}
			args[k] = all[k][i]
		}
		var err error
		if out[i], err = f(args); err != nil {
			return zero, err
		}
	}
	return Pack(x, out, o)
}

// Same returns nil if a and b are the same structure, and an error that names the
// first place where they differ. Leaves may be of any kind; with Expand, Values
// and Specs that have components must have a common Spec above both.
//
// If the Go types of containers differ, the error is of kind ErrDType; if a
// length, depth, key or static field differs, or there is no common Spec, it is
// of kind ErrInvalid.
func Same(a, b any, o Options) error {
	if err := sameRoots(a, b, o); err != nil {
		return err.as("nest.Same")
	}
	return nil
}

// FlattenUpTo returns the parts of x at the places where shallow has its leaves; shallow must be a
// prefix of x. If it is not, the error is that of [Same], or of kind ErrDType if x has a leaf in
// place of a container. Values are not expanded.
func FlattenUpTo(shallow, x any, o Options) ([]any, error) {
	u := upTo{comparer: comparer{o: Options{AnyTypes: o.AnyTypes}, short: tenon.ErrDType}, out: []any{}}
	u.leaf = func(_, b place) *failure {
		u.out = append(u.out, b.load())
		return nil
	}
	if err := u.compare(rootPlace(shallow), rootPlace(x)); err != nil {
		return nil, err.as("nest.FlattenUpTo")
	}
	return u.out, nil
}
