package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("proto_parse", protoParse) }

// exampleTags are the tags that examples draw from.
var exampleTags = []string{"new", "vip", "returning", "beta", "eu-west", "us-east", "apac", "trial", "gold", "silver", "bronze", "gift", "b2b"}

// serializedExamples returns n messages with an id, tags, tokens and a weight for
// each token.
func serializedExamples(n int) [][]byte {
	s := inputs.NewStream(20, 0)
	out := make([][]byte, n)
	for i := range out {
		tokens := make([]int64, s.Below(31))
		for j := range tokens {
			tokens[j] = int64(s.Below(30000))
		}
		weights := make([]float32, len(tokens))
		for j := range weights {
			weights[j] = s.Unit()
		}
		tags := make([]string, 1+s.Below(3))
		for j := range tags {
			tags[j] = exampleTags[s.Below(len(exampleTags))]
		}
		out[i] = tenon.Must(protoio.AppendExample(nil, map[string]any{
			"id": []int64{int64(i)}, "tags": tags, "tokens": tokens, "weights": weights}))
	}
	return out
}

func protoParse(r *runner) {
	if !r.want("ragged") {
		return
	}
	messages := serializedExamples(r.pick(100_000, 1000, 200))
	bytes := 0
	for _, m := range messages {
		bytes += len(m)
	}
	features := protoio.Features{
		"id":      protoio.Fixed{DType: dtype.Int64, Shape: shape.Of()},
		"tags":    protoio.Ragged{DType: dtype.String},
		"tokens":  protoio.Ragged{DType: dtype.Int64},
		"weights": protoio.Ragged{DType: dtype.Float32},
	}
	r.run(benchCase{name: "ragged", bytes: float64(bytes), check: parsedCheck}, func() any {
		return tenon.Must(protoio.ParseExamples(messages, features, protoio.ParseOptions{}))
	})
}

// parsedCheck returns rows, the sums of ids, tokens, token counts and weights, the
// number of tags and their bytes.
func parsedCheck(result any) []float64 {
	m := result.(map[string]tensor.Tensor)
	tokens, weights, tags := m["tokens"].(*ragged.Tensor), m["weights"].(*ragged.Tensor), m["tags"].(*ragged.Tensor)
	ids := tensor.Data[int64](m["id"])
	texts := tags.FlatValues().(*tensor.Strings).Offsets()
	return []float64{float64(len(ids)), total(ids), total(tensor.Data[int64](tokens.FlatValues())), lastSplit(tokens),
		total(tensor.Data[float32](weights.FlatValues())), lastSplit(tags), float64(texts[len(texts)-1] - texts[0])}
}

func total[T inputs.Number](xs []T) float64 {
	s := 0.0
	for _, x := range xs {
		s += float64(x)
	}
	return s
}

func lastSplit(t *ragged.Tensor) float64 {
	splits := tensor.Data[int64](t.RowSplits())
	return float64(splits[len(splits)-1])
}
