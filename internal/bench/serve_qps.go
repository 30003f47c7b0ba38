package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/bench/inputs"
	"github.com/tenonml/tenon/model/serve"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func init() { register("serve_qps", serveQPS) }

// The sizes of the model that is served.
const serveIn, serveHidden, serveOut = 64, 256, 10

// serveQPS sends requests to a server in this process over connections with one request
// in flight on each.
func serveQPS(r *runner) {
	if r.instead != nil {
		return // what is timed is no function with a result
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.err = err
		return
	}
	url, end, err := serving(l)
	if err != nil {
		r.err = err
		return
	}
	defer end()
	for _, rows := range []int{1, 32, 256} {
		x := inputs.Syms(19, 10, rows*serveIn, 1)
		for _, format := range []string{"json", "binary", "grpc"} {
			path, body, media := "/v1/models/m:predict", floatBytes(x), "application/octet-stream"
			switch format {
			case "json":
				body, media = instances(x, rows), "application/json"
			case "grpc":
				path, body, media = "/inference.GRPCInferenceService/ModelInfer", inferMessage(body, rows), "application/grpc"
			}
			for _, connections := range []int{1, 8} {
				name := fmt.Sprintf("%s_rows%d_conns%d", format, rows, connections)
				r.requests(name, url+path, media, connections, 1, "requests", [][]byte{body}, func(answer []byte) []float64 {
					return inputs.Of(answered(answer, format, rows))
				})
			}
		}
	}
	// Rows of mixed lengths, as they are and filled up to the longest: rows per second.
	asRagged, asPadded := mixedRows()
	const together, connections = 16, 32
	r.requests("ragged_mixed_conns32", url+"/call/ragged", "application/json", connections, together, "rows", asRagged, nil)
	r.requests("padded_mixed_conns32", url+"/call/padded", "application/json", connections, together, "rows", asPadded, nil)
}

// serving starts the server on a listener.
func serving(l net.Listener) (url string, end func(), err error) {
	w1, b1 := tensor.Of(inputs.Syms(19, 0, serveIn*serveHidden, 0.125), serveIn, serveHidden), tensor.Of(inputs.Syms(19, 1, serveHidden, 1))
	w2, b2 := tensor.Of(inputs.Syms(19, 2, serveHidden*serveOut, 0.125), serveHidden, serveOut), tensor.Of(inputs.Syms(19, 3, serveOut, 1))
	scores := func(x tensor.Tensor) tensor.Tensor {
		return ops.Softmax(ops.Add(ops.MatMul(ops.Relu(ops.Add(ops.MatMul(x, w1), b1)), w2), b2), -1)
	}
	table := tensor.Of(inputs.Syms(19, 20, 1000*serveIn, 1), 1000, serveIn)
	each := func(tokens tensor.Tensor) tensor.Tensor {
		return ops.Relu(ops.Add(ops.MatMul(ops.Gather(table, tokens, 0), w1), b1))
	}
	ofRagged := func(tokens *ragged.Tensor) tensor.Tensor {
		hidden, err := tokens.WithFlatValues(each(tokens.FlatValues()))
		if err != nil {
			return nil
		}
		return ops.MatMul(ops.Sum(hidden, 1), w2)
	}
	ofPadded := func(tokens tensor.Tensor) tensor.Tensor {
		there := ops.ExpandDims(ops.Cast(ops.GreaterEqual(tokens, int64(0)), dtype.Float32), -1)
		return ops.MatMul(ops.Sum(ops.Mul(each(ops.Maximum(tokens, int64(0))), there), 1), w2)
	}
	dense := func(d dtype.DType, dims ...int) *tensor.Spec { return tensor.NewSpec(d, shape.Of(dims...)) }
	rows, err := ragged.NewSpec(dtype.Int64, shape.Of(-1, -1), 1, dtype.Int64)
	if err != nil {
		return "", nil, err
	}
	s := serve.New(serve.Options{Garbage: 64 << 20}) // as the command has it
	for _, f := range []struct {
		name string
		f    interface {
			Export(args ...any) (*function.Exported, error)
		}
		spec any
	}{
		{"m", function.New(scores), dense(dtype.Float32, -1, serveIn)},
		{"ragged", function.New(ofRagged), rows},
		{"padded", function.New(ofPadded), dense(dtype.Int64, -1, -1)},
	} {
		if err := s.AddFunction(f.name, f.f, f.spec); err != nil {
			return "", nil, err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, 0) }()
	return "http://" + l.Addr().String(), func() { stop(); <-ended }, nil
}

