package protoio

import (
	"strconv"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/tensor"
)

// The states of types that TensorFlow itself has.

func component(i int) string { return "component" + strconv.Itoa(i) }

func shapeAt(es []tenon.Encoding, i int) (shape.Shape, error) {
	s, err := tenon.As[tenon.Shape](es[i])
	return s.Shape, err
}

func dtypeAt(es []tenon.Encoding, i int) (dtype.DType, error) {
	d, err := tenon.As[tenon.DType](es[i])
	return d.DType, err
}

func sparseOf(state tenon.Encoding) (tenon.Spec, error) {
	es, err := tenon.Elems(state, 2)
	if err != nil {
		return nil, err
	}
	s, err := shapeAt(es, 0)
	if err != nil {
		return nil, err
	}
	d, err := dtypeAt(es, 1)
	if err != nil {
		return nil, err
	}
	return sparse.NewSpec(d, s), nil
}

// partitionOf reads (nrows, nvals, length, dtype); each number is a shape with one dimension.
func partitionOf(state tenon.Encoding) (tenon.Spec, error) {
	es, err := tenon.Elems(state, 4)
	if err != nil {
		return nil, err
	}
	var sizes [3]int
	for i := range sizes {
		s, err := shapeAt(es, i)
		if err != nil {
			return nil, err
		}
		if s.Rank() != 1 {
			return nil, fail(tenon.ErrInvalid, "<RowPartitionSpec>", "%v is not a single number", s)
		}
		sizes[i] = s.Dim(0)
	}
	d, err := dtypeAt(es, 3)
	if err != nil {
		return nil, err
	}
	return ragged.NewPartitionSpec(d, sizes[0], sizes[1], sizes[2])
}

// raggedOf reads (shape, dtype, ragged rank, dtype of splits), and the Spec of the flat values if
// these are not a plain tensor.
func raggedOf(state tenon.Encoding) (tenon.Spec, error) {
	es, err := tenon.Elems(state, -1)
	if err != nil {
		return nil, err
	}
	if len(es) != 4 && len(es) != 5 {
		return nil, fail(tenon.ErrInvalid, "<RaggedTensorSpec>", "the state has %d elements, want 4 or 5", len(es))
	}
	s, err := shapeAt(es, 0)
	if err != nil {
		return nil, err
	}
	rank, err := tenon.As[tenon.Int](es[2])
	if err != nil {
		return nil, err
	}
	splits, err := dtypeAt(es, 3)
	if err != nil {
		return nil, err
	}
	var flat tenon.Spec
	d := dtype.None
	if _, none := es[1].(tenon.Nil); !none {
		if d, err = dtypeAt(es, 1); err != nil {
			return nil, err
		}
	}
	if len(es) == 5 {
		if _, none := es[4].(tenon.Nil); !none {
			f, err := tenon.As[tenon.SpecOf](es[4])
			if err != nil {
				return nil, err
			}
			flat = f.Spec
		}
	}
	if rank < 0 || rank > maxRank {
		return nil, fail(tenon.ErrInvalid, "<RaggedTensorSpec>", "invalid ragged rank %d", rank)
	}
	if dense, ok := flat.(*tensor.Spec); ok {
		if d != dtype.None && dense.DType() != d {
			return nil, fail(tenon.ErrInvalid, "<RaggedTensorSpec>", "flat values are %v, but elements are %v", dense.DType(), d)
		}
		d, flat = dense.DType(), nil
	}
	if flat == nil {
		return ragged.NewSpec(d, s, int(rank), splits)
	}
	// The partitions follow from the shape; they do not depend on the flat values.
	plain, err := ragged.NewSpec(dtype.Bool, s, int(rank), splits)
	if err != nil {
		return nil, err
	}
	return ragged.FromSpecs(flat, plain.Partitions()), nil
}
