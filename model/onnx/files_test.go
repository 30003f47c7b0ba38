package onnx

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// attackedModel makes a model of nodes and initializers, with an input x and an output y.
func attackedModel(opset uint64, parts ...string) []byte {
	value := func(name string) string {
		typ := field(number(nil, 1, 1), 2, string(field(nil, 1, string(number(nil, 1, 2)))))
		return string(field(field(nil, 1, name), 2, string(field(nil, 1, string(typ)))))
	}
	graph := []byte(strings.Join(parts, ""))
	graph = field(field(field(graph, 2, "g"), 11, value("x")), 12, value("y"))
	return field(field(number(nil, 1, 9), 8, string(number(nil, 2, opset))), 7, string(graph))
}

// attackedNode is a node of a graph.
func attackedNode(op, out string, in ...string) string {
	var b []byte
	for _, name := range in {
		b = field(b, 1, name)
	}
	return string(field(nil, 1, string(field(field(b, 2, out), 4, op))))
}

// attackedWeight is an initializer w of a graph, of dimensions and bytes.
func attackedWeight(typ uint64, raw string, dims ...uint64) string {
	var w []byte
	for _, d := range dims {
		w = number(w, 1, d)
	}
	return string(field(nil, 5, string(field(field(number(w, 2, typ), 8, "w"), 9, raw))))
}

// TestAttackedFiles parses files that say what is not so, and calls what was parsed: an error.
func TestAttackedFiles(t *testing.T) {
	add := attackedNode("Add", "y", "x", "w")
	good := attackedModel(18, attackedWeight(1, "12345678", 2), add)
	if _, err := Parse(good); err != nil {
		t.Fatal(err)
	}
	deep := []byte(add)
	for range 5000 { // a node with a graph with a node with a graph
		attr := field(field(number(nil, 20, 5), 1, "body"), 6, string(deep))
		deep = field(nil, 1, string(field(field(nil, 4, "Loop"), 5, string(attr))))
		if len(deep) > 1<<20 {
			break
		}
	}
	for _, c := range []struct {
		name string
		file []byte
	}{
		{"nothing", nil},
		{"a text", []byte("PK\x03\x04 this is no model")},
		{"no graph", number(nil, 1, 9)},
		{"a length beyond the file", append(protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType), 1<<62), "abc"...)},
		{"a number without end", bytes.Repeat([]byte{0xff}, 20)},
		{"a group", protowire.AppendTag(nil, 7, protowire.StartGroupType)},
		{"a field of another type", number(nil, 7, 3)},
		{"a version to come", attackedModel(999, attackedWeight(1, "12345678", 2), add)},
		{"an operation that there is none of", attackedModel(18, attackedNode("Fancy", "y", "x"))},
		{"a value that nothing makes", attackedModel(18, attackedNode("Add", "y", "x", "z"))},
		{"a node of its own result", attackedModel(18, attackedNode("Add", "y", "x", "y"))},
		{"a circle", attackedModel(18, attackedNode("Add", "a", "x", "y"), attackedNode("Add", "y", "a", "x"))},
		{"an output that nothing makes", attackedModel(18, attackedNode("Relu", "z", "x"))},
		{"a negative size", attackedModel(18, attackedWeight(1, "12345678", 1<<64-2), add)},
		{"sizes that overflow", attackedModel(18, attackedWeight(1, "", 1<<62, 1<<62), add)},
		{"many elements of few bytes", attackedModel(18, attackedWeight(1, "12345678", 1<<40), add)},
		{"bytes too few", attackedModel(18, attackedWeight(1, "1234567", 2), add)},
		{"bytes too many", attackedModel(18, attackedWeight(1, "123456789", 2), add)},
		{"an element type that there is none of", attackedModel(18, attackedWeight(99, "12345678", 2), add)},
		{"strings as bytes", attackedModel(18, attackedWeight(8, "12345678", 2), add)},
		{"graphs in one another", attackedModel(18, string(deep))},
	} {
		m, err := Parse(c.file)
		if err == nil { // what a value is made of is seen when it is needed
			_, err = m.Call(tensor.Of([]float32{1, 2}))
		}
		var e *tenon.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	for n := range good { // each end, and each bit
		Parse(good[:n]) // an error or a model, but no panic
		for bit := range 8 {
			b := bytes.Clone(good)
			b[n] ^= 1 << bit
			Parse(b)
		}
	}
}
