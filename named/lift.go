package named

import (
	"fmt"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/batching"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// Lift returns a function that applies f to each position along a dimension, or along those of a
// set, as if the arguments that have the dimension were unstacked, f called for each position, and
// the results stacked again. There is no loop: f runs once, and each operation in it works on all
// positions at once.
//
//	batched := named.Lift[Batch](head)
//
// f may be any function of structures of named tensors, schemas and plain data, with any number of
// arguments and results. An argument without the dimension is the same for all positions, but at
// least one argument must have it. Inside f the dimension does not exist; it is an error if f
// captures a tensor from outside that has it.
//
// The lifted function has the type of f. If f takes a schema, the argument's tensor may have the
// lifted dimensions in addition to those that the schema lists. Such a value is part of a schema
// that embeds both.
//
//	type BatchedIn struct {
//		Batch
//		AttnIn
//	}
//	out := named.Lift[Batch](head)(named.Bind[BatchedIn](x).AttnIn)
//
// The lifted function throws errors.
func Lift[N Is[N], F any](f F) F { return liftAll(groupOf[N](), f) }

// LiftOver is [Lift] for names that are values.
func LiftOver[F any](over Name, f F) F { return liftAll(groupOfName(over), f) }

func liftAll[F any](dims *layout, f F) F {
	if n, twice := duplicate(dims.ids); twice {
		throwTwice(over("named.Lift", dims), n, dims)
	}
	for i := len(dims.ids) - 1; i >= 0; i-- {
		f = lift(dims.ids[i], f)
	}
	return f
}

func lift[F any](n id, f F) F {
	if g, ok := any(f).(func(*Tensor) *Tensor); ok {
		needsFunc("named.Lift", g == nil)
		h := func(x *Tensor) *Tensor {
			out, err := liftCall(n, []any{x}, func(args []any) []any { return []any{g(args[0].(*Tensor))} })
			tenon.Throw(err)
			return out[0].(*Tensor)
		}
		return any(h).(F)
	}
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() || v.Type().IsVariadic() {
		fail(tenon.ErrDType, "named.Lift", "a %T is not a function with a fixed number of arguments", f)
	}
	typ := v.Type()
	values := func(xs []any, t func(int) reflect.Type) []reflect.Value {
		out := make([]reflect.Value, len(xs))
		for i, x := range xs {
			if out[i] = reflect.ValueOf(x); x == nil {
				out[i] = reflect.Zero(t(i))
			}
		}
		return out
	}
	lifted := reflect.MakeFunc(typ, func(in []reflect.Value) []reflect.Value {
		args := make([]any, len(in))
		for i, a := range in {
			args[i] = a.Interface()
		}
		out, err := liftCall(n, args, func(args []any) []any {
			res := v.Call(values(args, typ.In))
			out := make([]any, len(res))
			for i, r := range res {
				out[i] = r.Interface()
			}
			return out
		})
		tenon.Throw(err)
		res := values(out, typ.Out)
		for i := range res { // a result of an interface type
			r := reflect.New(typ.Out(i)).Elem()
			r.Set(res[i])
			res[i] = r
		}
		return res
	})
	return lifted.Interface().(F)
}

// liftCall calls f for all positions along n of its arguments at once.
func liftCall(n id, args []any, f func(args []any) []any) (out []any, err error) {
	const fn = "named.Lift"
	defer tenon.Catch(&err)
	leaves := tenon.Must(nest.Flatten(args, nest.Options{}))
	front := layoutOf([]id{n})
	var rows []tensor.Tensor
	var at []int                // their indices among the leaves
	wholes := map[int]*Tensor{} // those of them whose flat values have the dimension
	var operands []one
	size := -1
	for i, l := range leaves {
		t, ok := asNamed(l)
		if !ok || t == nil {
			continue
		}
		operands = append(operands, one{fmt.Sprintf("argument %d", len(operands)), t})
		if !t.spec.names.has(n) {
			continue
		}
		u := t
		if t.inside(front) { // the flat values have the dimension first; their partitions lack it
			wholes[i], u = t, t.packed()
		} else if isRagged(t.data) && t.spec.names.ids[0] != n {
			return nil, newError(tenon.ErrUnsupported, over(fn, front), fmt.Sprintf("the rows along %v exist only inside {%v}\n%s", n, t.outer(), t.line("tensor"))).
				WithHint(fmt.Sprintf("lift over {%v} together", t.outer()))
		}
		u = u.ordered(front.and(u.spec.names))
		if k := u.data.Shape().Dim(0); size >= 0 && k >= 0 && k != size {
			return nil, errSizes(over(fn, front), n, operands...)
		} else {
			size = max(size, k)
		}
		rows, at = append(rows, u.data), append(at, i)
		leaves[i] = u
	}
	switch {
	case len(operands) == 0:
		return nil, newError(tenon.ErrInvalid, over(fn, front), "no argument is a named tensor")
	case len(rows) == 0:
		return nil, errMissing(over(fn, front), n, operands...)
	}
	var like []any // the results, with layouts of a single position
	var parts []any
	var places []int
	packed := map[int]*Tensor{} // results whose flat values are lifted
	res, err := batching.Run(over(fn, front), func(rows []tensor.Tensor) []tensor.Tensor {
		for k, i := range at {
			t := leaves[i].(*Tensor)
			s := &side{hidden: front, extra: none}
			if t.side != nil {
				s = &side{hidden: t.side.hidden.and(front), extra: t.side.extra.without(front)}
			}
			if r := wholes[i]; r != nil {
				leaves[i] = r.rowOfLift(rows[k], t.spec.names.without(front), s)
				continue
			}
			leaves[i] = newTensor(rows[k], t.spec.names.without(front), s)
		}
		for i, l := range leaves { // arguments that are the same for all positions
			if t, ok := asNamed(l); ok && t != nil && (t.side == nil || !t.side.hidden.has(n)) {
				u := *t
				u.side = &side{hidden: front, extra: none}
				if t.side != nil {
					u.side = &side{hidden: t.side.hidden.and(front), extra: t.side.extra}
				}
				leaves[i] = &u
			}
		}
		row := tenon.Must(nest.Pack(args, leaves, nest.Options{}))
		like = f(row)
		parts = tenon.Must(nest.Flatten(like, nest.Options{}))
		var data []tensor.Tensor
		for i, p := range parts {
			switch p := p.(type) {
			case holder:
				x := p.self()
				if isRagged(x.data) {
					packed[i] = flatOfLift(over(fn, front), x, rows[0].(op.Recorder).RecordLevel())
					x = packed[i]
				}
				data, places = append(data, x.data), append(places, i)
			case tensor.Tensor:
				fail(tenon.ErrDType, over(fn, front), "the function returns %s, which has no names", tenon.String(p.Spec()))
			}
		}
		return data
	}, rows)
	if err != nil {
		return nil, err
	}
	for k, i := range places {
		t := parts[i].(holder).self()
		if t.spec.names.has(n) {
			return nil, errHidden(over(fn, front), n, one{"result", t})
		}
		s := &side{hidden: none, extra: front}
		if t.side != nil {
			s = &side{hidden: t.side.hidden.without(front), extra: front.and(t.side.extra)}
		}
		if p := packed[i]; p != nil {
			parts[i] = t.rowOfLift(res[k], front.and(p.spec.names), s)
			continue
		}
		parts[i] = newTensor(res[k], front.and(t.spec.names), s)
	}
	return nest.Pack(like, parts, nest.Options{})
}

// MapUnnamed applies a function of tensors without names. f gets the listed dimensions of x, in
// this order, and is applied over all others, as with [Lift]. The axes of its result get the names
// in result.
//
//	named.MapUnnamed(linalg.Inverse, x, []named.Name{Row{}, Column{}}, Column{}, Row{})
func MapUnnamed(f func(x tensor.Tensor) tensor.Tensor, x tenon.Value, dims []Name, result ...Name) *Tensor {
	const fn = "named.MapUnnamed"
	needsFunc(fn, f == nil)
	t := tensorOf(fn, x)
	d, l := By(dims...), By(result...).group()
	r := d.axesOf(fn, t)
	g := func(y *Tensor) *Tensor {
		data := f(y.ordered(allOf(fn, y, d.group())).data)
		checkNames(fn, l, data.Spec())
		return newTensor(data, l, y.own())
	}
	rest := r.rest
	if isRagged(t.data) { // lift over dimensions inside rows before taking the rows apart
		rest = rest.without(t.outer()).and(rest)
	}
	for i := len(rest.ids) - 1; i >= 0; i-- {
		g = lift(rest.ids[i], g)
	}
	u := *g(t)
	u.side = t.side
	return &u
}
