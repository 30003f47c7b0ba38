package ext

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/shape"
)

// Batched returns the Spec of n stacked values: Values and static shapes gain an
// outermost axis, unless their tag says batch=keep. Other static data are
// unchanged.
func (s *Spec) Batched(n int) (tenon.Spec, error) {
	return s.rebatch(func(b tenon.Batcher) (tenon.Spec, error) { return b.Batched(n) },
		func(sh shape.Shape) (shape.Shape, error) {
			if !sh.HasRank() {
				return sh, nil
			}
			return sh.Insert(0, n), nil
		})
}

// Unbatched returns the Spec of one of the stacked values.
func (s *Spec) Unbatched() (tenon.Spec, error) {
	return s.rebatch(func(b tenon.Batcher) (tenon.Spec, error) { return b.Unbatched() },
		func(sh shape.Shape) (shape.Shape, error) {
			switch {
			case !sh.HasRank():
				return sh, nil
			case sh.Rank() == 0:
				return sh, &tenon.Error{Kind: tenon.ErrShape, Msg: "the static shape has no outer axis"}
			}
			return sh.Remove(0), nil
		})
}

type rebatcher struct {
	spec  func(tenon.Batcher) (tenon.Spec, error)
	shape func(shape.Shape) (shape.Shape, error)
}

func (s *Spec) rebatch(spec func(tenon.Batcher) (tenon.Spec, error), sh func(shape.Shape) (shape.Shape, error)) (tenon.Spec, error) {
	r := rebatcher{spec, sh}
	t, err := tenon.Elems(s.Encode(), 2)
	if err != nil {
		return nil, err
	}
	fields, err := tenon.As[tenon.NamedTuple](t[1])
	if err != nil {
		return nil, err
	}
	out, err := r.fields(s.info.node, fields.Fields)
	if err != nil {
		e := *tenon.AsError(err)
		e.Op, e.Line = s.info.name+".Batched", source.Line()
		return nil, &e
	}
	return s.info.decode(tenon.Tuple{t[0], tenon.NamedTuple{Name: fields.Name, Fields: out}})
}

func (r rebatcher) fields(n *node, entries []tenon.Entry) ([]tenon.Entry, error) {
	out := make([]tenon.Entry, len(entries))
	for i, f := range n.flat(0, nil) {
		out[i] = entries[i]
		switch f.tag.batch {
		case batchKeep:
			continue
		case batchNone:
			return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Where: f.name, Msg: "values with this field have no batches (batch=none)"}
		}
		var err error
		if out[i].Value, err = r.value(f.node, entries[i].Value); err != nil {
			return nil, codec.Within(f.name, err)
		}
	}
	return out, nil
}

func (r rebatcher) value(n *node, e tenon.Encoding) (tenon.Encoding, error) {
	elems := func(es []tenon.Encoding) ([]tenon.Encoding, error) {
		out := make([]tenon.Encoding, len(es))
		for i, x := range es {
			var err error
			if out[i], err = r.value(n.elem, x); err != nil {
				return nil, codec.Within(codec.At(i), err)
			}
		}
		return out, nil
	}
	switch e := e.(type) {
	case tenon.SpecOf:
		b, ok := e.Spec.(tenon.Batcher)
		if !ok {
			return nil, &tenon.Error{Kind: tenon.ErrUnsupported, Msg: fmt.Sprintf("%s cannot be batched", tenon.String(e.Spec))}
		}
		s, err := r.spec(b)
		return tenon.SpecOf{Spec: s}, err
	case tenon.Shape:
		sh, err := r.shape(e.Shape)
		return tenon.Shape{Shape: sh}, err
	case tenon.List:
		out, err := elems(e)
		return tenon.List(out), err
	case tenon.Tuple:
		out, err := elems(e)
		return tenon.Tuple(out), err
	case tenon.Dict:
		out := make(tenon.Dict, len(e))
		for i, x := range e {
			v, err := r.value(n.elem, x.Value)
			if err != nil {
				return nil, codec.Within(codec.Entry(x.Name), err)
			}
			out[i] = tenon.Entry{Name: x.Name, Value: v}
		}
		return out, nil
	case tenon.NamedTuple:
		if n.kind != kindStruct {
			return e, nil // a static Spec
		}
		out, err := r.fields(n, e.Fields)
		return tenon.NamedTuple{Name: e.Name, Fields: out}, err
	}
	return e, nil
}
