package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// leftAligned reports whether a case is of the group whose reference lines dimensions up
// at the outermost, and takes a dense dimension for a uniform partition.
func leftAligned(c *cases.Case) bool { return strings.HasPrefix(c.File.Group, "awkward/") }

// axes returns the axes of a reduction: none for all.
func axes(c *cases.Case) []int {
	if !c.Has("axis") {
		return nil
	}
	return []int{c.AttrInt("axis", 0)}
}

func init() {
	m := map[string]cases.Func{}
	for name, o := range map[string]string{
		"sum": "reduce_sum", "prod": "reduce_prod", "count_nonzero": "count_nonzero", "mean": "reduce_mean", "var": "reduce_variance", "std": "reduce_std",
	} {
		m["ragged."+name] = func(c *cases.Case) (any, error) { return awkwardReduce(c, o, c.Arg(0)) }
	}
	for name, o := range map[string]string{"any": "reduce_any", "all": "reduce_all"} {
		m["ragged."+name] = func(c *cases.Case) (any, error) { return awkwardReduce(c, o, ops.Cast(c.Arg(0), dtype.Bool)) }
	}
	m["ragged.count"] = func(c *cases.Case) (any, error) {
		if c.AttrBool("keepdims", false) {
			return ragged.CountKeep(c.Tensor(0), axes(c)...)
		}
		return ragged.Count(c.Tensor(0), axes(c)...)
	}
	for name, o := range map[string]string{"min": "reduce_min", "max": "reduce_max"} {
		m["ragged."+name] = func(c *cases.Case) (any, error) { return awkwardExtreme(c, o) }
	}
	for _, name := range []string{"argmin", "argmax"} {
		m["ragged."+name] = func(c *cases.Case) (any, error) { return awkwardReduce(c, name, allThere(c.Tensor(0))) }
	}
	m["ragged.ptp"] = func(c *cases.Case) (any, error) {
		x := allThere(c.Tensor(0))
		return ops.Sub(ops.Max(x, axes(c)...), ops.Min(x, axes(c)...)), nil
	}
	for name, f := range map[string]func(x any, axis int, o ops.SortOptions) tensor.Tensor{"sort": ops.Sort, "argsort": ops.ArgSort} {
		m["ragged."+name] = func(c *cases.Case) (any, error) {
			return f(c.Arg(0), c.AttrInt("axis", -1), ops.SortOptions{Descending: !c.AttrBool("ascending", true)}), nil
		}
	}
	for name, f := range map[string]func(x tensor.Tensor, axis int) (tensor.Tensor, error){
		"num": ragged.Num, "local_index": ragged.LocalIndex, "firsts": ragged.Firsts, "to_regular": ragged.ToRegular, "from_regular": ragged.FromRegular,
	} {
		m["ragged."+name] = func(c *cases.Case) (any, error) { return f(c.Tensor(0), c.AttrInt("axis", 1)) }
	}
	for name, f := range map[string]func(c *cases.Case) (any, error){
		"singletons":  func(c *cases.Case) (any, error) { return ragged.Singletons(c.Tensor(0), c.AttrInt("axis", 0)) },
		"ravel":       func(c *cases.Case) (any, error) { return ragged.Ravel(c.Tensor(0)) },
		"run_lengths": func(c *cases.Case) (any, error) { return ragged.RunLengths(c.Tensor(0)) },
		"flatten": func(c *cases.Case) (any, error) {
			if v, there := c.Attrs["axis"]; there && v == nil {
				return ragged.FlattenAll(c.Tensor(0))
			}
			return ragged.Flatten(c.Tensor(0), c.AttrInt("axis", 1))
		},
		"unflatten":   func(c *cases.Case) (any, error) { return ragged.Unflatten(c.Tensor(0), c.Arg(1), c.AttrInt("axis", 0)) },
		"pad_none":    padNone,
		"fill_none":   fillNone,
		"drop_none":   func(c *cases.Case) (any, error) { return ragged.DropMissing(c.Tensor(0), axes(c)...) },
		"is_none":     func(c *cases.Case) (any, error) { return ragged.IsMissing(c.Tensor(0), c.AttrInt("axis", 0)) },
		"nan_to_none": func(c *cases.Case) (any, error) { return ragged.NaNToMissing(c.Tensor(0)) },
		"mask": func(c *cases.Case) (any, error) {
			m := c.Tensor(1)
			if !c.AttrBool("valid_when", true) {
				m = ops.LogicalNot(m)
			}
			return ragged.Mask(c.Tensor(0), m)
		},
		"concatenate":     func(c *cases.Case) (any, error) { return ops.Concat(c.Values(0), c.AttrInt("axis", 0)), nil },
		"combinations":    func(c *cases.Case) (any, error) { return awkwardCombinations(c, ragged.Combinations) },
		"argcombinations": func(c *cases.Case) (any, error) { return awkwardCombinations(c, ragged.ArgCombinations) },
		"cartesian":       func(c *cases.Case) (any, error) { return awkwardCartesian(c, ragged.Cartesian) },
		"argcartesian":    func(c *cases.Case) (any, error) { return awkwardCartesian(c, ragged.ArgCartesian) },
		"zip":             awkwardZip,
		"unzip":           awkwardUnzip,
		"broadcast_arrays": func(c *cases.Case) (any, error) {
			ys, err := ragged.BroadcastRows(c.Tensors(0), ragged.BroadcastRowsOptions{ShareMissing: true})
			return list(ys), err
		},
		"index": func(c *cases.Case) (any, error) {
			return ops.Index(c.Arg(0), keys(c.Arg(1))...), nil
		},
		"pick": func(c *cases.Case) (any, error) {
			return ragged.Pick(cases.As[*ragged.Tensor](c.Arg(0)), c.AttrInt("index", 0), ragged.PickOptions{Axis: c.AttrInt("axis", 1)})
		},
		"field":      func(c *cases.Case) (any, error) { return structArg(c, 0).Field(namesArg(c.Attrs["field"])...) },
		"with_field": withField,
		"without_field": func(c *cases.Case) (any, error) {
			return structArg(c, 0).WithUpdates([]structured.Update{{Path: namesArg(c.Attrs["field"])}})
		},
		"values_astype": func(c *cases.Case) (any, error) { return ops.Cast(c.Arg(0), c.AttrDType("dtype", dtype.Float64)), nil },
		"full_like": func(c *cases.Case) (any, error) {
			return throughMasks(c.Tensor(0), func(x tensor.Tensor) tensor.Tensor {
				return ops.Where(ops.Equal(ops.ZerosLike(x), ops.ZerosLike(x)), ops.Cast(c.Attrs["value"], x.DType()), x)
			})
		},
	} {
		m["ragged."+name] = f
	}
	cases.Handle(m)
}

