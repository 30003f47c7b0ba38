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
	// Number orders the batches of a collection. For data read from files, it is the index of the file, in the order
	// of names, times 1<<32, plus the index of the batch in the file.
	Number int64

	// Value holds the rows.
	Value tenon.Value
}

// wireBatch is the encoded form of a batch: a structure of Values, as package elements requires.
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

// encodeBatch encodes a batch: its number, and the Specs and columns of its Value.
func encodeBatch(b Batch) ([]byte, error) {
	if b.Value == nil {
		return nil, tenon.NewError(tenon.ErrInvalid, "beamio", "a batch has no Value")
	}
	return elements.Append(nil, wireBatch(b))
}

// decodeBatch decodes the result of encodeBatch. It does not trust its input.
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
