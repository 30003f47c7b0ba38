package rows

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/kernel/gather"
	"github.com/tenonml/tenon/internal/kernel/hashing"
	"github.com/tenonml/tenon/internal/kernel/sorting"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/internal/memory"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// keysParam is a parameter for columns of keys.
func keysParam(name string) op.Param {
	return op.Param{Name: name, Kind: op.Tensors, Takes: keyElements, Rank: op.Vector}
}

var keyElements = &op.Elements{Name: "numbers, booleans or strings", Has: func(d dtype.DType) bool { return isNumberOrBool(d) || d.IsString() }}

// keyColumns checks a list of columns of keys, argument i. They must be vectors
// of equal length, which is returned if it is known.
func keyColumns(c *op.Call, i int) int {
	n := shape.Unknown
	for k, v := range c.List(i) {
		m := v.(tensor.Tensor).Shape().Dim(0)
		if n >= 0 && m >= 0 && n != m {
			tenon.Throw(c.Errorf(tenon.ErrShape, "%s[%d] has %d elements, the columns before it %d", name(c, i), k, m, n))
		}
		n = max(n, m)
	}
	if len(c.List(i)) == 0 {
		tenon.Throw(c.Errorf(tenon.ErrInvalid, "%s is empty, want columns of keys", name(c, i)))
	}
	return n
}

// hashed returns corresponding columns of tables as one column of keys.
func hashed(tables ...tenon.Value) []hashing.Column {
	if tables[0].(tensor.Tensor).DType().IsString() {
		cols := make([]str.Column, len(tables))
		for i, t := range tables {
			cols[i] = move.Column(t.(*tensor.Strings))
		}
		return []hashing.Column{hashing.Strings(cols...)}
	}
	ds := make([]*tensor.Dense, len(tables))
	for i, t := range tables {
		ds[i] = t.(*tensor.Dense)
		if ds[i].DType().IsBool() {
			ds[i] = tensor.Wrap(sorting.Bytes(tensor.Elems[bool](ds[i])), ds[i].Shape())
		}
	}
	return byType[ds[0].DType()].hashed(ds)
}

var groupOp = op.Register(&op.Op{
	Name: "ragged.group", Statement: opaque("the number of groups depends on the elements"), Doc: "Rows numbered by their keys.", Nondifferentiable: true,
	Params: []op.Param{keysParam("keys")}, Results: 3,
	Infer: func(c *op.Call) ([]tenon.Spec, error) { return groups(keyColumns(c, 0)) },
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		var columns []hashing.Column
		n := lead(c.List(0)[0].(tensor.Tensor))
		for k, v := range c.List(0) {
			if m := lead(v.(tensor.Tensor)); m != n {
				return nil, c.Errorf(tenon.ErrShape, "keys[%d] has %d elements, keys[0] %d", k, m, n)
			}
			columns = append(columns, hashed(v)...)
		}
		return grouped(n, columns)
	},
})

// groups returns the Specs of the results of grouping n rows.
func groups(n int) ([]tenon.Spec, error) {
	return specs(positions(n), positions(shape.Unknown), positions(shape.Unknown))
}

// grouped returns the results of grouping n rows.
func grouped(n int, columns []hashing.Column) ([]tensor.Tensor, error) {
	defer hashing.Release(columns)
	numbers, ids := fresh(n)
	first := hashing.Group(ids, columns)
	counts := make([]int64, len(first))
	for _, id := range ids {
		counts[id]++
	}
	return results(numbers, tensor.Vector(first), tensor.Vector(counts))
}

// Group numbers rows by their keys, which are in one or several columns. It returns, for each row,
// the number of its key, in the order in which keys first appear; the row where each key first
// appears; and the number of rows with each key. All NaNs are one key, and so are both zeros.
//
//	keys: [n] each, numbers, booleans or strings → int64[n], int64[m], int64[m]. No gradient.
func Group(keys ...any) (ids, first, counts tensor.Tensor) {
	out := op.EvalN(groupOp, keys)
	return out[0], out[1], out[2]
}

var groupAtOp = op.Register(&op.Op{
	Name: "ragged.group_at", Statement: opaque("the number of groups depends on the elements"), Doc: "Rows selected by an index, numbered by their keys.", Nondifferentiable: true,
	Params: []op.Param{indices("at"), keysParam("keys")}, Results: 3,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		keyColumns(c, 1)
		return groups(length(c, 0))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		at := wide(c.Dense(0))
		var columns []hashing.Column
		for k, v := range c.List(1) {
			if n := lead(v.(tensor.Tensor)); n != lead(c.List(1)[0].(tensor.Tensor)) {
				return nil, c.Errorf(tenon.ErrShape, "keys[%d] has %d elements, keys[0] %d", k, n, lead(c.List(1)[0].(tensor.Tensor)))
			} else if k == 0 { // the others have the same length
				if err := gather.Check(at, int64(n)); err != nil {
					return nil, c.Errorf(tenon.ErrInvalid, "at: %v", err)
				}
			}
			if s, ok := v.(*tensor.Strings); ok {
				columns = append(columns, hashing.StringsAt(move.Column(s), at))
				continue
			}
			columns = append(columns, hashed(ops.Gather(v, c.Dense(0), 0))...)
		}
		return grouped(len(at), columns)
	},
})

