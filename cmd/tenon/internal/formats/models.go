package formats

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/model/onnx"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/model/weights"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

var safetensorsFormat = &Format{
	Name: "safetensors", Suffixes: []string{".safetensors"},
	Match: Head.safetensors,
	Model: savedValues,
	Tensors: func(w io.Writer, tensors map[string]tenon.Value) error {
		return saved.Encode(w, tensors, saved.WriteOptions{Rename: saved.Dotted})
	},
}

var shardsFormat = &Format{
	Name: "shards", Suffixes: []string{".index.json"},
	Match: func(h Head) bool { return h.named(".index.json") && bytes.Contains(h.Bytes, []byte(`"weight_map"`)) },
	Model: savedValues,
}

// savedValues opens files of package saved, and other safetensors.
func savedValues(in *Input) (*Model, error) {
	f, err := saved.Open(in.Path)
	if err != nil {
		return nil, err
	}
	m := &Model{Metadata: f.Metadata(), Close: f.Close}
	for _, name := range f.Names() {
		s, err := f.Spec(name)
		if err != nil {
			f.Close()
			return nil, err
		}
		m.Tensors = append(m.Tensors, Tensor{Name: name, Spec: s, Read: func() (tenon.Value, error) { return f.Value(name) }})
	}
	return m, nil
}

var npyFormat = &Format{
	Name: "npy", Suffixes: []string{".npy"},
	Match: func(h Head) bool { return h.magic("\x93NUMPY") },
	Model: weightsOf(weights.NumPy),
	Rows: func(in *Input, o Options) (*Rows, error) {
		m, err := weightsOf(weights.NumPy)(in)
		if err != nil {
			return nil, err
		}
		only := m.Tensors[0]
		rows := &Rows{Count: 1, Close: m.Close}
		if s, ok := only.Spec.(*tensor.Spec); ok && s.Shape().Rank() > 0 {
			rows.Count = int64(s.Shape().Dim(0))
		}
		rows.Batches = one(func() (*structured.Tensor, error) {
			v, err := only.Read()
			if err != nil {
				return nil, err
			}
			return AsRecords(v)
		})
		return rows, nil
	},
	Tensors: func(w io.Writer, tensors map[string]tenon.Value) error {
		for _, v := range tensors {
			if t, ok := v.(tensor.Tensor); ok && len(tensors) == 1 {
				return weights.WriteNPY(w, t)
			}
		}
		return fmt.Errorf("an .npy file holds one tensor, but there are %d; choose one with -p, or write .npz", len(tensors))
	},
}

var npzFormat = &Format{
	Name: "npz", Suffixes: []string{".npz"},
	Match: func(h Head) bool {
		return h.magic("PK\x03\x04") && slices.ContainsFunc(h.Entries, func(e string) bool { return strings.HasSuffix(e, ".npy") })
	},
	Model: weightsOf(weights.NumPy),
	Tensors: func(w io.Writer, tensors map[string]tenon.Value) error {
		all := map[string]tensor.Tensor{}
		for name, v := range tensors {
			t, ok := v.(tensor.Tensor)
			if !ok {
				return fmt.Errorf("%s is %s, which NumPy cannot store", name, tenon.String(v.Spec()))
			}
			all[name] = t
		}
		return weights.WriteNPZ(w, all)
	},
}

var ggufFormat = &Format{
	Name: "gguf", Suffixes: []string{".gguf"},
	Match: func(h Head) bool { return h.magic("GGUF") },
	Model: weightsOf(weights.GGUF),
}

var pytorchFormat = &Format{
	Name: "pytorch", Suffixes: []string{".pt", ".pth", ".bin"},
	Match: func(h Head) bool { return h.magic("PK\x03\x04") && h.has("data.pkl") },
	Model: weightsOf(weights.PyTorch),
}

var checkpointFormat = &Format{
	Name: "checkpoint", Suffixes: []string{".ckpt", ".index"},
	Match: func(h Head) bool {
		return h.Dir == nil && (h.beside(".index") || h.named(".index") && !h.text())
	},
	Model: func(in *Input) (*Model, error) {
		c := *in
		c.Path = strings.TrimSuffix(in.Path, ".index")
		return weightsOf(weights.Checkpoint)(&c)
	},
}

