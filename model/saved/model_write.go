package saved

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/atomicfile"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/tensor"
)

// The files of a model.
const (
	variablesFile = "weights/variables.safetensors"
	constantsFile = "weights/constants.safetensors"
	readmeFile    = "README.md"
)

// A part is a file of a model that is being written.
type part struct {
	jsonFile
	crc   uint32
	write func(w io.Writer) error
}

// Save writes the model: to one file if the path ends in .zip, to a folder otherwise. An
// existing file or folder is replaced once everything has been written; a folder is replaced
// only if it holds a model. The same model gives the same bytes. If the program is killed, what
// existed before is intact. A partially written model may then remain beside it, under a name
// that begins with a dot and ends in .tmp; the next Save to the path removes it, on systems
// whose file locks tell that no other program is writing it (not on Windows).
func (m *Model) Save(path string) error {
	parts, err := m.parts()
	if err == nil {
		if strings.HasSuffix(path, ".zip") {
			err = atomicfile.Write(path, func(w io.Writer) error { return writeZIP(w, parts) })
		} else {
			err = writeFolder(path, parts)
		}
	}
	if err != nil {
		return &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.Model.Save", Where: path, Err: err, Line: source.Line()}
	}
	return nil
}

// Encode writes the model as one ZIP file. Its records are not compressed, and tensors begin at
// multiples of 64 bytes, so that a reader need not copy anything.
func (m *Model) Encode(w io.Writer) error {
	parts, err := m.parts()
	if err == nil {
		err = writeZIP(w, parts)
	}
	if err != nil {
		return &tenon.Error{Kind: tenon.AsError(err).Kind, Op: "saved.Model.Encode", Err: err, Line: source.Line()}
	}
	return nil
}

// parts returns the files of the model, the manifest first.
func (m *Model) parts() ([]*part, error) {
	doc := manifest{Format: modelFormat, Version: [2]int{modelMajor, modelMinor}, Functions: []jsonFunc{}, Variables: []jsonVariable{}, Metadata: m.Metadata, rest: m.rest}
	var parts []*part
	add := func(name string, write func(w io.Writer) error) {
		parts = append(parts, &part{jsonFile: jsonFile{Path: name}, write: write})
	}
	addTree := func(name string, tree any) error {
		p, err := plan(tree, WriteOptions{})
		if err == nil {
			add(name, p.writeTo) // once for its size and digest, once to write it
		}
		return err
	}
	ops, types := map[string]bool{}, map[string]bool{}
	constants := map[string]tensor.Tensor{}
	for i, f := range m.functions {
		j := jsonFunc{Name: f.name, Doc: f.doc, Variants: []jsonVariant{}, rest: f.rest}
		for k, v := range f.variants {
			b, left, err := v.graph.MarshalWithout(isLarge)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			name := fmt.Sprintf("functions/%d-%d.graph", i, k)
			add(name, func(w io.Writer) error { _, err := w.Write(b); return err })
			x := jsonVariant{Graph: name, Args: leavesJSON(v.args), Results: leavesJSON(v.results), Captures: []jsonCapture{}, Effects: []jsonEffect{},
				Sizes: v.sizes, Batch: v.batch, rest: v.rest}
			for _, c := range v.captures {
				x.Captures = append(x.Captures, c.json(constants))
			}
			if len(v.warmUps) > 0 {
				x.WarmUp = fmt.Sprintf("warmup/%d-%d.safetensors", i, k)
				if err := addTree(x.WarmUp, v.warmUpTree()); err != nil {
					return nil, err
				}
			}
			for _, t := range left {
				x.Captures = append(x.Captures, jsonCapture{Constant: keep(constants, t)})
			}
			for _, e := range v.effects {
				x.Effects = append(x.Effects, jsonEffect{e.variable.path, e.add})
			}
			for _, l := range append(f.Args(k), v.results...) {
				if l.Spec != nil {
					typesOf(l.Spec, types)
				}
			}
			opsOf(v.graph, ops)
			j.Variants = append(j.Variants, x)
		}
		doc.Functions = append(doc.Functions, j)
	}
	doc.Ops = sortedKeys(ops)
	values := map[string]any{}
	for i, x := range m.variables {
		j := jsonVariable{Path: x.path, Value: fmt.Sprintf("v%d", i), rest: x.rest}
		j.Spec, j.Text = specJSON(x.v.Spec())
		doc.Variables = append(doc.Variables, j)
		values[j.Value] = x.v.Value()
	}
	for _, h := range m.values {
		j := jsonHeld{Path: h.path}
		j.Spec, j.Text = specJSON(h.spec)
		typesOf(h.spec, types)
		for _, p := range h.parts {
			j.Parts = append(j.Parts, p.json(constants))
		}
		doc.Values = append(doc.Values, j)
	}
	doc.Types = sortedKeys(types)
	if len(values) > 0 {
		if err := addTree(variablesFile, values); err != nil {
			return nil, err
		}
	}
	if len(constants) > 0 {
		if err := addTree(constantsFile, constants); err != nil {
			return nil, err
		}
	}
	add(readmeFile, func(w io.Writer) error {
		if m.Readme == "" {
			return m.readme(w, doc.Types)
		}
		_, err := io.WriteString(w, m.Readme)
		return err
	})
	for _, name := range sortedKeys(m.Files) {
		if top, _, _ := strings.Cut(name, "/"); top == "functions" || top == "weights" || top == "warmup" || name == manifestName || name == readmeFile {
			return nil, fmt.Errorf("the file name %q is reserved by the format", name)
		}
		add(name, func(w io.Writer) error { _, err := w.Write(m.Files[name]); return err })
	}
	for _, p := range parts {
		if err := p.measure(); err != nil {
			return nil, err
		}
		doc.Files = append(doc.Files, p.jsonFile)
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, err
	}
	if _, err := parseManifest(text); err != nil { // before anything readable is replaced
		return nil, err
	}
	first := &part{jsonFile: jsonFile{Path: manifestName}, write: func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }}
	return append([]*part{first}, parts...), first.measure()
}

