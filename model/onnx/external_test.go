package onnx

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// field appends a field of bytes to a message.
func field(b []byte, n protowire.Number, data string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), data)
}

func number(b []byte, n protowire.Number, x uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), x)
}

// externalModel adds w, two floats in another file at the place that entries tell, to x by an
// operation.
func externalModel(op string, entries ...string) []byte {
	w := number(number(field(nil, 8, "w"), 1, 2), 2, 1)
	for i := 0; i < len(entries); i += 2 {
		w = field(w, 13, string(field(field(nil, 1, entries[i]), 2, entries[i+1])))
	}
	w = number(w, 14, 1) // EXTERNAL
	value := func(name string) string {
		typ := field(number(nil, 1, 1), 2, string(field(nil, 1, string(number(nil, 1, 2)))))
		return string(field(field(nil, 1, name), 2, string(field(nil, 1, string(typ)))))
	}
	node := field(field(field(field(nil, 1, "x"), 1, "w"), 2, "y"), 4, op)
	graph := field(field(nil, 1, string(node)), 2, "g")
	graph = field(field(field(graph, 5, string(w)), 11, value("x")), 12, value("y"))
	return field(field(number(nil, 1, 9), 8, string(number(nil, 2, 18))), 7, string(graph))
}

// TestExternalData reads weights from a file beside the model, and from nowhere else.
func TestExternalData(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "model")
	data := binary.LittleEndian.AppendUint32(make([]byte, 8), math.Float32bits(10))
	data = binary.LittleEndian.AppendUint32(data, math.Float32bits(20))
	for _, name := range []string{filepath.Join(folder, "sub", "w.bin"), filepath.Join(dir, "secret")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret", filepath.Join(folder, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Link(filepath.Join(folder, "sub", "w.bin"), filepath.Join(folder, "hard")); err != nil {
		t.Skip(err)
	}
	open := func(b []byte) (*Model, error) {
		name := filepath.Join(folder, "m.onnx")
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return Open(name)
	}
	for _, entries := range [][]string{
		{"location", "sub/w.bin", "offset", "8", "length", "8"},
		{"location", "sub/w.bin", "offset", "8"},
		{"location", "hard", "offset", "8"}, // another name of the same file, as good as the first
	} {
		m, err := open(externalModel("Add", entries...))
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Call(tensor.Of([]float32{1, 2}))
		if err != nil || !tensor.Equal(out[0].(tensor.Tensor), tensor.Of([]float32{11, 22})) {
			t.Errorf("%v: got %v, %v", entries, out, err)
		}
	}
	for _, entries := range [][]string{
		{"location", "../secret", "offset", "8"}, {"location", filepath.Join(dir, "secret"), "offset", "8"}, {"location", `..\secret`, "offset", "8"},
		{"location", "link", "offset", "8"}, {"location", "sub", "offset", "0"}, {"location", "none"}, {"location", ""}, {},
		{"location", "sub/w.bin", "offset", "9"}, {"location", "sub/w.bin", "offset", "-8"}, {"location", "sub/w.bin", "offset", "x"},
		{"location", "sub/w.bin", "offset", "9223372036854775807"}, {"location", "sub/w.bin", "length", "99"}, {"location", "sub/w.bin", "length", "4"},
	} {
		if _, err := open(externalModel("Add", entries...)); err == nil {
			t.Errorf("%v was read", entries)
		}
	}
	// an operation that is not known is named although the weights are not there
	_, err := open(externalModel("Fancy", "location", "none"))
	if !errors.Is(err, tenon.ErrUnsupported) || !strings.Contains(err.Error(), "Fancy") {
		t.Errorf("got %v", err)
	}
	// bytes without a folder have no other files
	if _, err := Parse(externalModel("Add", "location", "sub/w.bin", "offset", "8")); err == nil {
		t.Error("a file was read without a folder")
	}
}