// GroupAt is [Group] for the rows that an index selects, in its order, without copying strings
// among the keys. The ids are those of the selected rows, and first are positions in the index.
//
//	at: int[n], keys: [m] each, numbers, booleans or strings → int64[n], int64[k], int64[k]. No gradient.
func GroupAt(at any, keys ...any) (ids, first, counts tensor.Tensor) {
	out := op.EvalN(groupAtOp, at, keys)
	return out[0], out[1], out[2]
}

var matchOp = op.Register(&op.Op{
	Name: "ragged.match", Statement: opaque("the number of groups depends on the elements"), Doc: "For each row of one table, the rows of another with an equal key.", Nondifferentiable: true,
	Params: []op.Param{keysParam("left"), keysParam("right"),
		{Name: "max_bytes", Kind: op.Attr, Type: op.IntType, Default: 0}}, Results: 2,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		n := keyColumns(c, 0)
		keyColumns(c, 1)
		if l, r := len(c.List(0)), len(c.List(1)); l != r {
			return nil, c.Errorf(tenon.ErrInvalid, "left has %d columns of keys, right %d", l, r)
		}
		for k, v := range c.List(0) {
			if l, r := v.(tensor.Tensor).DType(), c.List(1)[k].(tensor.Tensor).DType(); l != r {
				return nil, c.Errorf(tenon.ErrDType, "the keys in column %d are %v and %v", k, l, r)
			}
		}
		return specs(positions(plusOne(n)), positions(shape.Unknown))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		left, right := c.List(0), c.List(1)
		n, m := lead(left[0].(tensor.Tensor)), lead(right[0].(tensor.Tensor))
		var columns []hashing.Column
		for k, v := range left {
			if a, b := lead(v.(tensor.Tensor)), lead(right[k].(tensor.Tensor)); a != n || b != m {
				return nil, c.Errorf(tenon.ErrShape, "column %d of the keys has %d and %d elements, column 0 %d and %d", k, a, b, n, m)
			}
			columns = append(columns, hashed(v, right[k])...)
		}
		defer hashing.Release(columns)
		rowSplits, splits := fresh(n + 1)
		budget := int64(c.Int(2))
		if budget <= 0 {
			budget = memory.Budget()
		}
		var matches *tensor.Dense
		total := hashing.Match(splits, columns, budget/8, func(n int) (index []int64) {
			matches, index = fresh(n)
			return index
		})
		if matches == nil {
			return nil, c.Errorf(tenon.ErrInvalid, "there are %d pairs of rows with equal keys, whose numbers take %s; the budget is %s", total, memory.Size(memory.Times(total, 8)), memory.Size(budget)).
				WithHint("MatchWithin sets another budget")
		}
		return results(valid(rowSplits, splits), matches)
	},
})

// Match lists, for each row of a left table, the rows of a right table with an equal key, in order.
// It returns the row splits of those lists, and the numbers of right rows. Both tables must have
// the same number of key columns, with the same element types. All NaNs are one key, and so are
// both zeros. If there are more pairs than fit in a share of the process's memory, the error gives
// their number.
//
//	left: [n] each, right: [m] each → int64[n+1], int64[k]. No gradient.
func Match(left, right any) (splits, index tensor.Tensor) { return MatchWithin(left, right, 0) }

// MatchWithin is [Match] with a limit in bytes for the numbers of the right rows, which take 8
// bytes per pair; 0 means a share of the process's memory.
func MatchWithin(left, right any, maxBytes int) (splits, index tensor.Tensor) {
	out := op.EvalN(matchOp, left, right, maxBytes)
	return out[0], out[1]
}

var collectOp = op.Register(&op.Op{
	Name: "ragged.collect_index", Statement: makes(op.First, 0), Doc: "The items of each segment, as an index.",
	Params: []op.Param{indices("ids"), sizeParam("n")}, Results: 2,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		return specs(positions(plusOne(count(c, 1))), positions(shape.Unknown))
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		ids := wide(c.Dense(0))
		n, _ := c.ConstInts(1)
		for i, id := range ids {
			if id >= int64(n[0]) {
				return nil, c.Errorf(tenon.ErrInvalid, "id %d (ids[%d]) is not below the number of segments, %d", id, i, n[0])
			}
		}
		rowSplits, splits := fresh(int(n[0]) + 1)
		var items *tensor.Dense
		hashing.Collect(splits, ids, func(n int) (index []int64) {
			items, index = fresh(n)
			return index
		})
		return results(valid(rowSplits, splits), items)
	},
})

// CollectIndex returns the row splits of the items of each of n segments, and their positions in
// order within each segment: ops.Gather returns the items. Items with a negative id belong to no
// segment, and an id of n or more is an error that names it.
//
//	ids: int[i], n: int[] → int64[n+1], int64[m]. No gradient.
func CollectIndex(ids, n any) (splits, index tensor.Tensor) {
	out := op.EvalN(collectOp, ids, n)
	return out[0], out[1]
}
