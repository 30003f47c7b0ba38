package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Order says which packages of the module a package may import. In
//
//	a, b < c, d < e;
//
// c and d may import a and b, and e may import all of them and everything that they may import. A
// name in capitals stands for the packages before it, for use further down. "x/..." is x and all
// packages below it, which may import one another. The root package is called tenon. The tests of a
// package, and packages of examples and commands, may import everything.
const Order = `
	# tier 0: no tensors yet
	NONE < profile, dtype, internal/throw, internal/source, internal/cpu, internal/floats, internal/dimtext, internal/abort, internal/colname, internal/zipbounds, internal/relpath, internal/filemap, internal/goroutine, internal/kernel/gctest, internal/memory, internal/message, internal/browser, internal/generated, internal/slab, internal/filelock;
	internal/filelock < internal/atomicfile;
	NONE < internal/markup;
	internal/throw < shape, internal/par, internal/arena;
	internal/arena < internal/memtest;
	internal/cpu, internal/par < internal/kernel/transpose < internal/strided;
	dtype, shape, internal/cpu, internal/par, internal/floats, internal/arena < internal/kernel/...;
	dtype, internal/abort < internal/jsoncol;
	internal/abort, internal/atomicfile < internal/input;

	# tiers 1 and 2: values, Specs, tensors, structures of them
	dtype, shape, internal/slab, internal/source, internal/throw < tenon;
	tenon, internal/arena, internal/strided < tensor < nest < spectest;

	# tiers 3 and 4: operations, their catalogue, graphs of them
	tensor < internal/calls;
	tensor, internal/memory < op;
	op, internal/kernel/..., internal/strided, internal/floats < ops/internal/..., ops/key < ops < ops/rows;
	internal/memory < ragged, structured, data/dataset;
	op, internal/goroutine, internal/dimtext, internal/slab, profile < graph;

	# tier 5: what is done with any Value
	graph, ops/rows, internal/kernel/..., internal/arena < internal/interp;
	graph, ops/rows < internal/passes;
	internal/interp, internal/passes < backend;
	nest < internal/elements < data/dataset;
	tensor < ext/codec;
	ops, nest, ext/codec < internal/rows < internal/batching;
	backend, internal/batching < grad;
	ops < internal/half < TIER5;
	graph, nest < state;
	backend, internal/batching, internal/calls, grad, state, ops/rows < TIER5;
	TIER5 < function, control;

	# tier 6: types of Value
	TIER5 < masked < ragged;
	function, control, ragged < TYPES;
	internal/source, tenon < structured/internal/jsonpath < structured/internal/gotype < structured;
	ext/codec, TYPES, internal/jsoncol, internal/dimtext < sparse, structured, named, ext;
	ext, TYPES < element < structured;
	structured < structured/gostruct;
	named < named/coords, named/layers;
	ops < named/internal/stated < named;
	NONE < named/internal/terms < named, named/dimcheck;
	internal/dimtext, internal/throw < named/dimcheck < named/dimcheck/plugin;
	sparse, structured, named, internal/rows < internal/anatomy < internal/rowwise;
	element, sparse, structured, structured/gostruct, named, named/coords, named/layers, ext, internal/anatomy, internal/rowwise < TIER6;

	# tier 7: data, learning, and the ways in and out
	TIER6 < data/dataset, linalg, learn/metric, data/textnorm, data/jsonl, data/csvio, data/arrowio, data/protoio, scale/xla, show/plot;
	internal/abort, internal/colname, internal/input < data/arrowio, data/jsonl, data/csvio, data/protoio;
	internal/message < data/protoio, model/onnx, model/serve;
	internal/markup < model/serve;
	data/arrowio < data/dataset, data/parquetio;
	data/jsonl < data/csvio;
	internal/atomicfile < data/arrowio, model/saved, model/hub;
	internal/filelock < model/hub;
	internal/filemap < data/arrowio, model/saved;
	internal/zipbounds < model/saved, model/weights, model/hub;
	internal/relpath < model/saved, model/weights, model/hub, model/onnx;
	data/dataset, linalg, data/textnorm, data/jsonl, data/csvio, data/arrowio, data/parquetio, data/protoio < IO;
	nest < learn/internal/parts;
	learn/internal/parts, IO < learn/nn;
	IO < model/saved;
	internal/input, data/protoio < learn/runs < learn/train;
	TIER6 < internal/summary;
	internal/markup, internal/summary, learn/runs, data/jsonl < show/view < TIER7;
	learn/nn < learn/features < TIER7;
	TIER6 < learn/tokens < TIER7;
	learn/nn, model/saved < learn/train, learn/generate;
	model/saved < model/weights, model/hub, model/serve, model/onnx;
	TIER5, internal/elements < scale/dist/...;
	TIER6, scale/dist/... < scale/mesh < learn/train;
	model/weights, internal/input < data/dataset/files;
	learn/train, learn/generate, learn/metric, model/weights, data/dataset/files, model/hub, model/onnx, model/serve, scale/dist/..., scale/mesh, scale/xla, show/plot, spectest, named/dimcheck, named/dimcheck/plugin < TIER7;

	# tier 8: programs, and tables that tests are driven by
	TIER7 < examples/exttypes/... < internal/conform/...;
	TIER7 < internal/servetest, internal/weightstest, internal/pictures, internal/apilist, internal/optable, internal/bench/..., internal/mpitest/..., internal/outsider/..., internal/ref/..., internal/rivals, internal/archtest, cmd/..., examples/...;
	internal/optable < internal/onnxtest;
`