func awkwardReduce(c *cases.Case, name string, x any) (any, error) {
	args := map[string]any{"x": x, "keepdims": c.AttrBool("keepdims", false)}
	if a := axes(c); a != nil && strings.HasPrefix(name, "arg") {
		args["axis"] = a[0]
	} else if a != nil {
		args["axis"] = a
	}
	if c.Has("ddof") {
		args["ddof"] = c.AttrInt("ddof", 0)
	}
	return call(name, args)
}

// awkwardExtreme answers min and max, which an empty row has not got, or gives the
// identity.
func awkwardExtreme(c *cases.Case, name string) (any, error) {
	if c.AttrBool("mask_identity", true) && axes(c) != nil {
		return awkwardReduce(c, name, allThere(c.Tensor(0)))
	}
	return extremeOr(c, name, c.Tensor(0))
}

// extremeOr reduces rows to their extreme, or to the identity where there is nothing.
// Missing rows stay missing.
func extremeOr(c *cases.Case, name string, x tensor.Tensor) (any, error) {
	m, ok := x.(*masked.Tensor)
	if a := axes(c); ok && a != nil && m.Mask().Shape().Rank() < depth(x, a[0]) {
		y, err := extremeOr(c, name, m.Values())
		if err != nil {
			return nil, err
		}
		return masked.New(y, m.Mask())
	}
	y, err := awkwardReduce(c, name, x)
	if m, ok := y.(*masked.Tensor); ok {
		return m.Values(), err
	}
	return y, err
}

// allThere gives a tensor, and the rows of one that lacks some, a mask of elements.
func allThere(x tensor.Tensor) tensor.Tensor {
	m, ok := x.(*masked.Tensor)
	if !ok || m.Mask().Shape().Rank() == x.Shape().Rank() {
		return masked.All(x)
	}
	return tenon.Must(masked.New(allThere(m.Values()), m.Mask()))
}

// throughMasks does to the values of a tensor what f does, and leaves its masks.
func throughMasks(x tensor.Tensor, f func(x tensor.Tensor) tensor.Tensor) (tensor.Tensor, error) {
	m, ok := x.(*masked.Tensor)
	if !ok {
		return f(x), nil
	}
	v, err := throughMasks(m.Values(), f)
	if err != nil {
		return nil, err
	}
	return masked.New(v, m.Mask())
}

// padNone pads. The reference says of no entry that it may be missing where the outermost
// dimension has as many as are wanted.
func padNone(c *cases.Case) (any, error) {
	x, target, axis, clip := c.Tensor(0), c.AttrInt("target", 0), c.AttrInt("axis", 1), c.AttrBool("clip", false)
	if depth(x, axis) == 1 && !clip && x.Shape().Dim(0) >= target {
		return x, nil
	}
	return ragged.PadMissing(x, target, axis, ragged.PadOptions{Clip: clip})
}

