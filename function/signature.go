package function

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// signature is what a trace depends on: the structure of the arguments, the Specs
// of the Values in it, and the plain data.
type signature struct {
	args     []any
	leaves   []leaf
	tensors  []tensor.Tensor // of the Values, down to dense ones; nil for Specs
	recorded bool            // a tensor is symbolic or on a tape
	declared bool            // it is Options.Signature, whose Go types do not matter
}

// leaf is a Value's Spec, or plain data.
type leaf struct {
	spec  tenon.Spec
	plain any
}

func signatureOf(args []any) (*signature, error) {
	leaves := args
	if !values(args) {
		var err error
		if leaves, err = nest.Flatten(args, nest.Options{}); err != nil {
			return nil, err
		}
	}
	s := &signature{args: args, leaves: make([]leaf, len(leaves))}
	for i, l := range leaves {
		switch l := l.(type) {
		case *tensor.Dense:
			// Not l's own Spec: if the memory of l is released, that Spec changes.
			s.leaves[i].spec = tensor.NewSpec(l.DType(), l.Shape())
			s.tensors = append(s.tensors, l)
		case *state.Variable:
			s.leaves[i].plain = l // read again in each call
		case tenon.Value:
			if err := s.value(&s.leaves[i], l); err != nil {
				return nil, err
			}
		case tenon.Spec:
			s.leaves[i].spec = l
			if err := s.components(l); err != nil {
				return nil, err
			}
		default:
			s.leaves[i].plain = l
		}
	}
	return s, nil
}

// values reports whether every argument is a non-nil Value: then the leaves of the list are its
// elements.
func values(args []any) bool {
	for _, a := range args {
		if _, ok := a.(tenon.Value); !ok {
			return false
		}
		if r := reflect.ValueOf(a); r.Kind() == reflect.Pointer && r.IsNil() {
			return false
		}
	}
	return true
}

func (s *signature) value(l *leaf, v tenon.Value) error {
	l.spec = v.Spec()
	if s.direct(l.spec, v) {
		return nil
	}
	parts, err := nest.Flatten(v, nest.Options{Expand: true})
	if err != nil {
		return err
	}
	for _, p := range parts {
		t, ok := p.(tensor.Tensor)
		if !ok {
			return tenon.NewError(tenon.ErrDType, "", fmt.Sprintf("a component of %s is a %T, not a tensor", tenon.String(l.spec), p))
		}
		if c, ok := t.(graph.Cell); ok {
			t = c.Value() // the content of a component is an input, read in each call
		}
		if r, ok := t.(op.Recorder); ok && r.RecordLevel() > 0 {
			s.recorded = true
		}
		s.tensors = append(s.tensors, t)
	}
	return nil
}

// direct adds the tensors of a value whose components are dense tensors in memory. It returns false
// for any other value.
func (s *signature) direct(spec tenon.Spec, v tenon.Value) bool {
	if tenon.IsLeaf(spec) {
		return false
	}
	parts, err := spec.Disassemble(v)
	if err != nil || len(parts) == 0 {
		return false
	}
	for _, p := range parts {
		if d, ok := p.(*tensor.Dense); !ok || d == nil {
			return false
		}
	}
	for _, p := range parts {
		s.tensors = append(s.tensors, p.(*tensor.Dense))
	}
	return true
}

func (s *signature) components(spec tenon.Spec) error {
	parts, err := nest.Flatten(spec, nest.Options{Expand: true})
	for range parts {
		s.tensors = append(s.tensors, nil)
	}
	return err
}

// accepts reports whether a trace of s can be used for a call with signature t.
func (s *signature) accepts(t *signature) bool {
	if len(s.leaves) != len(t.leaves) {
		return false
	}
	for i := range s.leaves {
		a, b := &s.leaves[i], &t.leaves[i]
		if (a.spec == nil) != (b.spec == nil) {
			return false
		}
		if a.spec != nil && !tenon.Subtype(b.spec, a.spec) || a.spec == nil && !samePlain(a.plain, b.plain) {
			return false
		}
	}
	return s.sameNest(t)
}

// samePlain compares plain data. Pointers, channels and functions are equal only if they are
// identical: two closures of the same code may have captured different data.
func samePlain(a, b any) bool {
	switch reflect.ValueOf(a).Kind() {
	case reflect.Pointer, reflect.Chan, reflect.UnsafePointer, reflect.Interface:
		return reflect.TypeOf(a) == reflect.TypeOf(b) && a == b
	}
	return nest.SameData(a, b)
}

