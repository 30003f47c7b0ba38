package named

import (
	"fmt"
	"go/token"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/tenonml/tenon"
)

// An id is an interned name: equal names have equal ids.
type id int32

// nameInfo is what is known about a name.
type nameInfo struct {
	path  string       // its identity: "example.com/gpt.Batch", or the text of a dynamic name
	short string       // what is printed: "Batch"
	typ   reflect.Type // the Go type of the name; nil if it is not a type
}

// A nameTable holds all names of the program by id. Readers take the slice without a lock; it is
// never changed, but replaced by a longer one.
type nameTable struct {
	list   atomic.Pointer[[]nameInfo]
	mu     sync.Mutex
	byPath map[string]id
	groups atomic.Pointer[map[unsafe.Pointer]*layout] // by pointer to the Go type
}

var names = newNameTable()

func newNameTable() *nameTable {
	t := &nameTable{byPath: map[string]id{}}
	t.list.Store(new([]nameInfo))
	t.groups.Store(&map[unsafe.Pointer]*layout{})
	return t
}

func (n id) info() *nameInfo { return &(*names.list.Load())[n] }

// String returns the short form: the name of the type, or the text of a dynamic
// name.
func (n id) String() string { return n.info().short }

// intern returns the id of a path. typ is the Go type that has the path, if there
// is one.
func intern(path string, typ reflect.Type) id {
	names.mu.Lock()
	defer names.mu.Unlock()
	return internLocked(path, typ)
}

func internLocked(path string, typ reflect.Type) id {
	list := *names.list.Load()
	// Types declared inside functions may have the same path; each is a separate name.
	for n, base := 2, path; ; n++ {
		i, ok := names.byPath[path]
		if !ok {
			break
		}
		if typ == nil || list[i].typ == typ {
			return i
		}
		if list[i].typ == nil { // the name was read from a file before its type was used
			next := append([]nameInfo(nil), list...)
			next[i].typ = typ
			names.list.Store(&next)
			return i
		}
		path = fmt.Sprintf("%s#%d", base, n)
	}
	i := id(len(list))
	next := append(list, nameInfo{path, shortName(path), typ})
	names.list.Store(&next)
	names.byPath[path] = i
	return i
}

// shortName returns the part of a path such as "example.com/gpt.Batch" after the
// package; any other text is its own short form.
func shortName(path string) string {
	if generic, args, ok := strings.Cut(path, "["); ok && strings.HasSuffix(args, "]") && strings.Contains(generic, ".") {
		list := strings.Split(strings.TrimSuffix(args, "]"), ",")
		for i, a := range list {
			list[i] = shortName(a)
		}
		return shortName(generic) + "[" + strings.Join(list, ",") + "]"
	}
	rest := path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.IndexByte(rest, '.'); i > 0 && token.IsExported(rest[i+1:]) {
		return rest[i+1:]
	}
	if rest != path && strings.Contains(rest, ".") {
		return rest[strings.IndexByte(rest, '.')+1:]
	}
	return path
}

// checkName returns what is wrong with the text of a name from outside.
func checkName(text string) error {
	if text == "" || len(text) > 512 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return tenon.NewError(tenon.ErrInvalid, "named.Dynamic", fmt.Sprintf("%.40q is not the name of a dimension", text))
	}
	return nil
}

// A Name is the name of a dimension, or several names used together. The zero value of a name type
// is a Name, and so are [Dynamic] names, sets (see [Set]) and lists ([Dims]).
type Name interface {
	// Of returns the name together with a size.
	Of(size int) Sized

	// String returns the name for printing.
	String() string

	// group returns the names that this one stands for.
	group() *layout
}

// Is is satisfied by a type that is declared as a name or set by embedding Dim or
// Set of itself:
//
//	type Batch struct{ named.Dim[Batch] }
//
// It is the constraint of functions with a name as type argument, so that a
// mistake in the declaration is a compile-time error where the name is used.
type Is[N any] interface{ self() N }

// Dim makes a Go type the name of a dimension:
//
//	type Batch struct{ named.Dim[Batch] }
//
// The zero value stands for the name. In a schema, the embedded name is a handle to the dimension
// of a tensor: it knows its size, and can be contracted with the dimension of the same name of
// another tensor.
type Dim[N any] struct{ t *Tensor }

func (Dim[N]) self() (n N) { return n }

func (Dim[N]) group() *layout { return groupOf[N]() }

func (d *Dim[N]) bind(t *Tensor) { d.t = t }

func (d Dim[N]) handle() *Tensor { return d.t }

// Of returns the name with a size, for making tensors: Batch{}.Of(8).
func (d Dim[N]) Of(size int) Sized { return Sized{groupOf[N](), size} }

// String returns the name of the dimension; for a handle, it includes the size.
func (d Dim[N]) String() string {
	if d.t == nil {
		return groupOf[N]().String()
	}
	return fmt.Sprintf("%v:%d", groupOf[N](), d.Size())
}

// Tensor returns the tensor of a handle, or nil if d is only a name.
func (d Dim[N]) Tensor() *Tensor { return d.t }

// Size returns the size of the dimension of a handle, or -1 if it is not known or
// ragged.
func (d Dim[N]) Size() int {
	if d.t == nil {
		fail(tenon.ErrInvalid, "named.Size", "%v is a name and not the dimension of a tensor", groupOf[N]())
	}
	return d.t.size(groupOf[N]().ids[0])
}