func fillNone(c *cases.Case) (any, error) {
	v := c.Attrs["value"]
	switch n := v.(type) {
	case int:
		v = tensor.Scalar(int64(n))
	case float64:
		v = tensor.Scalar(n)
	}
	if c.Has("axis") {
		return ragged.FillMissing(c.Tensor(0), v, c.AttrInt("axis", 0))
	}
	return ragged.FillMissing(c.Tensor(0), v)
}

// records returns tensors with the same rows as the fields "0", "1", … of records.
func records(parts []tensor.Tensor, rank int) (any, error) {
	fields := make([]structured.Field, len(parts))
	for i, p := range parts {
		fields[i] = structured.Field{Name: strconv.Itoa(i), Value: p}
	}
	return recordsOf(fields, rank)
}

func recordsOf(fields []structured.Field, rank int) (tensor.Tensor, error) {
	fields, mask := rowsMask(fields, rank)
	if mask == nil {
		return structured.FromFieldsAndRank(fields, rank, structured.Options{})
	}
	r, err := recordsOf(fields, rank)
	if err != nil {
		return nil, err
	}
	return masked.New(r, mask)
}

// rowsMask takes off the mask of whole rows that all fields share.
func rowsMask(fields []structured.Field, rank int) ([]structured.Field, tensor.Tensor) {
	var mask tensor.Tensor
	values := slices.Clone(fields)
	for i, f := range fields {
		m, ok := f.Value.(*masked.Tensor)
		if !ok || m.Mask().Shape().Rank() >= rank || i > 0 && m.Mask() != mask {
			return fields, nil
		}
		values[i].Value, mask = m.Values(), m.Mask()
	}
	return values, mask
}

// depth counts the dimensions down to an axis of a tensor.
func depth(x tensor.Tensor, axis int) int {
	if axis < 0 {
		axis += x.Shape().Rank()
	}
	return axis + 1
}

func awkwardCombinations(c *cases.Case, f func(x tensor.Tensor, n, axis int, o ragged.CombinationOptions) ([]tensor.Tensor, error)) (any, error) {
	axis := c.AttrInt("axis", 1)
	parts, err := f(c.Tensor(0), c.AttrInt("n", 2), axis, ragged.CombinationOptions{Replacement: c.AttrBool("replacement", false)})
	if err != nil {
		return nil, err
	}
	return records(parts, depth(c.Tensor(0), axis))
}

func awkwardCartesian(c *cases.Case, f func(xs []tensor.Tensor, axis int, o ragged.CartesianOptions) ([]tensor.Tensor, error)) (any, error) {
	axis, nested := c.AttrInt("axis", 1), c.AttrBool("nested", false)
	xs := c.Tensors(0)
	parts, err := f(xs, axis, ragged.CartesianOptions{Nested: nested})
	if err != nil {
		return nil, err
	}
	rank := depth(xs[0], axis)
	if nested {
		rank += len(xs) - 1
	}
	return records(parts, rank)
}

func awkwardZip(c *cases.Case) (any, error) {
	var names []string
	var xs []tensor.Tensor
	fields := cases.As[cases.Dict](c.Arg(0))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		names, xs = append(names, name), append(xs, cases.As[tensor.Tensor](fields[name]))
	}
	limit := c.AttrInt("depth_limit", 0)
	rank := 0
	for _, x := range xs {
		rank = max(rank, x.Shape().Rank())
	}
	if limit > 0 {
		rank = min(rank, limit)
	}
	ys, err := ragged.BroadcastRows(xs, ragged.BroadcastRowsOptions{Depth: rank, ShareMissing: true})
	if err != nil {
		return nil, err
	}
	out := make([]structured.Field, len(ys))
	for i, y := range ys {
		out[i] = structured.Field{Name: names[i], Value: y}
	}
	return recordsOf(out, rank)
}

func awkwardUnzip(c *cases.Case) (any, error) {
	s := structArg(c, 0)
	var out []any
	for _, name := range s.FieldNames() {
		v, err := s.Field(name)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func withField(c *cases.Case) (any, error) {
	s := structArg(c, 0)
	ys, err := ragged.BroadcastRows([]tensor.Tensor{s.Numbers(), c.Tensor(1)}, ragged.BroadcastRowsOptions{Depth: s.Rank()})
	if err != nil {
		return nil, err
	}
	return s.WithUpdates([]structured.Update{{Path: namesArg(c.Attrs["field"]), Value: ys[1]}})
}

// awkwardWhere chooses elements after it has lined up the operands' rows.
func awkwardWhere(c *cases.Case) (any, error) {
	ys, err := ragged.BroadcastRows([]tensor.Tensor{c.Tensor(0), c.Tensor(1), c.Tensor(2)}, ragged.BroadcastRowsOptions{})
	if err != nil {
		return nil, err
	}
	return ops.Where(ys[0], ys[1], ys[2]), nil
}