// owned returns a copy of plain data that nobody else can change.
func owned(x any) any {
	r := reflect.ValueOf(x)
	if r.Kind() != reflect.Slice || r.IsNil() {
		return x
	}
	c := reflect.MakeSlice(r.Type(), r.Len(), r.Len())
	reflect.Copy(c, r)
	return c.Interface()
}

// keep prepares the signature for a trace: it must not refer to anything that the caller of the
// first call may change, such as slices and the targets of pointers. args are the symbolic
// arguments.
func (s *signature) keep(args []any) {
	if s.declared {
		return
	}
	s.args = args
	for i := range s.leaves {
		s.leaves[i].plain = owned(s.leaves[i].plain)
	}
}

// sameNest reports whether the structures around the leaves are the same.
func (s *signature) sameNest(t *signature) bool {
	if flat(s.args) && flat(t.args) {
		return len(s.args) == len(t.args)
	}
	return nest.Same(s.args, t.args, s.compared()) == nil
}

// compared says how structures around leaves are compared: a declared signature may have other Go
// types.
func (s *signature) compared() nest.Options {
	return nest.Options{AnyTypes: s.declared, Hidden: !s.declared}
}

// flat reports whether every argument is a Value or Spec itself.
func flat(args []any) bool {
	return !slices.ContainsFunc(args, func(a any) bool {
		switch a.(type) {
		case tenon.Value, tenon.Spec:
			return false
		}
		return true
	})
}

// sameStructure reports whether s and t differ at most in sizes.
func (s *signature) sameStructure(t *signature) bool {
	return s.sameNest(t) && s.merge(t) != nil
}

// merge returns the signature above both, or nil.
func (s *signature) merge(t *signature) *signature {
	if len(s.leaves) != len(t.leaves) {
		return nil
	}
	m := *s
	m.leaves = slices.Clone(s.leaves)
	for i := range m.leaves {
		a, b := s.leaves[i], t.leaves[i]
		switch {
		case (a.spec == nil) != (b.spec == nil):
			return nil
		case a.spec == nil:
			if !samePlain(a.plain, b.plain) {
				return nil
			}
		default:
			spec, ok := tenon.Merge(a.spec, b.spec)
			if !ok {
				return nil
			}
			m.leaves[i].spec = spec
		}
	}
	return &m
}

// difference returns where t is not accepted by s.
func (s *signature) difference(t *signature) string {
	if len(s.leaves) != len(t.leaves) || !s.sameNest(t) {
		if err := nest.Same(s.args, t.args, s.compared()); err != nil {
			return "the arguments have another structure: " + err.Error()
		}
		return "the arguments have another structure"
	}
	paths, _, err := nest.FlattenWithPaths(t.args, nest.Options{})
	for i := range s.leaves {
		a, b := s.leaves[i], t.leaves[i]
		where := fmt.Sprintf("leaf %d", i)
		if err == nil {
			where = "argument " + strings.TrimPrefix(paths[i].String(), "/")
		}
		switch {
		case a.spec != nil && b.spec != nil && !tenon.Subtype(b.spec, a.spec):
			x, y := tenon.String(b.spec), tenon.String(a.spec)
			if x != y {
				return fmt.Sprintf("%s is %s, the trace has %s", where, x, y)
			}
			at, what := tenon.Difference(b.spec, a.spec)
			return fmt.Sprintf("%s is %s, as in the trace, but for %s: %s", where, x, cmp.Or(at, "its Spec"), what)
		case a.spec == nil && !samePlain(a.plain, b.plain):
			if reflect.ValueOf(b.plain).Kind() == reflect.Func {
				return where + " is another function, or another closure of the same one"
			}
			return fmt.Sprintf("%s is %v, the trace has %v", where, b.plain, a.plain)
		case (a.spec == nil) != (b.spec == nil):
			return where + " is plain data in one call and a Value in another"
		}
	}
	return "no difference"
}

// String returns the Specs and plain data in order.
func (s *signature) String() string {
	parts := make([]string, len(s.leaves))
	for i, l := range s.leaves {
		if l.spec != nil {
			parts[i] = tenon.String(l.spec)
		} else {
			parts[i] = fmt.Sprintf("%v", l.plain)
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
