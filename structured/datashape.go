package structured

import (
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Datashape returns the type of the records in the notation of the Blaze project's datashape, as
// Awkward Array prints types: sizes, "var" for lists of different lengths, fields in braces, and
// "?" before types that may be missing.
//
//	3 * {name: string, jets: var * {pt: float64, hits: var * ?int64}}
//
// A size that is not known is "?".
func (s *Spec) Datashape() string { return Datashape(s) }

// Datashape returns the type of values of a Spec; see [Spec.Datashape]. A Spec that does not
// describe tensors is written as itself.
func Datashape(s tenon.Spec) string { return datashape(s, 0) }

// datashape omits the first skip dimensions, which belong to the enclosing records.
func datashape(s tenon.Spec, skip int) string {
	switch x := s.(type) {
	case *tensor.Spec:
		return sizes(x.Shape(), nil, skip) + x.DType().String()
	case dividedSpec:
		all := x.Shape()
		if !all.HasRank() { // the type does not say: assume only rows
			all = ragged.FromSpecs(tensor.NewSpec(dtype.Bool, shape.OfRank(1)), x.Partitions()).Shape()
		}
		varies := make([]bool, all.Rank())
		for i, p := range x.Partitions() {
			varies[i+1] = !p.IsUniform()
		}
		if _, ok := x.Flat().(*tensor.Spec); ok {
			return sizes(all, varies, skip) + x.DType().String()
		}
		return sizes(all, varies, skip) + datashape(x.Flat(), all.Rank())
	case optionalSpec:
		// The mask covers the first dimensions; what is below may be missing as a whole.
		k := max(x.Mask().(typedSpec).Shape().Rank(), skip)
		all := datashape(x.Values(), skip)
		below := datashape(x.Values(), k)
		return strings.TrimSuffix(all, below) + "?" + below
	case *Spec:
		return sizes(x.Shape(), x.ragged(), skip) + x.fieldTypes()
	case *UnionSpec:
		var kinds []string
		for _, f := range x.Variants() {
			kinds = append(kinds, datashape(f.Spec, x.rec.rank))
		}
		return sizes(x.Shape(), x.rec.ragged(), skip) + "union[" + strings.Join(kinds, ", ") + "]"
	case *MapSpec:
		e := x.flat()
		k, _ := e.column(0, keyName)
		v, _ := e.column(1, valueName)
		skipped := 1
		return sizes(x.Shape(), x.rec.ragged(), skip) + "map[" + datashape(k.spec, skipped) + ", " + datashape(v.spec, skipped) + "]"
	case element.Spec:
		return sizes(x.Shape(), nil, skip) + x.Type().String()
	case *DictionarySpec:
		return strings.TrimSuffix(datashape(x.codes, skip), "int32") + "dictionary[string]"
	}
	return tenon.String(s)
}

// fieldTypes returns the fields with their types without the records' dimensions.
func (s *Spec) fieldTypes() string {
	words := make([]string, len(s.cols))
	for i, f := range s.Fields() {
		words[i] = PathString([]string{f.Name}) + ": " + datashape(f.Spec, s.rank)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// ragged reports for each dimension whether its size differs from row to row.
func (s *Spec) ragged() []bool {
	out := make([]bool, s.rank)
	for i, p := range s.parts {
		out[i+1] = !p.IsUniform()
	}
	return out
}

func sizes(s shape.Shape, ragged []bool, skip int) string {
	if !s.HasRank() {
		return "... * "
	}
	var b strings.Builder
	for i := skip; i < s.Rank(); i++ {
		switch n := s.Dim(i); {
		case i < len(ragged) && ragged[i]:
			b.WriteString("var")
		case n < 0:
			b.WriteString("?")
		default:
			b.WriteString(strconv.Itoa(n))
		}
		b.WriteString(" * ")
	}
	return b.String()
}
