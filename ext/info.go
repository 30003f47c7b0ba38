package ext

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// info is what is known about a registered type.
type info struct {
	name    string // "my.pkg.Type"
	short   string // "Type"
	typ     reflect.Type
	node    *node // for the struct
	names   []string
	refines []string
	version int
	migrate map[int]Migration
	line    string

	box      func(p unsafe.Pointer) tenon.Value              // a value with the fields at p, which nobody else writes
	unbox    func(v tenon.Value) (p unsafe.Pointer, ok bool) // the fields of a value, read-only
	clone    func(p unsafe.Pointer) unsafe.Pointer           // a shallow copy of fields
	validate func(v tenon.Value) error                       // nil: the type has no Validate method
	wrap     func(*Spec) tenon.Spec                          // nil: the Spec is a *Spec

	code   atomic.Pointer[code]    // nil: the plan in node is used
	recent [4]atomic.Pointer[Spec] // Specs of recent values
	turn   atomic.Uint32
}

var (
	infos      sync.Map // reflect.Type → *info
	registerMu sync.Mutex
)

// infoOf returns what is registered for a Go type, or nil if nothing is.
func infoOf(t reflect.Type) *info {
	if x, ok := infos.Load(t); ok {
		return x.(*info)
	}
	return nil
}

// compileInfo compiles the info of a struct.
func compileInfo(name string, structure reflect.Type) (*info, error) {
	i := &info{name: name, short: name[strings.LastIndexAny(name, "./")+1:], line: source.Line()}
	i.node = &node{typ: structure, size: structure.Size(), kind: kindStruct}
	if c, ok := codes.Load(structure); ok {
		i.code.Store(c.(*code))
	}
	if err := i.node.structure("", made{}); err != nil {
		return nil, err
	}
	i.node.mark()
	seen := map[string]bool{}
	for _, f := range i.node.flat(0, nil) {
		if seen[f.name] {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Where: f.name, Msg: "two fields have the name"}
		}
		seen[f.name] = true
		i.names = append(i.names, f.name)
	}
	if err := i.relations(); err != nil {
		return nil, err
	}
	return i, i.ancestors(i.node)
}

// ancestors records the types of embedded structs.
func (i *info) ancestors(n *node) error {
	for _, f := range n.fields {
		if !f.inline {
			continue
		}
		base := infoOf(f.node.typ)
		if base == nil {
			base = infoOf(reflect.PointerTo(f.node.typ))
		}
		if base == nil {
			if f.node.typ.Implements(valueType) {
				return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Where: f.node.typ.Name(), Msg: "the embedded type is a Value that is not registered",
					Hint: "register it first"}
			}
			if err := i.ancestors(f.node); err != nil {
				return err
			}
			continue
		}
		i.refines = append(append(i.refines, base.name), base.refines...)
	}
	return nil
}

// register registers the type with package tenon and by its Go type.
func (i *info) register() error {
	registerMu.Lock()
	defer registerMu.Unlock()
	if i.typ != nil {
		if old := infoOf(i.typ); old != nil {
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Line: i.line,
				Msg: fmt.Sprintf("the Go type %v is already registered as %q, at %s", i.typ, old.name, old.line)}
		}
	}
	if err := catching(func() { tenon.Register(i.name, i.decode) }); err != nil {
		return err
	}
	if i.typ != nil {
		infos.Store(i.typ, i)
	}
	return nil
}

// specOf returns the Spec of a value with the given fields.
func (i *info) specOf(p unsafe.Pointer) *Spec {
	s, err := i.specAt(p, maxDepth)
	if err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Line = i.name+".Spec", source.Line()
		tenon.Throw(&e)
	}
	return s
}

// specAt returns the Spec of a value with the given fields, whose Values may be nested up to left
// deep. Each of these Values is asked for its Spec once.
func (i *info) specAt(p unsafe.Pointer, left int) (*Spec, error) {
	if c := i.code.Load(); c != nil {
		for k := range i.recent {
			s := i.recent[k].Load()
			if s == nil || s.nested {
				continue
			}
			if rest, ok := c.match(p, s.slots); ok && len(rest) == 0 && c.same(p, s.like) {
				return s, nil
			}
		}
	}
	if err := i.node.bounded(p, maxDepth); err != nil {
		return nil, err
	}
	var room [8]tenon.Value
	values := i.node.appendValues(p, room[:0])
	for k := range i.recent {
		if s := i.recent[k].Load(); s != nil && !s.nested && s.describesDense(values) && i.same(p, s.like) {
			return s, nil
		}
	}
	var specRoom [8]tenon.Spec
	specs, bad, err := specsOf(specRoom[:0], values, left)
	if err != nil {
		if maxDepth-left <= shown {
			err = codec.Within(i.appendNames(p, nil)[bad], err)
		}
		return nil, err
	}
	hash := hashAll(specs)
	for k := range i.recent {
		if s := i.recent[k].Load(); s != nil && s.hash == hash && s.describes(p, specs) {
			return s, nil
		}
	}
	return i.newSpec(p, specs), nil
}

// newSpec makes the Spec of a value with the given fields, whose Values have the given Specs, and
// remembers it.
func (i *info) newSpec(p unsafe.Pointer, specs []tenon.Spec) *Spec {
	s := &Spec{info: i, slots: make([]tenon.Spec, len(specs))}
	for k, v := range specs {
		s.slots[k] = lasting(v)
	}
	s.like = i.template(p, len(specs))
	s.seal()
	i.recent[i.turn.Add(1)%uint32(len(i.recent))].Store(s)
	return s
}

// template returns a copy of fields without Values that shares no memory with them.
func (i *info) template(p unsafe.Pointer, places int) unsafe.Pointer {
	like := i.clone(p)
	i.node.own(like)
	tenon.Throw(i.fill(like, make([]tenon.Value, places)))
	return like
}

// lasting returns a Spec that does not keep the buffer of a tensor alive.
func lasting(s tenon.Spec) tenon.Spec {
	if t, ok := s.(*tensor.Spec); ok {
		c := *t
		return &c
	}
	return s
}

// describesDense reports whether values are tensors in memory with the Specs of s.
func (s *Spec) describesDense(values []tenon.Value) bool {
	if len(values) != len(s.slots) {
		return false
	}
	for k, v := range values {
		d, ok := v.(*tensor.Dense)
		if slot := s.slots[k]; ok && slot != nil {
			if t := d.Spec(); *words(&t) != *words(&slot) && !equal(slot, t) {
				return false
			}
		} else if v != nil || slot != nil {
			return false
		}
	}
	return true
}

// describes reports whether s is the Spec of a value with the given fields, whose Values have the
// given Specs.
func (s *Spec) describes(p unsafe.Pointer, specs []tenon.Spec) bool {
	if len(specs) != len(s.slots) {
		return false
	}
	for k, t := range specs {
		slot := s.slots[k]
		if t == nil || slot == nil {
			if t != nil || slot != nil {
				return false
			}
			continue
		}
		if *words(&t) != *words(&slot) && !equal(slot, t) {
			return false
		}
	}
	return s.info.same(p, s.like)
}