func weightsOf(format weights.Format) func(in *Input) (*Model, error) {
	return func(in *Input) (*Model, error) {
		f, err := weights.OpenAs(in.Path, format)
		if err != nil {
			return nil, err
		}
		m := &Model{Metadata: map[string]string{}, Close: f.Close}
		for k, v := range f.Metadata() {
			const most = 200 // vocabularies are long lists
			text := fmt.Sprint(v)
			if r := []rune(text); len(r) > most {
				text = string(r[:most]) + "…"
			}
			m.Metadata[k] = text
		}
		for _, name := range f.Names() {
			m.Tensors = append(m.Tensors, Tensor{Name: name, Spec: f.Spec(name), Read: func() (tenon.Value, error) { return f.Read(name) }})
		}
		return m, nil
	}
}

var modelFormat = &Format{
	Name:  "model",
	Match: func(h Head) bool { return h.has("model.json") && (h.Dir != nil || h.magic("PK\x03\x04")) },
	Model: func(in *Input) (*Model, error) {
		s, err := saved.OpenModel(in.Path)
		if err != nil {
			return nil, err
		}
		return functionsOf(s), nil
	},
}

var onnxFormat = &Format{
	Name: "onnx", Suffixes: []string{".onnx"},
	Match: Head.onnx,
	Model: func(in *Input) (*Model, error) {
		x, err := onnx.Open(in.Path)
		if err != nil {
			return nil, err
		}
		s, err := x.Saved()
		if err != nil {
			return nil, err
		}
		m := functionsOf(s)
		m.Metadata = maps.Clone(x.Metadata)
		if m.Metadata == nil {
			m.Metadata = map[string]string{}
		}
		m.Metadata["producer"] = x.Producer
		for domain, version := range x.Opsets {
			m.Metadata[strings.TrimSpace("opset "+domain)] = fmt.Sprint(version)
		}
		return m, nil
	},
}

// functionsOf returns the contents of a model: its variables and functions.
func functionsOf(s *saved.Model) *Model {
	m := &Model{Metadata: s.Metadata, Close: nothing, Functions: s.Functions()}
	vars := s.Variables()
	for _, name := range slices.Sorted(mapKeys(vars)) {
		v := vars[name]
		m.Tensors = append(m.Tensors, Tensor{Name: name, Spec: v.Value().Spec(), Read: func() (tenon.Value, error) { return v.Value(), nil }})
	}
	return m
}

func mapKeys[V any](m map[string]V) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Bytes returns the number of bytes of a Value of a Spec, or false if the Spec does not
// determine it.
func Bytes(s tenon.Spec) (int64, bool) {
	if t, ok := s.(*tensor.Spec); ok {
		n := t.Shape().Size()
		if n == shape.Unknown || t.DType().Size() == 0 {
			return 0, false
		}
		return int64(n) * int64(t.DType().Size()), true
	}
	var total int64
	parts := s.Components()
	for _, c := range parts {
		n, ok := Bytes(c.Spec)
		if !ok || total > math.MaxInt64-n {
			return 0, false
		}
		total += n
	}
	return total, len(parts) > 0
}

// catalogued returns a record for each named tensor, which describes it without its elements.
func catalogued(in *Input) (*Rows, error) {
	m, err := in.Format.Model(in)
	if err != nil {
		return nil, err
	}
	var names, types []string
	var bytes []int64
	for _, t := range m.Tensors {
		names, types = append(names, t.Name), append(types, tenon.String(t.Spec))
		n, _ := Bytes(t.Spec)
		bytes = append(bytes, n)
	}
	return &Rows{
		Count: int64(len(names)), Close: m.Close,
		Batches: one(func() (*structured.Tensor, error) {
			return structured.FromFieldsAndRank([]structured.Field{
				{Name: "name", Value: tensor.Of(names)}, {Name: "type", Value: tensor.Of(types)}, {Name: "bytes", Value: tensor.Of(bytes)},
			}, 1, structured.Options{})
		}),
	}, nil
}
