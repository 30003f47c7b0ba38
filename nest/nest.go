package nest

import (
	"unsafe"

	"github.com/tenonml/tenon"
)

// Options change what is a leaf and what is the same structure. The zero value
// leaves Values whole and wants Go types to agree.
type Options struct {
	// Expand takes Values and Specs apart into the components of their Specs,
	// down to tensors and the Specs of tensors.
	Expand bool

	// AnyTypes lets slices, arrays and nodes of different Go types count as the
	// same if they have as many elements, maps if they have the same keys, and
	// structs if their fields have the same names.
	AnyTypes bool

	// Hidden compares what is not walked too: unexported fields and those with the tag
	// "-" are the same if they are equal scalars, or refer to the same memory.
	Hidden bool
}

// A Node is a Go type that says itself what it is made of.
type Node interface {
	// NestParts returns the parts of the receiver, each a structure of its own.
	NestParts() []Part

	// NestPack returns a value of the receiver's type, with its static data and
	// other parts, as many as NestParts returns.
	NestPack(parts []any) (any, error)
}

// A Leaf is a Go type whose values are leaves, whatever they are made of.
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

// Pack returns a structure like the template like, with other leaves in its
// order. Static data, and with Expand the Specs of Values, come from the
// template, which may hold Specs in place of Values. Too few or too many leaves
// are an error, and so is a leaf that does not fit the Go type of its place or
// the Spec it is a component of.
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
// of x and of the structures in rest, which have to be the same as x. The slice
// that f gets is used again for the next leaf.
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

// Same returns nil if a and b are the same structure, and an error that names
// the first place where they differ. Leaves may be of any kind; with Expand,
// Values and Specs that are made of components have to have a Spec above them
// both.
//
// Another Go type of container is an error of kind ErrDType; another length,
// depth, key or static field, or no common Spec, one of kind ErrInvalid.
func Same(a, b any, o Options) error {
	if err := sameRoots(a, b, o); err != nil {
		return err.as("nest.Same")
	}
	return nil
}

// FlattenUpTo returns what stands in x at the places of the leaves of shallow:
// shallow is a prefix of x. Where it is not, the error is that of [Same], or of kind
// ErrDType where x has a leaf in place of a container. Values are not expanded.
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
