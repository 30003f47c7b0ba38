package beamio

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// GroupOptions say how records are grouped.
type GroupOptions struct {
	// Keys are the paths of the fields whose values form a group, as for structured.GroupBy.
	Keys []string

	// Combine, if it is not nil, is called on each batch before its records are moved, to reduce their number: for
	// instance, it can compute the sums for each key, which the last function adds up. It must keep the keys.
	Combine *Function

	// Partitions is the number of resulting batches; 0 stands for 64. All records with the same key
	// are in one of them.
	Partitions int
}

// GroupBy brings the records of each key together and calls a function on the records of each partition, which
// are in the order of the numbers of their batches:
//
//	var partial = beamio.Traced("partial", func(t *structured.Tensor) *structured.Tensor {
//		return t.GroupBy("city").Aggregate(structured.Sum("price"), structured.Count())
//	})
//	var total = beamio.Traced("total", func(t *structured.Tensor) *structured.Tensor {
//		return t.GroupBy("city").Aggregate(structured.Sum("price"), structured.Sum("count"))
//	})
//
//	totals := beamio.GroupBy(s, total, sales, beamio.GroupOptions{Keys: []string{"city"}, Combine: partial})
//
// A partition that gets no records gives no batch; the number of a batch is that of its partition.
func GroupBy(s beam.Scope, f *Function, in beam.PCollection, o GroupOptions) beam.PCollection {
	if len(o.Keys) == 0 || o.Partitions < 0 {
		tenon.Throw(tenon.NewError(tenon.ErrInvalid, "beamio.GroupBy", fmt.Sprintf("cannot group by the keys %v into %d partitions", o.Keys, o.Partitions)))
	}
	if o.Partitions == 0 {
		o.Partitions = 64
	}
	s = s.Scope("beamio.GroupBy " + f.name)
	if o.Combine != nil {
		in = Map(s, o.Combine, in)
	}
	return beam.ParDo(s, &reduceFn{f.name}, beam.GroupByKey(s, beam.ParDo(s, &divideFn{o.Keys, o.Partitions}, in)))
}

// divideFn distributes the records of a batch among partitions, by the hash of their keys.
type divideFn struct {
	Keys       []string
	Partitions int
}

// ProcessElement is what Beam calls.
func (f *divideFn) ProcessElement(b Batch, emit func(int, Batch)) (err error) {
	defer tenon.Catch(&err)
	t, ok := b.Value.(*structured.Tensor)
	if !ok || t.Rank() != 1 {
		return tenon.NewError(tenon.ErrInvalid, "beamio.GroupBy", "a batch is not a list of records: "+tenon.String(b.Value.Spec()))
	}
	places, err := f.places(t)
	if err != nil {
		return err
	}
	for p, rows := range places {
		if len(rows) > 0 {
			emit(p, Batch{b.Number, ops.Gather(t, tensor.Of(rows), 0)})
		}
	}
	return nil
}

// places returns the numbers of the records for each partition. Equal keys have equal text in all batches.
func (f *divideFn) places(t *structured.Tensor) ([][]int64, error) {
	groups := t.GroupBy(f.Keys...)
	keys := groups.Keys().MapFields(func(_ []string, v tensor.Tensor) tensor.Tensor {
		if v.DType().IsFloat() {
			return ops.Add(v, ops.ZerosLike(v)) // -0 and 0 are one key
		}
		return v
	})
	var text bytes.Buffer
	if err := jsonl.Write(&text, keys, jsonl.WriteOptions{NonFinite: jsonl.NonFiniteLiteral}); err != nil {
		return nil, err
	}
	var of []int // the partition of each key
	for line := range bytes.Lines(text.Bytes()) {
		h := fnv.New64a()
		h.Write(line)
		of = append(of, int(h.Sum64()%uint64(f.Partitions)))
	}
	places := make([][]int64, f.Partitions)
	for row, id := range tensor.Data[int64](ops.Cast(groups.IDs(), tensor.Scalar(int64(0)).DType())) {
		places[of[id]] = append(places[of[id]], int64(row))
	}
	return places, nil
}

// reduceFn calls a function on the records of a partition.
type reduceFn struct{ Function string }

// ProcessElement is what Beam calls.
func (f *reduceFn) ProcessElement(ctx context.Context, partition int, pieces func(*Batch) bool, emit func(Batch)) error {
	var tables []*structured.Tensor
	for _, b := range inOrder(pieces) {
		t, ok := b.Value.(*structured.Tensor)
		if !ok {
			return tenon.NewError(tenon.ErrInvalid, "beamio.GroupBy", "a piece of a batch is "+tenon.String(b.Value.Spec()))
		}
		tables = append(tables, t)
	}
	t, err := structured.Concat(tables...)
	if err != nil {
		return err
	}
	out, err := apply(ctx, f.Function, Batch{int64(partition), t})
	if err == nil {
		emit(out)
	}
	return err
}

func init() {
	register.DoFn2x1[Batch, func(int, Batch), error](&divideFn{})
	register.DoFn4x1[context.Context, int, func(*Batch) bool, func(Batch), error](&reduceFn{})
}
