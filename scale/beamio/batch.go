package beamio

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/elements"
	"github.com/tenonml/tenon/tensor"
)

// A Batch is an element of a collection: some rows of data.
type Batch struct {
	// Number is the place of the batch among those of its collection. Of what is read from files, it is the number of
	// the file, in the order of names, times 1<<32, and the number of the batch in it.
	Number int64

	// Value has the rows.
	Value tenon.Value
}

// wireBatch is what stands in the bytes of a batch: a structure of Values, as package elements wants it.
type wireBatch struct {
	Number int64
	Value  tenon.Value
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[Batch](), encodeBatch, decodeBatch)
	register.Iter1[Batch]()
	register.Emitter1[Batch]()
	register.Emitter2[int, Batch]()
	register.Emitter1[string]()
}

// encodeBatch writes a batch: its number, and the Specs and columns of its Value.
func encodeBatch(b Batch) ([]byte, error) {
	if b.Value == nil {
		return nil, tenon.NewError(tenon.ErrInvalid, "beamio", "a batch has no Value")
	}
	return elements.Append(nil, wireBatch(b))
}

// decodeBatch reads what encodeBatch has written. It trusts nothing.
func decodeBatch(b []byte) (Batch, error) {
	x, err := elements.Read(b, wireBatch{Value: tensor.Scalar(false)})
	return Batch(x), err
}

// inOrder collects batches in the order of their numbers.
func inOrder(next func(*Batch) bool) []Batch {
	var all []Batch
	var b Batch
	for next(&b) {
		all = append(all, b)
		b = Batch{}
	}
	slices.SortStableFunc(all, func(a, b Batch) int { return cmp.Compare(a.Number, b.Number) })
	return all
}
