package serve

import (
	"context"
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
)

// Rows returns a function over Go structs. A call has any number of rows; the arguments are the
// fields of In and the results those of Out, named as [gostruct.From] names them. A function that
// computes each row independently may be batched:
//
//	f, err := serve.Rows("price", func(ctx context.Context, orders []Order) ([]Price, error) { … })
//	f.Batched = true
//	err = s.Add(f)
//
// [CallRows] calls it with the same structs.
func Rows[In, Out any](name string, f func(ctx context.Context, rows []In) ([]Out, error)) (Func, error) {
	args, err := fieldsOf[In]()
	if err != nil {
		return Func{}, err
	}
	results, err := fieldsOf[Out]()
	if err != nil {
		return Func{}, err
	}
	call := func(ctx context.Context, values []tenon.Value) ([]tenon.Value, error) {
		rows, err := toRows[In](args, values)
		if err != nil {
			return nil, err
		}
		out, err := f(ctx, rows)
		if err != nil {
			return nil, err
		}
		return fromRows(results, out)
	}
	return Func{Name: name, Args: args, Results: results, Call: call}, nil
}

// fieldsOf returns the fields of a struct as arguments.
func fieldsOf[T any]() ([]Arg, error) {
	s, err := gostruct.SpecOf[T]()
	if err != nil {
		return nil, err
	}
	var out []Arg
	for _, f := range s.Fields() {
		out = append(out, Arg{Name: f.Name, Spec: f.Spec})
	}
	return out, nil
}

// toRows converts columns to structs.
func toRows[T any](list []Arg, values []tenon.Value) ([]T, error) {
	fields := make([]structured.Field, len(list))
	for i, a := range list {
		t, ok := values[i].(tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("%s is %s, want a tensor", a.Name, tenon.String(values[i].Spec()))
		}
		fields[i] = structured.Field{Name: a.Name, Value: t}
	}
	n := 0
	if len(values) > 0 {
		n = rowsOf(values[0])
	}
	rec, err := structured.FromFields(fields, shape.Of(n), structured.Options{NRows: n})
	if err != nil {
		return nil, err
	}
	return gostruct.To[T](rec)
}

// fromRows converts structs to columns.
func fromRows[T any](list []Arg, rows []T) ([]tenon.Value, error) {
	rec, err := gostruct.From(rows)
	if err != nil {
		return nil, err
	}
	out := make([]tenon.Value, len(list))
	for i, a := range list {
		if out[i], err = rec.Field(a.Name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// AddFunction serves a traced function, made by function.New, for arguments of the given Specs.
// The values that it captures are those at the time of the call: it is recorded like by
// [saved.Model.Add].
func (s *Server) AddFunction(name string, f saved.Traced, args ...any) error {
	m := saved.NewModel()
	if err := m.Add(name, f, args...); err != nil {
		return err
	}
	return s.AddModel(m)
}
