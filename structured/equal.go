package structured

import (
	"maps"
	"reflect"
	"slices"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Equal reports whether two tensors have equal row partitions and the same fields with equal
// values. NaN is not equal to NaN. The order of fields and the contents of missing values are
// ignored.
func (t *Tensor) Equal(u *Tensor) bool {
	if t.rank != u.rank || len(t.cols) != len(u.cols) || t.dtype != u.dtype {
		return false
	}
	if t.rank == 1 && known(t.nrows) != known(u.nrows) {
		return false
	}
	for i, p := range t.parts {
		a, ok := p.Splits64()
		b, ok2 := u.parts[i].Splits64()
		if !ok || !ok2 || !slices.Equal(a, b) {
			return false
		}
	}
	for _, c := range t.cols {
		k := u.find(c.name)
		if k < 0 || !equalColumns(c.v(), u.cols[k].v()) {
			return false
		}
	}
	return true
}

func equalColumns(a, b tensor.Tensor) bool {
	if x, ok := a.(*Tensor); ok {
		y, ok := b.(*Tensor)
		return ok && x.Equal(y)
	}
	if _, _, ok := pieces(a); ok {
		if reflect.TypeOf(a) != reflect.TypeOf(b) || a.DType() != b.DType() {
			return false
		}
		x, err := tenon.Try(func() any { return plain(a) })
		if err != nil {
			return false
		}
		y, err := tenon.Try(func() any { return plain(b) })
		return err == nil && equalNested(x, y)
	}
	return tensor.Equal(a, b, tensor.EqualOptions{})
}

// equalNested compares plain nested data, which may hold Values.
func equalNested(x, y any) bool {
	switch x := x.(type) {
	case []any:
		y, ok := y.([]any)
		return ok && slices.EqualFunc(x, y, equalNested)
	case map[string]any:
		y, ok := y.(map[string]any)
		return ok && maps.EqualFunc(x, y, equalNested)
	case tenon.Value:
		y, ok := y.(tenon.Value)
		return ok && tensor.Equal(x, y, tensor.EqualOptions{})
	}
	return reflect.DeepEqual(x, y)
}
