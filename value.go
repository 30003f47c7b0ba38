package tenon

// A Value is made of tensors. It is immutable and safe for concurrent readers.
type Value interface {
	// Spec returns the static half of the value. It is cheap.
	Spec() Spec
}

// A Spec is the static half of a Value. Specs are immutable; compare them with
// [Equal].
type Spec interface {
	// TypeName is the registered name of the type, such as "ragged.Tensor".
	TypeName() string

	// Encode returns all of the Spec's state as plain data.
	Encode() Encoding

	// Components returns the name and Spec of each component, in order. A leaf
	// has none.
	Components() []Field

	// Disassemble returns the components of a value that belongs to the Spec. It
	// runs no operation.
	Disassemble(v Value) ([]Value, error)

	// Assemble makes a value from components. It runs no operation, and it checks
	// the number of components and their kinds.
	Assemble(components []Value) (Value, error)
}

// A Field is a component's name and Spec.
type Field struct {
	Name string
	Spec Spec
}

// A Leaf is a Spec whose values have no components but are tensors themselves.
// A Spec without components that is not a Leaf describes values that are wholly
// static.
type Leaf interface {
	Spec
	IsLeaf() bool
}

// IsLeaf reports whether values of s are leaves.
func IsLeaf(s Spec) bool {
	l, ok := s.(Leaf)
	return ok && l.IsLeaf()
}

// A Subtyper is a Spec with its own rule for [Subtype].
type Subtyper interface {
	// SubtypeOf reports whether every value of the receiver is one of other.
	SubtypeOf(other Spec) bool
}

// A Merger is a Spec with its own rule for [Merge].
type Merger interface {
	// MergeWith returns the most specific Spec above the receiver and other.
	MergeWith(other Spec) (Spec, bool)
}

// A Compatibler is a Spec with its own rule for [Compatible].
type Compatibler interface {
	// CompatibleWith reports whether some value belongs to both Specs.
	CompatibleWith(other Spec) bool
}

// An Equaler is a Spec with a faster comparison, whose result must agree with
// that of comparing names and encodings.
type Equaler interface {
	EqualSpec(other Spec) bool
}

// A Batcher is a Spec whose values can be stacked along a new outermost axis.
type Batcher interface {
	Spec

	// Batched returns the Spec of n stacked values; n may be shape.Unknown.
	Batched(n int) (Spec, error)

	// Unbatched returns the Spec of one row.
	Unbatched() (Spec, error)
}

// A Boxer is a Spec whose values can be encoded as tensors of at least a given
// rank, so that generic code can stack and slice them along leading axes. The
// boxed form of every value of one Spec has the same number of tensors.
type Boxer interface {
	Spec

	// Box encodes v as tensors of rank minRank or above. It returns an error if
	// the value itself has a lower rank.
	Box(v Value, minRank int) ([]Value, error)

	// Unbox reverses Box.
	Unbox(tensors []Value) (Value, error)
}

// A Refiner is a Spec of a type that refines another one. In dispatch, its values
// are asked before values of the refined type; a type without a handler uses the
// handler of the nearest type that it refines.
type Refiner interface {
	// Refines returns the names of the types it refines, directly or indirectly,
	// nearest first.
	Refines() []string
}

// A Caster is a Spec that can convert values of other types to its own.
type Caster interface {
	// Cast returns a value that is equivalent to v and belongs to the receiver.
	// It returns an error of kind ErrUnsupported if no cast is declared, and
	// never loses information silently.
	Cast(v Value) (Value, error)
}

// A CastSource is a Spec whose values can be converted to types that do not know
// about it.
type CastSource interface {
	Spec

	// CastTo converts v, a value of the receiver, to an equivalent value that belongs to another
	// Spec. It returns an error of kind ErrUnsupported if no cast is declared, and never loses
	// information silently.
	CastTo(v Value, to Spec) (Value, error)
}

// Cast returns v as a value of s: v itself if it belongs to s, and otherwise the result of a cast
// declared by either type. If there is none, the error is of kind ErrUnsupported.
func Cast(v Value, s Spec) (Value, error) {
	if v == nil || s == nil {
		return nil, NewError(ErrInvalid, "tenon.Cast", "the value or the Spec is nil")
	}
	if Belongs(v, s) {
		return v, nil
	}
	if c, ok := s.(Caster); ok {
		if out, err := c.Cast(v); err == nil && Compatible(s, out.Spec()) {
			return out, nil
		}
	}
	if c, ok := v.Spec().(CastSource); ok {
		if out, err := c.CastTo(v, s); err == nil && Compatible(s, out.Spec()) {
			return out, nil
		}
	}
	return nil, NewError(ErrUnsupported, "tenon.Cast", "no cast is declared from "+String(v.Spec())+" to "+String(s))
}
