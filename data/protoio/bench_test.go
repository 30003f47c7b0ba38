package protoio_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// BenchmarkParseExamples reads messages with an id, up to three tags, and tokens with
// a weight for each.
func BenchmarkParseExamples(b *testing.B) {
	draw := rand.New(rand.NewPCG(20, 0))
	names := []string{"new", "vip", "returning", "beta", "eu-west", "us-east", "apac", "trial", "gold", "silver", "bronze", "gift", "b2b"}
	messages, size := make([][]byte, 100_000), 0
	for i := range messages {
		tokens := make([]int64, draw.IntN(31))
		weights := make([]float32, len(tokens))
		for j := range tokens {
			tokens[j], weights[j] = draw.Int64N(30_000), draw.Float32()
		}
		tags := make([]string, 1+draw.IntN(3))
		for j := range tags {
			tags[j] = names[draw.IntN(len(names))]
		}
		messages[i] = tenon.Must(protoio.AppendExample(nil, map[string]any{"id": []int64{int64(i)}, "tags": tags, "tokens": tokens, "weights": weights}))
		size += len(messages[i])
	}
	features := protoio.Features{
		"id":      protoio.Fixed{DType: dtype.Int64, Shape: shape.Of()},
		"tags":    protoio.Ragged{DType: dtype.String},
		"tokens":  protoio.Ragged{DType: dtype.Int64},
		"weights": protoio.Ragged{DType: dtype.Float32},
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		tenon.Must(protoio.ParseExamples(messages, features, protoio.ParseOptions{}))
	}
}
