package named

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/nest"
)

// A schemaPlan describes the positions of the tensor and the handles in a schema, a struct that
// embeds a *Tensor and names. It is made once for each type.
type schemaPlan struct {
	typ     reflect.Type
	names   *layout
	ragged  *layout   // names whose rows have different lengths
	uniform *layout   // names that are not marked as ragged
	tensor  uintptr   // the offset of the *Tensor
	handles []uintptr // the offsets of the handles, each a single pointer
	inner   []innerSchema
	err     error
}

// innerSchema is a schema embedded in another one; its tensor has further names.
type innerSchema struct {
	offset uintptr
	plan   *schemaPlan
	extra  *layout
}

var schemaPlans sync.Map // reflect.Type → *schemaPlan

var tensorPointer = reflect.TypeFor[*Tensor]()

// isSchema reports whether t is a struct that embeds a *Tensor, directly or through a struct that
// it embeds.
func isSchema(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && (f.Type == tensorPointer || isSchema(f.Type)) {
			return true
		}
	}
	return false
}

// schemaOf returns the plan of a schema type.
func schemaOf(t reflect.Type) *schemaPlan {
	if p, ok := schemaPlans.Load(t); ok {
		return p.(*schemaPlan)
	}
	p := &schemaPlan{typ: t, tensor: noTensor}
	p.err = p.compile()
	x, _ := schemaPlans.LoadOrStore(t, p)
	return x.(*schemaPlan)
}

const noTensor = ^uintptr(0)

func (p *schemaPlan) compile() error {
	if p.typ.Kind() != reflect.Struct {
		return p.bad("%v is not a struct", p.typ)
	}
	var ids, rag []id
	if err := p.fields(p.typ, 0, &ids, &rag); err != nil {
		return err
	}
	if p.tensor == noTensor && len(p.inner) == 0 {
		return p.bad("%v does not embed a *named.Tensor", p.typ)
	}
	if n, twice := duplicate(ids); twice {
		return p.bad("%v has %v twice", p.typ, n)
	}
	p.names, p.ragged = layoutOf(ids), layoutOf(rag)
	p.uniform = p.names.without(p.ragged)
	for i := range p.inner {
		p.inner[i].extra = p.names.without(p.inner[i].plan.names)
	}
	return nil
}

func (p *schemaPlan) bad(format string, args ...any) error {
	return newError(tenon.ErrInvalid, "named.Bind", fmt.Sprintf(format, args...)).WithHint("declare a schema like struct{ *named.Tensor; Batch; Seq }")
}

// fields collects what is at an offset.
func (p *schemaPlan) fields(t reflect.Type, offset uintptr, ids, rag *[]id) (err error) {
	defer tenon.Catch(&err) // of typeNames
	for i := range t.NumField() {
		f := t.Field(i)
		at := offset + f.Offset
		name, of := isName(f.Type)
		switch {
		case !f.Anonymous:
			return p.bad("%v has the field %s, which is neither a *named.Tensor nor a name", t, f.Name)
		case f.Type == tensorPointer:
			if p.tensor != noTensor {
				return p.bad("%v embeds two tensors", p.typ)
			}
			p.tensor = at
		case name || of != nil:
			n := typeNames(f.Type)
			*ids = append(*ids, n...)
			if strings.Contains(f.Tag.Get("named"), "ragged") {
				*rag = append(*rag, n...)
			}
			p.handles = append(p.handles, at)
		case isSchema(f.Type):
			q := schemaOf(f.Type)
			if q.err != nil {
				return q.err
			}
			p.inner = append(p.inner, innerSchema{offset: at, plan: q})
			*ids, *rag = append(*ids, q.names.ids...), append(*rag, q.ragged.ids...)
		case f.Type.Kind() == reflect.Struct && f.Type.NumField() == 0: // named.Set
		case f.Type.Kind() == reflect.Struct:
			tenon.Throw(p.fields(f.Type, at, ids, rag))
		default:
			return p.bad("%v embeds %v, which is neither a *named.Tensor nor a name", t, f.Type)
		}
	}
	return nil
}

// check returns the error that keeps a tensor from having the schema.
func (p *schemaPlan) check(fn string, t *Tensor) error {
	l := t.spec.names
	extra := len(l.ids) - len(p.names.ids)
	if t.side != nil {
		extra -= len(l.both(t.side.extra).without(p.names).ids)
	}
	if extra != 0 || !l.hasAll(p.names) {
		msg, hint := dimtext.Schema(p.texts(), one{"tensor", t}.text())
		return worded(tenon.ErrInvalid, fn, msg, hint)
	}
	for i, n := range l.ids {
		if r := t.raggedAxis(i); r != p.ragged.has(n) && p.names.has(n) {
			e := newError(tenon.ErrInvalid, fn, fmt.Sprintf("%v is ragged in the tensor, and not in the schema\n%s", n, t.line("tensor")))
			e.Hint = fmt.Sprintf("mark it in the schema: %v `named:\"ragged\"`", n)
			if !r {
				e.Msg = fmt.Sprintf("%v is ragged in the schema, and not in the tensor\n%s", n, t.line("tensor"))
				e.Hint = ""
			}
			return e
		}
	}
	return nil
}