// Dot contracts the dimension with the dimension of the same name of another tensor; see the
// function [Dot]. A dimension with another name is a compile-time error.
func (d Dim[N]) Dot(other N) *Tensor {
	l := groupOf[N]()
	o := any(other).(interface{ handle() *Tensor }).handle()
	if d.t == nil || o == nil {
		fail(tenon.ErrInvalid, "named.Dot", "%v is a name and not the dimension of a tensor: use those of schemas", l)
	}
	return Dims{l}.Dot(d.t, o)
}

// Set makes a struct of names a set of dimensions that can be used like a single
// name:
//
//	type Spatial struct {
//		named.Set[Spatial]
//		Height
//		Width
//	}
//
//	named.Sum[Spatial](image)
//	named.Merge[Spatial, Pixel](image)
//
// The order of the fields matters to operations that depend on an order, such as
// [Merge].
type Set[S any] struct{}

func (Set[S]) self() (s S) { return s }

func (Set[S]) group() *layout { return groupOf[S]() }

// Of is for names of one dimension. Sets are rejected, since each of their
// dimensions has its own size.
func (Set[S]) Of(size int) Sized { return Sized{groupOf[S](), size} }

// String returns the names.
func (Set[S]) String() string { return groupOf[S]().String() }

// groupOf returns the names that a name type or set stands for.
func groupOf[N any]() *layout {
	e := any((*N)(nil))
	if l, ok := (*names.groups.Load())[(*[2]unsafe.Pointer)(unsafe.Pointer(&e))[0]]; ok {
		return l
	}
	return newGroup(reflect.TypeFor[N](), (*[2]unsafe.Pointer)(unsafe.Pointer(&e))[0])
}

func newGroup(t reflect.Type, key unsafe.Pointer) *layout {
	ids := typeNames(t)
	if len(ids) == 0 {
		fail(tenon.ErrInvalid, "named", "%v is neither the name of a dimension nor a set of names: declare it as struct{ named.Dim[%s] }", t, t.Name())
	}
	if n, twice := duplicate(ids); twice {
		fail(tenon.ErrInvalid, "named", "the set %v has %v twice", t, n)
	}
	l := layoutOf(ids)
	names.mu.Lock()
	defer names.mu.Unlock()
	next := map[unsafe.Pointer]*layout{key: l}
	for k, v := range *names.groups.Load() {
		next[k] = v
	}
	names.groups.Store(&next)
	return l
}

// isName reports whether t is a struct that embeds the Dim of itself, and returns the type whose
// Dim it embeds if that is another one.
func isName(t reflect.Type) (ok bool, of reflect.Type) {
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		return false, nil
	}
	f := t.Field(0)
	if !f.Anonymous || f.Type.PkgPath() != pkgPath || !strings.HasPrefix(f.Type.Name(), "Dim[") {
		return false, nil
	}
	m, has := f.Type.MethodByName("Dot") // its parameter is the type of the name
	if !has {
		return false, nil
	}
	of = m.Type.In(1)
	return of == t, of
}

var pkgPath = reflect.TypeFor[Tensor]().PkgPath()

// typeNames returns the names of a name type, or of the fields of a struct.
func typeNames(t reflect.Type) []id {
	if ok, of := isName(t); ok {
		return []id{intern(typePath(t), t)}
	} else if of != nil {
		fail(tenon.ErrInvalid, "named", "%v embeds the named.Dim of %v: declare it as struct{ named.Dim[%s] }", t, of, t.Name())
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var ids []id
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && f.Type.Kind() == reflect.Struct {
			ids = append(ids, typeNames(f.Type)...)
		}
	}
	return ids
}

func typePath(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// dynamic is a name that is not a Go type.
type dynamic struct{ l *layout }

// Dynamic returns the name with the given text. It is for names that are known only at run time,
// such as those in a file. Two dynamic names are equal if their texts are. The text of a name that
// is a Go type is its import path and name: Dynamic("example.com/gpt.Batch") is the same name as
// gpt.Batch. Dynamic throws if the text is empty, is longer than 512 bytes, or contains control
// characters.
func Dynamic(text string) Name {
	tenon.Throw(checkName(text))
	return dynamic{layoutOf([]id{intern(text, nil)})}
}

func (d dynamic) group() *layout    { return d.l }
func (d dynamic) Of(size int) Sized { return Sized{d.l, size} }
func (d dynamic) String() string    { return d.l.String() }

// Path returns the text that identifies a name: the import path and name of a Go type, or the text
// of a dynamic name. It throws for a set.
func Path(n Name) string {
	l := n.group()
	if len(l.ids) != 1 {
		fail(tenon.ErrInvalid, "named.Path", "%v are several names", l)
	}
	return l.ids[0].info().path
}

// Sized is a name with a size, made by [Name.Of].
type Sized struct {
	names *layout
	size  int
}

// Name returns the name.
func (s Sized) Name() Name { return Dims{s.names} }

// Size returns the size.
func (s Sized) Size() int { return s.size }

// String returns "Batch:8".
func (s Sized) String() string { return fmt.Sprintf("%v:%d", s.names, s.size) }