// Outside says which packages may import which other modules, besides the standard library. "tests"
// means all files that end in _test.go.
const Outside = `
	golang.org/x/sys/cpu < internal/cpu;
	golang.org/x/sys/unix < internal/memory, scale/dist/mpi;
	github.com/ebitengine/purego < scale/dist/mpi;
	github.com/google/go-cmp/..., pgregory.net/rapid/... < tests, spectest;
	gonum.org/v1/... < linalg, show/plot;
	github.com/klauspost/compress/... < data/arrowio, internal/input, data/jsonl, data/parquetio, model/weights;
	github.com/andybalholm/brotli, github.com/pierrec/lz4/v4 < data/parquetio;
	golang.org/x/text/... < data/textnorm, learn/tokens;
	github.com/tiktoken-go/tokenizer, github.com/dlclark/regexp2/v2, github.com/rivo/uniseg < learn/tokens;
	github.com/apache/arrow-go/... < data/arrowio, data/parquetio, internal/conform;
	go.yaml.in/yaml/... < data/dataset/files;
	oras.land/oras-go/..., github.com/opencontainers/... < model/hub;
	golang.org/x/sys/windows < internal/filelock;
	github.com/google/flatbuffers/... < data/arrowio;
	connectrpc.com/connect/..., connectrpc.com/grpcreflect, github.com/bufbuild/protocompile < model/serve;
	google.golang.org/protobuf/... < model/serve, internal/bench, data/protoio, internal/message, model/onnx, scale/xla, model/weights;
	golang.org/x/tools/... < named/dimcheck, named/dimcheck/plugin;
	github.com/golangci/plugin-module-register/... < named/dimcheck/plugin;
`

// Hidden lists packages that only the packages above them here may import, because these provide
// the interface to them.
const Hidden = `
	internal/interp, internal/passes < backend;
`

// relation is a parsed order.
type relation struct {
	below map[string][]string // names directly below each name
}

// parse parses the syntax of [Order].
func parse(text string) (*relation, error) {
	r := &relation{below: map[string][]string{}}
	var lines []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		lines = append(lines, line)
	}
	for statement := range strings.SplitSeq(strings.Join(lines, " "), ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		levels := strings.Split(statement, "<")
		if len(levels) < 2 {
			return nil, fmt.Errorf("no < in %q", statement)
		}
		for i := 1; i < len(levels); i++ {
			for _, upper := range names(levels[i]) {
				r.below[upper] = append(r.below[upper], names(levels[i-1])...)
			}
		}
	}
	for name := range r.below {
		if slices.Contains(r.allBelow(name), name) {
			return nil, fmt.Errorf("%s is below itself", name)
		}
	}
	return r, nil
}

func names(list string) []string {
	var out []string
	for n := range strings.SplitSeq(list, ",") {
		if n = strings.TrimSpace(n); n != "" && n != "NONE" {
			out = append(out, n)
		}
	}
	return out
}

// allBelow returns all names below a name, directly or indirectly.
func (r *relation) allBelow(name string) []string {
	var out []string
	var walk func(string)
	walk = func(n string) {
		for _, b := range r.below[n] {
			if !slices.Contains(out, b) {
				out = append(out, b)
				walk(b)
			}
		}
	}
	walk(name)
	return out
}

// entry returns the name of a package in the order: its own, or a pattern that covers it.
func (r *relation) entry(pkg string) (string, bool) {
	if _, ok := r.below[pkg]; ok {
		return pkg, true
	}
	best := ""
	for name := range r.below {
		if covers(name, pkg) && len(name) > len(best) {
			best = name
		}
	}
	return best, best != ""
}

// covers reports whether a pattern x/... covers a package.
func covers(pattern, pkg string) bool {
	prefix, ok := strings.CutSuffix(pattern, "/...")
	return pattern == pkg || ok && (pkg == prefix || strings.HasPrefix(pkg, prefix+"/"))
}

// hides reports whether a package is below others in the relation, and the importing package is
// none of these.
func (r *relation) hides(imported, pkg string) bool {
	below := false
	for name := range r.below {
		if slices.Contains(r.below[name], imported) {
			if covers(name, pkg) {
				return false
			}
			below = true
		}
	}
	return below && imported != pkg
}

// allows reports whether a package may import another.
func (r *relation) allows(pkg, imported string) bool {
	name, ok := r.entry(pkg)
	if !ok {
		return false
	}
	if strings.HasSuffix(name, "/...") && covers(name, imported) {
		return true
	}
	return slices.ContainsFunc(r.allBelow(name), func(b string) bool { return covers(b, imported) })
}
