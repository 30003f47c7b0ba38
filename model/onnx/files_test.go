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
	m := field(number(nil, 1, 9), 7, string(graph))
	if opset > 0 {
		m = field(m, 8, string(number(nil, 2, opset)))
	}
	return m
}

// attackedNode is a node of a graph.
func attackedNode(op, out string, in ...string) string {
	return string(field(nil, 1, attackedBody(op, out, in...)))
}

func attackedBody(op, out string, in ...string) string {
	var b []byte
	for _, name := range in {
		b = field(b, 1, name)
	}
	return string(field(field(b, 2, out), 4, op))
}

// attackedIf is a node with a condition c, both of whose branches are one node.
func attackedIf(out, result string, node string) string {
	body := field([]byte(node), 12, string(field(nil, 1, result)))
	b := field(field(field(nil, 1, "c"), 2, out), 4, "If")
	for _, branch := range []string{"then_branch", "else_branch"} {
		b = field(b, 5, string(field(number(field(nil, 1, branch), 20, 5), 6, string(body))))
	}
	return string(field(nil, 1, string(b)))
}

// attackedFunction is a function F of a and b that is one node and gives r.
func attackedFunction(body string) string {
	b := field(field(field(field(nil, 1, "F"), 4, "a"), 4, "b"), 5, "r")
	return string(field(field(field(b, 7, body), 9, string(number(nil, 2, 18))), 10, "our"))
}

// attackedWeight is an initializer w of a graph, of dimensions and bytes.
func attackedWeight(typ uint64, raw string, dims ...uint64) string {
	var w []byte
	for _, d := range dims {
		w = number(w, 1, d)
	}
	return string(field(nil, 5, string(field(field(number(w, 2, typ), 8, "w"), 9, raw))))
}

// TestAttackedFiles parses files that say what is not so: an error that tells where.
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
	truth := attackedNode("IsNaN", "c", "x")
	call := string(field(nil, 1, string(field([]byte(attackedBody("F", "y", "x", "x")), 7, "our"))))
	sparse := string(field(nil, 15, string(field(nil, 1, string(field(nil, 8, "w"))))))
	for _, c := range []struct {
		name string
		file []byte
		says []string
	}{
		{"nothing", nil, nil},
		{"a text", []byte("PK\x03\x04 this is no model"), nil},
		{"no graph", number(nil, 1, 9), []string{"no graph"}},
		{"a length beyond the file", append(protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType), 1<<62), "abc"...), nil},
		{"a number without end", bytes.Repeat([]byte{0xff}, 20), nil},
		{"a group", protowire.AppendTag(nil, 7, protowire.StartGroupType), nil},
		{"a field of another type", number(nil, 7, 3), nil},
		{"no version", attackedModel(0, attackedWeight(1, "12345678", 2), add), []string{"Add of y", "import", "ai.onnx"}},
		{"a version to come", attackedModel(999, attackedWeight(1, "12345678", 2), add), []string{"999"}},
		{"an operation that there is none of", attackedModel(18, attackedNode("Fancy", "y", "x")), []string{"Fancy"}},
		{"a value that nothing makes", attackedModel(18, attackedNode("Add", "y", "x", "z")), []string{"Add of y", `"z"`}},
		{"a node of its own result", attackedModel(18, attackedNode("Add", "y", "x", "y")), []string{"Add of y", "own result", `Add of y takes "y"`}},
		{"a circle", attackedModel(18, attackedNode("Add", "a", "x", "y"), attackedNode("Sub", "y", "a", "x")), []string{"own result", `Add of a takes "y"`, `Sub of y takes "a"`}},
		{"a circle behind a node", attackedModel(18, attackedNode("Relu", "y", "d"), attackedNode("Relu", "d", "b"), attackedNode("Add", "a", "x", "b"), attackedNode("Sub", "b", "x", "a")),
			[]string{"own result", `Sub of b takes "a", Add of a takes "b"`}},
		{"a circle through a branch", attackedModel(18, truth, attackedIf("y", "r", attackedNode("Add", "r", "x", "b")), attackedNode("Relu", "b", "y")), []string{"own result", `If of y takes "b"`, `Relu of b takes "y"`}},
		{"an output that nothing makes", attackedModel(18, attackedNode("Relu", "z", "x")), []string{`output "y"`}},
		{"a result that two nodes make", attackedModel(18, attackedNode("Relu", "y", "x"), attackedNode("Neg", "y", "x")), []string{"Neg of y", `"y"`, "Relu of y"}},
		{"a result that is an input", attackedModel(18, attackedNode("Relu", "x", "x"), attackedNode("Neg", "y", "x")), []string{"Relu of x", `"x"`, "input"}},
		{"a result that is a weight", attackedModel(18, attackedWeight(1, "12345678", 2), attackedNode("Relu", "w", "x"), add), []string{"Relu of w", `"w"`, "weight"}},
		{"a weight twice", attackedModel(18, attackedWeight(1, "12345678", 2), attackedWeight(1, "12345678", 2), add), []string{`weight "w"`, "twice"}},
		{"a weight that is sparse too", attackedModel(18, attackedWeight(1, "12345678", 2), sparse, add), []string{`weight "w"`, "twice"}},
		{"an input twice", attackedModel(18, string(field(nil, 11, string(field(nil, 1, "x")))), attackedNode("Relu", "y", "x")), []string{`input "x"`, "twice"}},
		{"a value that nothing makes in a branch", attackedModel(18, truth, attackedIf("y", "r", attackedNode("Add", "r", "x", "z"))), []string{"If of y: Add of r", `"z"`}},
		{"an output that nothing makes in a branch", attackedModel(18, truth, attackedIf("y", "s", attackedNode("Relu", "r", "x"))), []string{"If of y", `output "s"`}},
		{"a branch's own value outside", attackedModel(18, truth, attackedIf("a", "r", attackedNode("Relu", "r", "x")), attackedNode("Add", "y", "a", "r")), []string{"Add of y", `"r"`}},
		{"a value that nothing makes in a function", append(attackedModel(18, call), field(nil, 25, attackedFunction(attackedBody("Add", "r", "a", "x")))...), []string{"function F: Add of r", `"x"`}},
		{"an output that nothing makes in a function", append(attackedModel(18, call), field(nil, 25, attackedFunction(attackedBody("Add", "s", "a", "b")))...), []string{"function F", `output "r"`}},
		{"a negative size", attackedModel(18, attackedWeight(1, "12345678", 1<<64-2), add), []string{"weight w"}},
		{"sizes that overflow", attackedModel(18, attackedWeight(1, "", 1<<62, 1<<62), add), []string{"weight w"}},
		{"many elements of few bytes", attackedModel(18, attackedWeight(1, "12345678", 1<<40), add), []string{"weight w"}},
		{"bytes too few", attackedModel(18, attackedWeight(1, "1234567", 2), add), []string{"weight w"}},
		{"bytes too many", attackedModel(18, attackedWeight(1, "123456789", 2), add), []string{"weight w"}},
		{"an element type that there is none of", attackedModel(18, attackedWeight(99, "12345678", 2), add), []string{"weight w"}},
		{"strings as bytes", attackedModel(18, attackedWeight(8, "12345678", 2), add), []string{"weight w"}},
		{"graphs in one another", attackedModel(18, string(deep)), []string{"deep"}},
	} {
		_, err := Parse(c.file)
		var e *tenon.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %v does not say %q", c.name, err, s)
			}
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

