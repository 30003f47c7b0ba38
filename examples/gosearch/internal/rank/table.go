package rank

import (
	"errors"
	"fmt"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Table is the data of an index. The declarations of term i are in Documents from Splits[i]
// to Splits[i+1].
type Table struct {
	Terms     []string
	Rarity    []float32 // of each term
	Splits    []int64
	Documents []int32
	Strength  []float32 // of the term in each of Documents, before saturation
	InName    []bool
	Names     []float32 // of each declaration: the rarity of the words of its name
	Always    []float32 // what is added to its score
	Public    []bool
	Gives     []int32 // what it returns, as bits
}

// Kept is a Table as tensors, or their Specs.
type Kept struct {
	Terms, Rarity, Splits, Documents, Strength, InName, Names, Always, Public, Gives any
}

// Kept returns the tensors to keep.
func (t *Table) Kept() Kept {
	return Kept{
		tensor.Of(t.Terms), tensor.Of(t.Rarity), tensor.Of(t.Splits), tensor.Of(t.Documents), tensor.Of(t.Strength), tensor.Of(t.InName),
		tensor.Of(t.Names), tensor.Of(t.Always), tensor.Of(t.Public), tensor.Of(t.Gives),
	}
}

// Like is a template for reading what was kept.
func Like() Kept {
	v := func(d dtype.DType) any { return tensor.NewSpec(d, shape.Of(shape.Unknown)) }
	return Kept{
		v(dtype.String), v(dtype.Float32), v(dtype.Int64), v(dtype.Int32), v(dtype.Float32), v(dtype.Bool),
		v(dtype.Float32), v(dtype.Float32), v(dtype.Bool), v(dtype.Int32),
	}
}

// Open makes an index from the stored data of some declarations, and checks it.
func Open(k Kept, declarations int) (*Index, error) {
	x := &Index{Table: Table{
		data[string](k.Terms), data[float32](k.Rarity), data[int64](k.Splits), data[int32](k.Documents), data[float32](k.Strength), data[bool](k.InName),
		data[float32](k.Names), data[float32](k.Always), data[bool](k.Public), data[int32](k.Gives),
	}}
	for _, n := range []int{len(x.Names), len(x.Always), len(x.Public), len(x.Gives)} {
		if n != declarations {
			return nil, fmt.Errorf("the words of %d declarations, want %d", n, declarations)
		}
	}
	n := len(x.Documents)
	if len(x.Rarity) != len(x.Terms) || len(x.Splits) != len(x.Terms)+1 || len(x.Strength) != n || len(x.InName) != n ||
		x.Splits[0] != 0 || x.Splits[len(x.Terms)] != int64(n) {
		return nil, errors.New("the tables of words do not fit together")
	}
	for i := range x.Terms {
		if x.Splits[i] > x.Splits[i+1] {
			return nil, fmt.Errorf("the declarations of word %d end before they begin", i)
		}
	}
	for _, d := range x.Documents {
		if d < 0 || int(d) >= declarations {
			return nil, fmt.Errorf("a word is in declaration %d, but there are %d", d, declarations)
		}
	}
	x.lookUp()
	return x, nil
}

func data[T dtype.Native](v any) []T { return tensor.Data[T](v.(tensor.Tensor)) }
