package gotype

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
)

// A Plan says how values of a Go type are written to columns and read from them.
type Plan struct {
	Type   reflect.Type
	Form   Form
	Elem   *Plan   // for lists, arrays and optional values; for maps, the entries
	Fields []Field // for records
}

// A Field is a field of a record.
type Field struct {
	Name   string
	Offset uintptr
	Index  []int // as in package reflect
	Plan   *Plan

	depth int // of embedding
}

// Form is what a Go type becomes.
type Form uint8

// The forms.
const (
	Scalar Form = iota
	Text
	Bytes
	Time
	Record
	List
	Array
	Optional
	Map
)

var plans sync.Map // reflect.Type → *Plan

var timeType = reflect.TypeFor[time.Time]()

// Of returns the plan of a struct type.
func Of(fn string, t reflect.Type) (*Plan, error) {
	if p, ok := plans.Load(t); ok {
		return p.(*Plan), nil
	}
	if t.Kind() != reflect.Struct || t == timeType {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Msg: fmt.Sprintf("%v is not a struct", t), Line: source.Line()}
	}
	m := planner{fn: fn}
	p, err := m.plan(t, nil)
	if err != nil {
		return nil, err
	}
	kept, _ := plans.LoadOrStore(t, p)
	return kept.(*Plan), nil
}

type planner struct {
	fn   string
	open []reflect.Type // the enclosing structs
}

func (m *planner) fail(path []string, format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: m.fn, Where: jsonpath.String(path), Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

func (m *planner) plan(t reflect.Type, path []string) (*Plan, error) {
	p := &Plan{Type: t}
	switch {
	case t == timeType:
		p.Form = Time
		return p, nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		p.Form = Bytes
		return p, nil
	}
	if slices.Contains(m.open, t) {
		return nil, m.fail(path, "%v contains itself", t)
	}
	m.open = append(m.open, t)
	defer func() { m.open = m.open[:len(m.open)-1] }()
	var err error
	switch t.Kind() {
	case reflect.String:
		p.Form = Text
	case reflect.Struct:
		p.Form = Record
		err = m.fields(p, t, 0, nil, path)
	case reflect.Slice:
		p.Form = List
		p.Elem, err = m.plan(t.Elem(), path)
	case reflect.Array:
		p.Form = Array
		p.Elem, err = m.plan(t.Elem(), path)
	case reflect.Pointer:
		p.Form = Optional
		p.Elem, err = m.plan(t.Elem(), path)
		for q := p.Elem; err == nil && q != nil; q = q.Elem {
			if q.Form == Optional {
				return nil, m.fail(path, "%v is optional twice", t)
			}
			if q.Form != List && q.Form != Array {
				break
			}
		}
	case reflect.Map:
		p.Form = Map
		if !IsKey(t.Key()) {
			return nil, m.fail(path, "keys of type %v have no order", t.Key())
		}
		entry := reflect.StructOf([]reflect.StructField{
			{Name: "Key", Type: t.Key(), Tag: `json:"key"`}, {Name: "Value", Type: t.Elem(), Tag: `json:"value"`},
		})
		p.Elem, err = m.plan(entry, path)
	default:
		if !numeric(t) {
			return nil, m.fail(path, "values of type %v cannot be stored in columns", t)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// IsUUID reports whether a type is an array of 16 bytes, as UUIDs are in all UUID packages.
func IsUUID(t reflect.Type) bool {
	return t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8
}

// fields adds the fields of a struct at an offset, and then those of embedded structs, where fields
// with fewer enclosing structs hide others. around are the indices of the enclosing structs.
func (m *planner) fields(p *Plan, t reflect.Type, offset uintptr, around []int, path []string) error {
	depth := len(around)
	var embedded []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if tag == "-" {
			continue
		}
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct && f.Type != timeType {
			embedded = append(embedded, f)
			continue
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		below := append(slices.Clone(path), name)
		q, err := m.plan(f.Type, below)
		if err != nil {
			return err
		}
		own := Field{name, offset + f.Offset, append(slices.Clone(around), f.Index...), q, depth}
		k := slices.IndexFunc(p.Fields, func(g Field) bool { return g.Name == name })
		switch {
		case k < 0:
			p.Fields = append(p.Fields, own)
		case p.Fields[k].depth == depth:
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: m.fn, Where: jsonpath.String(below), Msg: fmt.Sprintf("two fields of %v have this name", p.Type), Line: source.Line()}
		case p.Fields[k].depth > depth:
			p.Fields[k] = own
		}
	}
	for _, f := range embedded {
		if slices.Contains(m.open, f.Type) {
			return m.fail(path, "%v contains itself", f.Type)
		}
		if err := m.fields(p, f.Type, offset+f.Offset, append(slices.Clone(around), f.Index...), path); err != nil {
			return err
		}
	}
	return nil
}

// numeric reports whether a Go type is a number or boolean type of tensors. int and uint must have
// 64 bits.
func numeric(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return t.Size() == 8
	}
	return false
}