func (p *schemaPlan) texts() []dimtext.Dim {
	out := make([]dimtext.Dim, len(p.names.ids))
	for i, n := range p.names.ids {
		out[i] = dimtext.Dim{Name: p.names.text(n), Size: dimtext.Absent}
		if p.ragged.has(n) {
			out[i].Size = dimtext.Ragged
		}
	}
	return out
}

// fill stores a checked tensor in a schema.
func (p *schemaPlan) fill(at unsafe.Pointer, t *Tensor) {
	if p.tensor != noTensor {
		*(**Tensor)(unsafe.Add(at, p.tensor)) = t
	}
	for _, h := range p.handles {
		*(**Tensor)(unsafe.Add(at, h)) = t
	}
	for i := range p.inner {
		q := &p.inner[i]
		sub := t
		if len(q.extra.ids) > 0 {
			u := *t
			u.side = &side{hidden: none, extra: q.extra}
			if t.side != nil {
				u.side = &side{hidden: t.side.hidden, extra: t.side.extra.and(q.extra)}
			}
			sub = &u
		}
		q.plan.fill(unsafe.Add(at, q.offset), sub)
	}
}

// Bind gives a tensor the type of a schema: a struct that embeds a *Tensor and the names of exactly
// the tensor's dimensions, in any order. The result has a handle for each dimension, and passing
// anything else to a function that takes the schema is a compile-time error.
//
//	type AttnIn struct {
//		*named.Tensor
//		Seq
//		Rep
//	}
//	in := named.Bind[AttnIn](x)
//	in.Seq.Size()
//
// A dimension whose rows have different lengths is marked with the tag `named:"ragged"`. A schema
// may embed another one together with further names (struct{ Batch; AttnIn }), and sets of names.
// It throws an error of kind ErrInvalid if names are missing or superfluous.
func Bind[S any](x tenon.Value) S {
	var s S
	p := schemaOf(reflect.TypeFor[S]())
	tenon.Throw(p.err)
	t := tensorOf("named.Bind", x)
	if err := p.check("named.Bind "+p.typ.Name(), t); err != nil {
		tenon.Throw(err)
	}
	p.fill(unsafe.Pointer(&s), t)
	return s
}

// BindOver gives a tensor a schema with the names of the tensor except N. The result is for a
// function that takes the schema and is lifted over N:
//
//	out := named.Lift[Batch](head)(named.BindOver[Batch, AttnIn](x))
func BindOver[N Is[N], S any](x tenon.Value) S {
	var s S
	p := schemaOf(reflect.TypeFor[S]())
	tenon.Throw(p.err)
	t := tensorOf("named.BindOver", x)
	over := groupOf[N]()
	Dims{over}.axesOf("named.BindOver", t)
	u := *t
	u.side = &side{hidden: none, extra: over}
	if t.side != nil {
		u.side = &side{hidden: t.side.hidden, extra: t.side.extra.and(over)}
	}
	if err := p.check("named.BindOver "+p.typ.Name(), &u); err != nil {
		tenon.Throw(err)
	}
	p.fill(unsafe.Pointer(&s), &u)
	return s
}

// Fits reports whether [Bind] can give a tensor the schema S.
func Fits[S any](x tenon.Value) bool {
	p := schemaOf(reflect.TypeFor[S]())
	t, ok := asNamed(x)
	return ok && t != nil && p.err == nil && p.check("", t) == nil
}

// As returns the dimension of a handle under another name, as a handle to the renamed tensor:
//
//	g1.TokenRep.Dot(named.As[TokenRep](g2.Foo))
func As[To Is[To], From Is[From]](handle From) To {
	t := any(handle).(interface{ handle() *Tensor }).handle()
	if t == nil {
		fail(tenon.ErrInvalid, "named.As", "%v is a name and not the dimension of a tensor", groupOf[From]())
	}
	to := groupOf[To]()
	u := rename("named.As", t, groupOf[From](), to)
	u.from = origin{pc: calledFrom(3).pc, from: groupOf[From]().ids[0], to: to.ids[0]}
	var h To
	any(&h).(interface{ bind(*Tensor) }).bind(u)
	return h
}

// A schema in a structure, such as an argument of a traced function, keeps its type when package
// nest rebuilds the structure with other tensors.
func init() {
	nest.Adopt(func(t reflect.Type) func(v tenon.Value, like any) (any, error) {
		if !isSchema(t) {
			return nil
		}
		p := schemaOf(t)
		return func(v tenon.Value, like any) (any, error) {
			x, ok := asNamed(v)
			if p.err != nil || !ok || x == nil {
				return v, p.err
			}
			if old, ok := asNamed(like); ok && old != nil && old.side != nil && x.side == nil {
				u := *x
				u.side = &side{hidden: none, extra: old.side.extra}
				x = &u
			}
			if err := p.check("named.Bind "+p.typ.Name(), x); err != nil {
				return nil, err
			}
			out := reflect.New(t)
			p.fill(out.UnsafePointer(), x)
			return out.Elem().Interface(), nil
		}
	})
}
