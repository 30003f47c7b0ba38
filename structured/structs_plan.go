package structured

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/source"
)

// A plan says how values of a Go type are written to columns and read from them.
type plan struct {
	typ    reflect.Type
	form   form
	num    numeric     // of numbers and truth values
	elem   *plan       // of lists, arrays and optional values; of maps, the entries
	fields []planField // of records
}

type planField struct {
	name   string
	offset uintptr
	index  []int // of the field, as reflect has it
	depth  int   // of embedding
	plan   *plan
}

// form is what a Go type becomes.
type form uint8

const (
	scalarForm form = iota
	textForm
	bytesForm
	timeForm
	recordForm
	listForm
	arrayForm
	optionalForm
	mapForm
)

var plans sync.Map // reflect.Type → *plan

var timeType = reflect.TypeFor[time.Time]()

// planOf returns the plan of a struct type.
func planOf(fn string, t reflect.Type) (*plan, error) {
	if p, ok := plans.Load(t); ok {
		return p.(*plan), nil
	}
	if t.Kind() != reflect.Struct || t == timeType {
		return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Op: fn, Msg: fmt.Sprintf("%v is no struct", t), Line: source.Line()}
	}
	m := planner{fn: fn}
	p, err := m.plan(t, nil)
	if err != nil {
		return nil, err
	}
	kept, _ := plans.LoadOrStore(t, p)
	return kept.(*plan), nil
}

type planner struct {
	fn   string
	open []reflect.Type // the structs around
}

func (m *planner) fail(path []string, format string, args ...any) error {
	return &tenon.Error{Kind: tenon.ErrUnsupported, Op: m.fn, Where: PathString(path), Msg: fmt.Sprintf(format, args...), Line: source.Line()}
}

func (m *planner) plan(t reflect.Type, path []string) (*plan, error) {
	p := &plan{typ: t}
	switch {
	case t == timeType:
		p.form = timeForm
		return p, nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		p.form = bytesForm
		return p, nil
	}
	if slices.Contains(m.open, t) {
		return nil, m.fail(path, "%v holds itself", t)
	}
	m.open = append(m.open, t)
	defer func() { m.open = m.open[:len(m.open)-1] }()
	var err error
	switch t.Kind() {
	case reflect.String:
		p.form = textForm
	case reflect.Struct:
		p.form = recordForm
		err = m.fields(p, t, 0, nil, path)
	case reflect.Slice:
		p.form = listForm
		p.elem, err = m.plan(t.Elem(), path)
	case reflect.Array:
		p.form = arrayForm
		p.elem, err = m.plan(t.Elem(), path)
	case reflect.Pointer:
		p.form = optionalForm
		p.elem, err = m.plan(t.Elem(), path)
		for q := p.elem; err == nil && q != nil; q = q.elem {
			if q.form == optionalForm {
				return nil, m.fail(path, "%v is optional twice", t)
			}
			if q.form != listForm && q.form != arrayForm {
				break
			}
		}
	case reflect.Map:
		p.form = mapForm
		if k := t.Key().Kind(); k != reflect.String && (k < reflect.Int || k > reflect.Uintptr) {
			return nil, m.fail(path, "keys of type %v have no order", t.Key())
		}
		entry := reflect.StructOf([]reflect.StructField{
			{Name: "Key", Type: t.Key(), Tag: `json:"key"`}, {Name: "Value", Type: t.Elem(), Tag: `json:"value"`},
		})
		p.elem, err = m.plan(entry, path)
	default:
		var ok bool
		if p.num, ok = numericOf(t); !ok {
			return nil, m.fail(path, "values of type %v have no columns", t)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// fields adds the fields of a struct at an offset, and then those of embedded structs,
// of which the ones with fewer structs around them hide others. around are the positions of
// the structs around.
func (m *planner) fields(p *plan, t reflect.Type, offset uintptr, around []int, path []string) error {
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
		own := planField{name, offset + f.Offset, append(slices.Clone(around), f.Index...), depth, q}
		k := slices.IndexFunc(p.fields, func(g planField) bool { return g.name == name })
		switch {
		case k < 0:
			p.fields = append(p.fields, own)
		case p.fields[k].depth == depth:
			return &tenon.Error{Kind: tenon.ErrInvalid, Op: m.fn, Where: PathString(below), Msg: fmt.Sprintf("two fields of %v have this name", p.typ), Line: source.Line()}
		case p.fields[k].depth > depth:
			p.fields[k] = own
		}
	}
	for _, f := range embedded {
		if slices.Contains(m.open, f.Type) {
			return m.fail(path, "%v holds itself", f.Type)
		}
		if err := m.fields(p, f.Type, offset+f.Offset, append(slices.Clone(around), f.Index...), path); err != nil {
			return err
		}
	}
	return nil
}

// numericOf returns what handles numbers of a Go type.
func numericOf(t reflect.Type) (numeric, bool) {
	switch t {
	case reflect.TypeFor[dtype.F16]():
		return numbers[dtype.F16]{}, true
	case reflect.TypeFor[dtype.BF16]():
		return numbers[dtype.BF16]{}, true
	}
	switch t.Kind() {
	case reflect.Bool:
		return numbers[bool]{}, true
	case reflect.Int8:
		return numbers[int8]{}, true
	case reflect.Int16:
		return numbers[int16]{}, true
	case reflect.Int32:
		return numbers[int32]{}, true
	case reflect.Int64:
		return numbers[int64]{}, true
	case reflect.Int:
		return numbers[int64]{}, t.Size() == 8
	case reflect.Uint8:
		return numbers[uint8]{}, true
	case reflect.Uint16:
		return numbers[uint16]{}, true
	case reflect.Uint32:
		return numbers[uint32]{}, true
	case reflect.Uint64:
		return numbers[uint64]{}, true
	case reflect.Uint, reflect.Uintptr:
		return numbers[uint64]{}, t.Size() == 8
	case reflect.Float32:
		return numbers[float32]{}, true
	case reflect.Float64:
		return numbers[float64]{}, true
	case reflect.Complex64:
		return numbers[complex64]{}, true
	case reflect.Complex128:
		return numbers[complex128]{}, true
	}
	return nil, false
}
