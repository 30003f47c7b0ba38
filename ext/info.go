package ext

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// info is what is known of a registered type.
type info struct {
	name    string // "my.pkg.Type"
	short   string // "Type"
	typ     reflect.Type
	node    *node // of the struct
	names   []string
	refines []string
	version int
	migrate map[int]Migration
	line    string

	box      func(p unsafe.Pointer) tenon.Value              // a value whose fields are at p, which nobody else writes
	unbox    func(v tenon.Value) (p unsafe.Pointer, ok bool) // the fields of a value, to be read only
	clone    func(p unsafe.Pointer) unsafe.Pointer           // a shallow copy of fields
	validate func(v tenon.Value) error                       // nil: the type has no hook
	wrap     func(*Spec) tenon.Spec                          // nil: the Spec is a *Spec

	code   atomic.Pointer[code]    // nil: the plan in node does the work
	recent [4]atomic.Pointer[Spec] // of values seen lately
	turn   atomic.Uint32
}

var (
	infos      sync.Map // reflect.Type → *info
	registerMu sync.Mutex
)

// infoOf returns what is registered for a Go type, and nil where that is nothing.
func infoOf(t reflect.Type) *info {
	if x, ok := infos.Load(t); ok {
		return x.(*info)
	}
	return nil
}

// compileInfo makes the info of a struct.
func compileInfo(name string, structure reflect.Type) (*info, error) {
	i := &info{name: name, short: name[strings.LastIndexAny(name, "./")+1:], line: source.Line()}
	i.node = &node{typ: structure, size: structure.Size(), kind: kindStruct}
	if c, ok := codes.Load(structure); ok {
		i.code.Store(c.(*code))
	}
	if err := i.node.structure("", map[reflect.Type]*node{}); err != nil {
		return nil, err
	}
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

// ancestors notes the types that embedded structs are of.
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

// register makes the type known to package tenon, and by its Go type.
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

// specOf returns the Spec of fields.
func (i *info) specOf(p unsafe.Pointer) *Spec {
	if c := i.code.Load(); c != nil {
		for k := range i.recent {
			s := i.recent[k].Load()
			if s == nil {
				continue
			}
			if rest, ok := c.match(p, s.slots); ok && len(rest) == 0 && c.same(p, s.like) {
				return s
			}
		}
		return i.newSpec(p, c.values(p, nil))
	}
	var room [8]tenon.Value
	values := i.node.appendValues(p, room[:0])
	for k := range i.recent {
		if s := i.recent[k].Load(); s != nil && s.describes(p, values) {
			return s
		}
	}
	return i.newSpec(p, values)
}

// newSpec makes the Spec of fields that hold values, and remembers it.
func (i *info) newSpec(p unsafe.Pointer, values []tenon.Value) *Spec {
	s := &Spec{info: i, slots: make([]tenon.Spec, len(values))}
	for k, v := range values {
		if v != nil {
			s.slots[k] = lasting(v.Spec())
		}
	}
	s.like = i.template(p, len(values))
	s.seal()
	i.recent[i.turn.Add(1)%uint32(len(i.recent))].Store(s)
	return s
}

// template returns a copy of fields without Values.
func (i *info) template(p unsafe.Pointer, places int) unsafe.Pointer {
	like := i.clone(p)
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

// describes reports whether s is the Spec of fields that hold values.
func (s *Spec) describes(p unsafe.Pointer, values []tenon.Value) bool {
	if len(values) != len(s.slots) {
		return false
	}
	for k, v := range values {
		slot := s.slots[k]
		if v == nil || slot == nil {
			if v != nil || slot != nil {
				return false
			}
			continue
		}
		t := v.Spec()
		if *words(&t) != *words(&slot) && !equal(slot, t) {
			return false
		}
	}
	return s.info.same(p, s.like)
}
