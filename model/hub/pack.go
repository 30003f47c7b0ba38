package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/relpath"
	"github.com/tenonml/tenon/internal/zipbounds"
)

type descriptor = v1.Descriptor

// The media types and annotations of ModelPack
// (https://github.com/modelpack/model-spec/blob/main/docs/spec.md).
const (
	typeModel  = "application/vnd.cncf.model.manifest.v1+json"
	typeConfig = "application/vnd.cncf.model.config.v1+json"
	typeWeight = "application/vnd.cncf.model.weight.v1.raw"
	typeParts  = "application/vnd.cncf.model.weight.config.v1.raw"
	typeDoc    = "application/vnd.cncf.model.doc.v1.raw"
	typeCode   = "application/vnd.cncf.model.code.v1.raw"
	notePath   = "org.cncf.model.filepath"
	noteFile   = "org.cncf.model.file.metadata+json"
)

// epoch is used where a time is required, so that the same files have the same digest.
const epoch = "1970-01-01T00:00:00Z"

// typeOf returns the media type of a file's layer, which depends on its name.
func typeOf(name string) string {
	base := strings.ToLower(path.Base(name))
	switch ext := path.Ext(base); {
	case slices.Contains([]string{".safetensors", ".gguf", ".onnx", ".bin", ".pt", ".pth", ".npz", ".npy", ".h5", ".data"}, ext):
		return typeWeight
	case ext == ".md" || ext == ".rst" || ext == ".pdf" || strings.HasPrefix(base, "readme") || strings.HasPrefix(base, "license") || strings.HasPrefix(base, "notice"):
		return typeDoc
	case ext == ".py" || ext == ".go" || ext == ".sh" || ext == ".ipynb":
		return typeCode
	}
	return typeParts
}

// formatOf returns the format of files as the config calls it.
func formatOf(names []string) string {
	if slices.Contains(names, "model.json") {
		return "tenon"
	}
	for _, format := range []string{"safetensors", "gguf", "onnx"} {
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "."+format) }) {
			return format
		}
	}
	return ""
}

// packed is the files of a folder as a ModelPack model that can be copied.
type packed struct {
	fsys  fs.FS
	root  descriptor
	files map[digest.Digest]string // layers, by their digests
	texts map[digest.Digest][]byte // manifest and config
}

// openFiles opens a model to be pushed, a folder or a ZIP file.
func openFiles(name string) (fsys fs.FS, end func() error, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, nil, err
		}
		return root.FS(), root.Close, nil
	}
	r, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	z, err := zipbounds.Open(r, info.Size())
	if err != nil {
		r.Close()
		return nil, nil, err
	}
	for _, f := range z.File {
		if err := zipbounds.Grows(f); err != nil {
			r.Close()
			return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return z, r.Close, nil
}

// pack makes the manifest of the files of a folder.
func pack(ctx context.Context, fsys fs.FS) (*packed, error) {
	p := &packed{fsys: fsys, files: map[digest.Digest]string{}, texts: map[digest.Digest][]byte{}}
	var layers []descriptor
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || ctx.Err() != nil {
			return errOf(err, ctx.Err())
		}
		layer, err := p.layer(name)
		layers, names = append(layers, layer), append(names, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(layers) == 0 {
		return nil, bad(tenon.ErrInvalid, "there are no files")
	}
	diffs := make([]digest.Digest, len(layers))
	for i, l := range layers {
		diffs[i] = l.Digest
	}
	config := map[string]any{
		"descriptor": map[string]any{},
		"config":     map[string]any{"format": formatOf(names)},
		"modelfs":    map[string]any{"type": "layers", "diffIds": diffs},
	}
	if config["config"].(map[string]any)["format"] == "" {
		config["config"] = map[string]any{}
	}
	c, err := p.text(typeConfig, config)
	if err != nil {
		return nil, err
	}
	p.root, err = p.text(v1.MediaTypeImageManifest, v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, ArtifactType: typeModel, Config: c, Layers: layers,
		Annotations: map[string]string{v1.AnnotationCreated: epoch},
	})
	if err == nil && p.root.Size > maxManifest {
		err = bad(tenon.ErrUnsupported, "the manifest of %d files has %d bytes; registries accept %d", len(layers), p.root.Size, maxManifest)
	}
	p.root.ArtifactType = typeModel
	return p, err
}

func errOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// layer returns the descriptor of a file.
func (p *packed) layer(name string) (descriptor, error) {
	if err := relpath.Check(name); err != nil {
		return descriptor{}, err
	}
	info, err := fs.Stat(p.fsys, name)
	if err != nil {
		return descriptor{}, err
	}
	if !info.Mode().IsRegular() {
		return descriptor{}, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := p.fsys.Open(name)
	if err != nil {
		return descriptor{}, err
	}
	defer f.Close()
	h := digest.SHA256.Digester()
	n, err := io.Copy(h.Hash(), f)
	if err != nil {
		return descriptor{}, fmt.Errorf("%s: %w", name, err)
	}
	p.files[h.Digest()] = name
	about, err := json.Marshal(map[string]any{"name": path.Base(name), "mode": 0o644, "uid": 0, "gid": 0, "size": n, "mtime": epoch, "typeflag": '0'})
	return descriptor{MediaType: typeOf(name), Digest: h.Digest(), Size: n,
		Annotations: map[string]string{notePath: name, v1.AnnotationTitle: name, noteFile: string(about)}}, err
}

// text adds a document.
func (p *packed) text(mediaType string, doc any) (descriptor, error) {
	b, err := json.Marshal(doc)
	d := digest.FromBytes(b)
	p.texts[d] = b
	return descriptor{MediaType: mediaType, Digest: d, Size: int64(len(b))}, err
}

// Resolve returns the manifest, whatever the reference.
func (p *packed) Resolve(context.Context, string) (descriptor, error) { return p.root, nil }

// Exists reports whether a blob exists.
func (p *packed) Exists(_ context.Context, d descriptor) (bool, error) {
	return p.texts[d.Digest] != nil || p.files[d.Digest] != "", nil
}

// Fetch opens a blob.
func (p *packed) Fetch(_ context.Context, d descriptor) (io.ReadCloser, error) {
	if b := p.texts[d.Digest]; b != nil {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	name, ok := p.files[d.Digest]
	if !ok {
		return nil, fmt.Errorf("%s: %w", d.Digest, errdef.ErrNotFound)
	}
	return p.fsys.Open(name)
}
