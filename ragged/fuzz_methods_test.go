package ragged_test

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
)

// keys are of any kind.
func (s *script) keys(x *ragged.Tensor) []any {
	out := make([]any, s.next()%4)
	for i := range out {
		switch s.next() % 9 {
		case 0:
			out[i] = int(s.number())
		case 1, 2:
			out[i] = key.Range(bound(s), bound(s), bound(s))
		case 3:
			out[i] = key.Ellipsis
		case 4:
			out[i] = key.NewAxis
		case 5:
			out[i] = s.elements([]dtype.DType{dtype.Int64, dtype.Int32, dtype.Uint8, dtype.Bool}[s.next()%4], s.next()%5)
		case 6:
			out[i] = s.other(x, []dtype.DType{dtype.Int64, dtype.Bool, dtype.Int32}[s.next()%3])
		case 7:
			small := s.rowsOfAny(dtype.Int64)
			out[i] = tenon.Must(small.WithFlatValues(ops.Mod(small.FlatValues(), 3)))
			if s.next()%2 == 0 {
				out[i] = s.lacking(out[i].(*ragged.Tensor))
			}
		default:
			out[i] = key.All
		}
	}
	return out
}

func init() {
	for name, f := range map[string]rowFunction{
		"Tensor.Index": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			return tenon.Try(func() tenon.Value { return ops.Index(s.lacking(x), s.keys(x)...) })
		},
		"Tensor.IndexUpdate": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			return tenon.Try(func() tenon.Value { return ops.IndexUpdate(x, s.other(x, x.DType()), s.keys(x)...) })
		},
		"Tensor.ToDense": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			o := ragged.DenseOptions{}
			if s.next()%2 == 0 {
				o.Default = s.elements(x.DType())
			}
			if s.next()%2 == 0 {
				dims := make([]int, s.next()%5)
				for i := range dims {
					dims[i] = s.next()%6 - 1
				}
				o.Shape = dims
			}
			return x.ToDense(o)
		},
		"Tensor.ToSparse": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			at, v, d, err := x.ToSparse()
			if err != nil {
				return nil, err
			}
			if x.Shape().Rank() != 2 {
				return at, nil
			}
			return valued(ragged.FromSparse(at, v, d, dtype.None))
		},
		"Tensor.RowLengths":    func(s *script, x *ragged.Tensor) (tenon.Value, error) { return x.RowLengths(s.next()%5 - 1) },
		"Tensor.BoundingShape": func(s *script, x *ragged.Tensor) (tenon.Value, error) { return x.BoundingShape() },
		"Tensor.SpreadRows": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			return tenon.Try(func() tenon.Value { return x.SpreadRows(s.elements(dtype.Int64, s.next()%5)) })
		},
		"Tensor.WithFlatValues": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			return valued(x.WithFlatValues(s.elements(x.DType(), s.next()%6)))
		},
		"RowPartition.MergeEncodings": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			p, err := x.Partition().MergeEncodings(s.rowsOfAny(dtype.Int64).Partition())
			if err != nil {
				return nil, err
			}
			return p.RowLengths(), nil
		},
		"RowPartition.DetectUniform": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			return valued(ragged.FromPartition(x.Values(), x.Partition().DetectUniform()))
		},
		"Shape.Slice": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			z, err := ragged.ShapeOf(x).Slice(s.axis(), s.axis())
			if err != nil {
				return nil, err
			}
			return ragged.Fill(z, 1)
		},
		"Shape.WithInnerRank": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			z, err := ragged.ShapeOf(x).WithInnerRank(s.axis())
			if err != nil {
				return nil, err
			}
			return ragged.Fill(z, 1)
		},
		"Shape.WithPartitions": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			z, err := ragged.ShapeOf(x).WithPartitions(s.axis())
			if err != nil {
				return nil, err
			}
			return ragged.Fill(z, 1)
		},
		"Shape.Lengths": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			return tenon.Try(func() tenon.Value { return ragged.ShapeOf(x).Lengths(s.axis()) })
		},
		"Spec.Box": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			spec := x.Spec().(*ragged.Spec)
			boxed, err := spec.Box(x, s.next()%4)
			if err != nil {
				return nil, err
			}
			return spec.Unbox(boxed)
		},
		"Spec.Assemble": func(s *script, x *ragged.Tensor) (tenon.Value, error) {
			spec := x.Spec().(*ragged.Spec)
			parts, err := s.rowsOfAny(x.DType()).Spec().(*ragged.Spec).Disassemble(s.rowsOfAny(x.DType()))
			if err != nil {
				return nil, err
			}
			return spec.Assemble(parts)
		},
	} {
		functions[name] = f
	}
}