// json returns the names of a capture, and adds its constants to a map.
func (c capture) json(constants map[string]tensor.Tensor) jsonCapture {
	if c.variable != nil {
		return jsonCapture{Variable: c.variable.path}
	}
	return jsonCapture{Constant: keep(constants, c.constant)}
}

// keep adds a constant under a name derived from its content, and returns the name.
func keep(constants map[string]tensor.Tensor, t tensor.Tensor) string {
	h := sha256.New()
	io.WriteString(h, tenon.Text(t.Spec()))
	switch t := t.(type) {
	case *tensor.Dense:
		h.Write(tensor.Contiguous(t).Bytes())
	case *tensor.Strings:
		for i := range t.Len() {
			s := t.At(i)
			h.Write(binary.AppendUvarint(nil, uint64(len(s))))
			io.WriteString(h, s)
		}
	}
	name := "c" + hex.EncodeToString(h.Sum(nil)[:16])
	constants[name] = t
	return name
}

// measure finds the size and checksums of a part.
func (p *part) measure() error {
	sha, crc, n := sha256.New(), crc32.NewIEEE(), new(counter)
	if err := p.write(io.MultiWriter(sha, crc, n)); err != nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	p.Size, p.SHA256, p.crc = int64(*n), hex.EncodeToString(sha.Sum(nil)), crc.Sum32()
	return nil
}

// counter counts the bytes written.
type counter int64

// Write counts the bytes of b.
func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// readme writes a description of the model for people.
func (m *Model) readme(w io.Writer, types []string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# A model of Tenon\n\nRead by `saved.OpenModel` of github.com/tenonml/tenon. The functions:\n\n```\n")
	for _, f := range m.functions {
		fmt.Fprintln(&b, f)
		if f.doc != "" {
			fmt.Fprintf(&b, "    %s\n", f.doc)
		}
	}
	fmt.Fprintf(&b, "```\n\n%d variables. Types: %s.\n", len(m.variables), strings.Join(types, ", "))
	for _, k := range sortedKeys(m.Metadata) {
		fmt.Fprintf(&b, "\n%s: %s\n", k, m.Metadata[k])
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeFolder writes a folder, replacing a model that exists there.
func writeFolder(path string, parts []*part) error {
	if _, err := os.Stat(path); err == nil {
		if _, err := os.Stat(filepath.Join(path, manifestName)); err != nil {
			return fmt.Errorf("the folder exists, and does not hold a model")
		}
	}
	return atomicfile.Folder(path, func(temp string) error {
		for _, p := range parts {
			name := filepath.Join(temp, filepath.FromSlash(p.Path))
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				return err
			}
			if err := atomicfile.Write(name, p.write); err != nil {
				return fmt.Errorf("%s: %w", p.Path, err)
			}
		}
		return nil
	})
}

// alignment is the alignment of tensors in a ZIP file.
const alignment = 64

// writeZIP writes the parts as uncompressed records.
func writeZIP(w io.Writer, parts []*part) error {
	n := new(counter)
	z := zip.NewWriter(io.MultiWriter(w, n))
	for _, p := range parts {
		if err := z.Flush(); err != nil {
			return err
		}
		h := &zip.FileHeader{Name: p.Path, Method: zip.Store, CRC32: p.crc, CompressedSize64: uint64(p.Size), UncompressedSize64: uint64(p.Size)}
		const header = 30 // bytes of a local header before its name
		const least = 4   // bytes of an extra field without data
		at := int(*n) + header + len(p.Path) + least
		room := (alignment - at%alignment) % alignment
		h.Extra = binary.LittleEndian.AppendUint16(nil, paddingField)
		h.Extra = binary.LittleEndian.AppendUint16(h.Extra, uint16(room))
		h.Extra = append(h.Extra, make([]byte, room)...)
		r, err := z.CreateRaw(h)
		if err != nil {
			return err
		}
		if err := p.write(r); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return z.Close()
}

// paddingField is the extra field of ZIP files with which other writers pad records, too ("FB",
// little-endian).
const paddingField = 0x4246