// mixedRows returns bodies of requests of rows whose lengths are mixed: many short ones and
// a few that are long, as of sentences.
func mixedRows() (asRagged, asPadded [][]byte) {
	const requests, rows = 64, 16
	s := inputs.NewStream(19, 30)
	for range requests {
		var list [][]int64
		longest := 0
		for range rows {
			n := 4 + s.Below(28)
			if s.Below(8) == 0 {
				n = 128 + s.Below(128)
			}
			row := make([]int64, n)
			for i := range row {
				row[i] = int64(s.Below(1000))
			}
			list, longest = append(list, row), max(longest, n)
		}
		one, _ := json.Marshal(map[string]any{"x0": list})
		asRagged = append(asRagged, one)
		for i, row := range list {
			for len(row) < longest {
				row = append(row, -1)
			}
			list[i] = row
		}
		one, _ = json.Marshal(map[string]any{"x0": list})
		asPadded = append(asPadded, one)
	}
	return asRagged, asPadded
}

// requests sends bodies in turn for a while.
func (r *runner) requests(name, url, media string, connections int, items float64, unit string, bodies [][]byte, check func(answer []byte) []float64) {
	half := name + "_half" // at half of the highest rate
	if !r.want(name) && !r.want(half) || r.err != nil {
		return
	}
	s := &sender{url: url, media: media, bodies: bodies, connections: connections}
	s.open()
	defer s.close()
	start := time.Now()
	answer, err := s.one(0)
	if err != nil {
		r.err = err
		return
	}
	l := line{First: time.Since(start).Seconds()}
	if check != nil {
		l.Checksum = check(answer)
	}
	for i := range r.pick(50, 10, 1) {
		if _, r.err = s.one(i); r.err != nil {
			return
		}
	}
	most := r.sent(s, name, items, unit, l)
	if s.rate = most / 2; slices.Contains(halves, name) && r.err == nil && r.want(half) {
		r.sent(s, half, items, unit, l)
	}
}

// halves are the cases that are sent at half of the highest rate too.
var halves = []string{"json_rows1_conns8", "grpc_rows1_conns8", "ragged_mixed_conns32"}

// sent sends for a while and prints the line of a case. It returns the requests a second.
func (r *runner) sent(s *sender, name string, items float64, unit string, l line) float64 {
	load := startLoad()
	var out sending
	if out, r.err = s.send(2 * r.budget); r.err != nil {
		return 0
	}
	l.OtherCPU = load.others()
	l.P50, l.P99, l.QPS = out.P50, out.P99, out.QPS
	l.Throughput, l.Unit = l.QPS*items, unit+"/s"
	if r.want(name) {
		r.emitAs("seconds", benchCase{name: name}, out.all, l)
	}
	return out.QPS
}

// answered returns the probabilities of an answer.
func answered(b []byte, format string, rows int) []float32 {
	var out []float32
	if format == "json" {
		var p struct{ Predictions [][]float32 }
		if json.Unmarshal(b, &p) == nil {
			out = slices.Concat(p.Predictions...)
		}
		return out
	}
	if n := 4 * rows * serveOut; format == "grpc" && len(b) >= n { // raw contents are the last field of the message
		b = b[len(b)-n:]
	}
	for ; len(b) >= 4; b = b[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return out
}

// inferMessage returns a ModelInferRequest with raw contents, as a frame of gRPC.
func inferMessage(raw []byte, rows int) []byte {
	field := func(b []byte, num protowire.Number, x []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), x)
	}
	shape := protowire.AppendVarint(protowire.AppendVarint(nil, uint64(rows)), serveIn)
	m := field(nil, 1, []byte("m"))
	m = field(m, 5, field(field(field(nil, 1, []byte("x0")), 2, []byte("FP32")), 3, shape))
	m = field(m, 7, raw)
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
}

func floatBytes(x []float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// instances writes rows in TensorFlow Serving's JSON.
func instances(x []float32, rows int) []byte {
	b := []byte(`{"instances":[`)
	n := len(x) / rows
	for i, v := range x {
		switch {
		case i%n == 0 && i > 0:
			b = append(b, "],["...)
		case i%n == 0:
			b = append(b, '[')
		default:
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	}
	return append(b, "]]}"...)
}
