package dist

import (
	"context"
	"fmt"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// PerReplica holds a Value for each of several replicas, as its components, which may have any
// type. It passes through functions, loops, gradients and files as one Value. It corresponds to
// TensorFlow's PerReplica, but can be joined and averaged for every type.
type PerReplica[T tenon.Value] struct {
	of   []T
	spec *ReplicaSpec
}

// Replicas returns several Values as one.
func Replicas[T tenon.Value](values ...T) PerReplica[T] {
	s := &ReplicaSpec{}
	for _, v := range values {
		s.specs = append(s.specs, v.Spec())
	}
	return PerReplica[T]{append([]T(nil), values...), s}
}

// Collect returns the Values of all ranks as one Value, which is the same on all ranks.
func Collect[T tenon.Value](ctx context.Context, c *Comm, x T) (PerReplica[T], error) {
	all, err := GatherValues(ctx, c, x)
	if err != nil {
		return PerReplica[T]{}, err
	}
	return Replicas(all...), nil
}

// Divide splits the rows of a Value, of any type that has rows, among replicas, as [Share]
// does: the parts differ by at most one row. Rows are not split, and nothing is padded.
func Divide[T tenon.Value](x T, replicas int) (PerReplica[T], error) {
	if replicas < 1 {
		return PerReplica[T]{}, tenon.NewError(tenon.ErrInvalid, "dist.Divide", fmt.Sprintf("there are %d replicas, want at least 1", replicas))
	}
	n, err := rows.Count(x)
	if err == nil && n < 0 {
		err = tenon.NewError(tenon.ErrUnsupported, "", "the number of its rows is unknown")
	}
	if err != nil {
		return PerReplica[T]{}, rows.Named("dist.Divide", err)
	}
	parts := make([]T, replicas)
	for r := range parts {
		lo, hi := Share(n, replicas, r)
		part, err := rows.Slice(x, lo, hi)
		if err != nil {
			return PerReplica[T]{}, rows.Named("dist.Divide", err)
		}
		if parts[r], err = as[T](part); err != nil {
			return PerReplica[T]{}, err
		}
	}
	return Replicas(parts...), nil
}

// as returns a Value as a T.
func as[T tenon.Value](v tenon.Value) (x T, err error) {
	x, ok := v.(T)
	if !ok {
		return x, tenon.NewError(tenon.ErrDType, "dist", fmt.Sprintf("got %s, want a %v", tenon.String(v.Spec()), reflect.TypeFor[T]()))
	}
	return x, nil
}

// Len returns the number of replicas.
func (p PerReplica[T]) Len() int { return len(p.of) }

// At returns the Value of a replica.
func (p PerReplica[T]) At(i int) T { return p.of[i] }

// Values returns the Values of all replicas.
func (p PerReplica[T]) Values() []T { return append([]T(nil), p.of...) }

// Spec returns the *ReplicaSpec.
func (p PerReplica[T]) Spec() tenon.Spec {
	if p.spec == nil {
		return &ReplicaSpec{}
	}
	return p.spec
}

// Each returns the results of f for the Values of all replicas.
func Each[T, R tenon.Value](p PerReplica[T], f func(T) R) PerReplica[R] {
	out := make([]R, len(p.of))
	for i, v := range p.of {
		out[i] = f(v)
	}
	return Replicas(out...)
}

// Join returns the rows of all replicas as one Value, joined in the way of the type: ragged
// rows stay ragged, and records are joined with all their fields.
func (p PerReplica[T]) Join() (x T, err error) {
	list := make([]tenon.Value, len(p.of))
	for i, v := range p.of {
		list[i] = v
	}
	v, err := rows.Concat(list)
	if err != nil {
		return x, rows.Named("dist.PerReplica.Join", err)
	}
	return as[T](v)
}

// Reduce combines the Values of all replicas by an elementwise operation, in their order.
func (p PerReplica[T]) Reduce(by Reduction) (x T, err error) {
	defer tenon.Catch(&err)
	o, err := combiner(by)
	if err != nil {
		return x, err
	}
	if len(p.of) == 0 {
		return x, tenon.NewError(tenon.ErrInvalid, "dist.PerReplica.Reduce", "there are no replicas")
	}
	sum := tenon.Value(p.of[0])
	for _, v := range p.of[1:] {
		sum = op.Eval(o, sum, v)
	}
	return as[T](sum)
}

// Mean returns Σ wᵢ·xᵢ / Σ wᵢ over the replicas, the mean of means over wᵢ elements or rows each.
// Weights are Go numbers or scalars, one for each replica, and may be symbolic. If all are 0, the
// result is NaN.
func (p PerReplica[T]) Mean(weights ...any) (x T, err error) {
	defer tenon.Catch(&err)
	if len(weights) != len(p.of) || len(p.of) == 0 {
		return x, tenon.NewError(tenon.ErrInvalid, "dist.PerReplica.Mean", fmt.Sprintf("there are %d weights for %d replicas", len(weights), len(p.of)))
	}
	var sum, total tenon.Value
	for i, v := range p.of {
		w := ops.Cast(weights[i], floatOf(v))
		part := tenon.Value(ops.Where(ops.Equal(w, 0.0), ops.Mul(ops.ZerosLike(v), w), ops.Mul(v, w))) // the mean of nothing is NaN
		if i == 0 {
			sum, total = part, w
			continue
		}
		sum, total = ops.Add(sum, part), ops.Add(total, w)
	}
	return as[T](ops.Div(sum, total))
}

// floatOf is the floating-point type for a Value's elements.
func floatOf(v tenon.Value) dtype.DType {
	if t, ok := v.(tensor.Tensor); ok && t.DType().IsFloat() {
		return t.DType()
	}
	return dtype.Float64
}

// String prints the Values in brackets.
func (p PerReplica[T]) String() string { return fmt.Sprint(p.of) }

// ReplicaTypeName is the registered name of [*ReplicaSpec].
const ReplicaTypeName = "dist.PerReplica"

// ReplicaSpec is the Spec of a [PerReplica]: the Specs of its Values.
type ReplicaSpec struct{ specs []tenon.Spec }

// NewReplicaSpec returns the Spec of replicas with these Specs.
func NewReplicaSpec(specs ...tenon.Spec) *ReplicaSpec {
	return &ReplicaSpec{append([]tenon.Spec(nil), specs...)}
}

// TypeName returns [ReplicaTypeName].
func (s *ReplicaSpec) TypeName() string { return ReplicaTypeName }

// Encode returns the Specs of the replicas.
func (s *ReplicaSpec) Encode() tenon.Encoding {
	out := make(tenon.List, len(s.specs))
	for i, x := range s.specs {
		out[i] = tenon.SpecOf{Spec: x}
	}
	return out
}

// Components returns a component for each replica, "0", "1" and so on.
func (s *ReplicaSpec) Components() []tenon.Field {
	out := make([]tenon.Field, len(s.specs))
	for i, x := range s.specs {
		out[i] = tenon.Field{Name: fmt.Sprint(i), Spec: x}
	}
	return out
}

// Batched returns the Spec of rows of replicas, in which each replica has rows.
func (s *ReplicaSpec) Batched(n int) (tenon.Spec, error) {
	return s.each(func(x tenon.Spec) (tenon.Spec, error) { return rows.BatchSpec(x, n) })
}

// Unbatched returns the Spec of one row.
func (s *ReplicaSpec) Unbatched() (tenon.Spec, error) { return s.each(rows.RowSpec) }

func (s *ReplicaSpec) each(f func(tenon.Spec) (tenon.Spec, error)) (tenon.Spec, error) {
	out := &ReplicaSpec{make([]tenon.Spec, len(s.specs))}
	for i, x := range s.specs {
		var err error
		if out.specs[i], err = f(x); err != nil {
			return nil, codec.Within(fmt.Sprint(i), err)
		}
	}
	return out, nil
}

// apart is what a PerReplica of any type can do.
type apart interface {
	parts() []tenon.Value
	adopt(v tenon.Value) (any, error)
}

func (p PerReplica[T]) parts() []tenon.Value {
	out := make([]tenon.Value, len(p.of))
	for i, v := range p.of {
		out[i] = v
	}
	return out
}

// adopt converts a PerReplica of another type to one of T.
func (p PerReplica[T]) adopt(v tenon.Value) (any, error) {
	a, ok := v.(apart)
	if !ok {
		return v, nil
	}
	var of []T
	for i, part := range a.parts() {
		x, err := as[T](part)
		if err != nil {
			return nil, fmt.Errorf("replica %d: %w", i, err)
		}
		of = append(of, x)
	}
	return PerReplica[T]{of, v.Spec().(*ReplicaSpec)}, nil
}

// Disassemble returns the Values of the replicas.
func (s *ReplicaSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	p, ok := v.(apart)
	if !ok || len(p.parts()) != len(s.specs) {
		return nil, tenon.NewError(tenon.ErrDType, "dist.ReplicaSpec", fmt.Sprintf("got a %T, want %d replicas", v, len(s.specs)))
	}
	return p.parts(), nil
}

// Assemble returns a PerReplica[tenon.Value].
func (s *ReplicaSpec) Assemble(components []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, components); err != nil {
		return nil, err
	}
	return Replicas(components...), nil
}

func init() {
	tenon.Register(ReplicaTypeName, func(e tenon.Encoding) (tenon.Spec, error) {
		list, err := tenon.Elems(e, -1)
		if err != nil {
			return nil, err
		}
		s := &ReplicaSpec{}
		for _, x := range list {
			of, err := tenon.As[tenon.SpecOf](x)
			if err != nil {
				return nil, err
			}
			if of.Spec == nil {
				return nil, tenon.NewError(tenon.ErrInvalid, "dist.ReplicaSpec", fmt.Sprintf("the Spec of replica %d is nil", len(s.specs)))
			}
			s.specs = append(s.specs, of.Spec)
		}
		return s, nil
	})
	nest.Adopt(func(t reflect.Type) func(v tenon.Value, like any) (any, error) {
		p, ok := reflect.Zero(t).Interface().(apart)
		if !ok {
			return nil
		}
		return func(v tenon.Value, _ any) (any, error) { return p.adopt(v) }
	})
}