// TestNodesInAnyOrder calls models whose nodes do not stand in the order in which they run.
func TestNodesInAnyOrder(t *testing.T) {
	function := string(field([]byte(attackedFunction(attackedBody("Neg", "r", "s"))), 7, attackedBody("Add", "s", "a", "b")))
	for name, b := range map[string][]byte{
		"backwards": attackedModel(18, attackedNode("Neg", "y", "b"), attackedNode("Add", "b", "a", "x"), attackedNode("Neg", "a", "x2"), attackedNode("Add", "x2", "x", "x")),
		"twice":     attackedModel(18, attackedNode("Add", "y", "b", "b"), attackedNode("Sub", "b", "x", "a"), attackedNode("Abs", "a", "x2"), attackedNode("Div", "x2", "x", "x2b"), attackedNode("Add", "x2b", "x", "x")),
		"branch":    attackedModel(18, attackedIf("y", "r", attackedNode("Neg", "r", "s")+attackedNode("Add", "s", "x", "b")), attackedNode("Equal", "c", "n", "n"), attackedNode("Size", "n", "b"), attackedNode("Neg", "b", "x")),
		"function":  append(attackedModel(18, string(field(nil, 1, string(field([]byte(attackedBody("F", "y", "z", "x")), 7, "our")))), attackedNode("Neg", "z", "x")), field(nil, 25, function)...),
	} {
		m, err := Parse(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := map[string]tensor.Tensor{"backwards": tensor.Of([]float32{1, -2}), "twice": tensor.Of([]float32{1, -5}), "branch": tensor.Of([]float32{0, 0}), "function": tensor.Of([]float32{0, 0})}[name]
		if out, err := m.Call(tensor.Of([]float32{1, -2})); err != nil || !tensor.Equal(out[0].(tensor.Tensor), want) {
			t.Errorf("%s: got %v, %v, want %v", name, out, err, want)
		}
	}
}
