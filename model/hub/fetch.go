package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/atomicfile"
	"github.com/tenonml/tenon/internal/relpath"
)

// cacheDir returns the folder of the cache.
func (c *Client) cacheDir() (string, error) {
	if c.Cache != "" {
		return c.Cache, nil
	}
	if dir := os.Getenv("TENON_HUB_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "tenon", "hub"), err
}

// blobFile returns the file name of a blob in the cache.
func blobFile(cache string, d digest.Digest) string {
	return filepath.Join(cache, "blobs", d.Algorithm().String(), d.Encoded())
}

// Fetch brings the files of a model into the cache and returns their folder. The files are
// links to the cache's blobs and must not be changed; for files of your own, see [Client.Pull].
// Files in the cache are not fetched again, and for a reference with a digest, or with a commit
// of Hugging Face, the network is then not used at all.
func (c *Client) Fetch(ctx context.Context, ref string) (dir string, err error) {
	if name, ok := strings.CutPrefix(ref, "hf:"); ok {
		dir, err = c.fetchHugging(ctx, name)
	} else {
		dir, _, err = c.fetch(ctx, ref)
	}
	return dir, failure("Fetch", ref, err)
}

// Pull copies the files of a model to a folder, which appears when all of them are complete. It
// may replace an empty folder, or a model that [saved.OpenModel] can read.
func (c *Client) Pull(ctx context.Context, ref, to string) error {
	return failure("Pull", ref, c.pull(ctx, ref, to))
}

func (c *Client) pull(ctx context.Context, ref, to string) error {
	if err := replaceable(to); err != nil {
		return err
	}
	var dir string
	var err error
	sums := map[string]digest.Digest{}
	if name, ok := strings.CutPrefix(ref, "hf:"); ok {
		dir, err = c.fetchHugging(ctx, name)
	} else {
		dir, sums, err = c.fetch(ctx, ref)
	}
	if err != nil {
		return err
	}
	return atomicfile.Folder(to, func(temp string) error {
		if len(sums) > 0 {
			for name, d := range sums {
				if err := copyFile(filepath.Join(dir, name), filepath.Join(temp, name), d); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		}
		return filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, name)
			if err != nil || !c.wants(filepath.ToSlash(rel)) {
				return err
			}
			return copyFile(name, filepath.Join(temp, rel), "")
		})
	})
}

// replaceable returns an error if a folder holds something that is neither empty nor a model.
func replaceable(to string) error {
	entries, err := os.ReadDir(to)
	if os.IsNotExist(err) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(to, "model.json")); err != nil {
		return &tenon.Error{Kind: tenon.ErrInvalid, Where: to, Msg: "the folder is not empty, and does not hold a model", Hint: "choose an empty folder, or one that does not exist"}
	}
	return nil
}

// copyFile copies a file and compares its digest, if it has one.
func copyFile(from, to string, d digest.Digest) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(to, func(w io.Writer) error {
		if d == "" {
			_, err := io.Copy(w, in)
			return err
		}
		sum, err := sumOf(d)
		if err != nil {
			return err
		}
		h := sum()
		if _, err := io.Copy(io.MultiWriter(w, h), in); err != nil {
			return err
		}
		if got := digest.NewDigest(d.Algorithm(), h); got != d {
			return fmt.Errorf("the cached bytes have the digest %s, want %s; remove %s", got, d, from)
		}
		return nil
	})
}

// wants reports whether a file is to be fetched.
func (c *Client) wants(name string) bool {
	for _, p := range c.Files {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
		if ok, _ := path.Match(p, path.Base(name)); ok && !strings.Contains(p, "/") {
			return true
		}
	}
	return len(c.Files) == 0
}

// fetch returns the folder with the files of a model in a registry, and their digests.
func (c *Client) fetch(ctx context.Context, ref string) (string, map[string]digest.Digest, error) {
	p, err := c.place(ref)
	if err != nil {
		return "", nil, err
	}
	cache, err := c.cacheDir()
	if err != nil {
		return "", nil, err
	}
	root, err := c.resolve(ctx, p)
	if err != nil {
		return "", nil, err
	}
	layers, err := c.manifest(ctx, p, cache, root)
	if err != nil {
		return "", nil, err
	}
	dir := filepath.Join(cache, "models", root.Encoded())
	sums := make(map[string]digest.Digest, len(layers))
	jobs := make([]func(ctx context.Context) error, 0, len(layers))
	for _, l := range layers {
		name := nameOf(l)
		if !c.wants(name) {
			continue
		}
		sums[name] = l.Digest
		jobs = append(jobs, func(ctx context.Context) error {
			if err := c.layer(ctx, p, cache, l, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	if len(jobs) == 0 {
		return "", nil, bad(tenon.ErrNotFound, "none of %d files matches Client.Files", len(layers))
	}
	return dir, sums, sideBySide(ctx, jobs)
}

// sideBySide runs jobs, four at a time, until one fails.
func sideBySide(ctx context.Context, jobs []func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan func(ctx context.Context) error)
	var all sync.WaitGroup
	for range min(4, len(jobs)) {
		all.Go(func() {
			for job := range next {
				if err := job(ctx); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, job := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- job
	}
	close(next)
	all.Wait()
	return context.Cause(ctx)
}

// resolve returns the digest of a reference, and stores the digest of a tag in the cache.
func (c *Client) resolve(ctx context.Context, p *place) (digest.Digest, error) {
	ref := p.refOf()
	if strings.Contains(ref, ":") {
		d, err := digest.Parse(ref)
		return d, err
	}
	cache, err := c.cacheDir()
	if err != nil {
		return "", err
	}
	kept := filepath.Join(cache, "refs", strings.ReplaceAll(p.host, ":", "+"), filepath.FromSlash(p.name), ref)
	if c.Offline && p.host != "" {
		b, err := os.ReadFile(kept)
		if err != nil {
			return "", errOffline
		}
		return digest.Parse(string(b))
	}
	desc, err := p.target.Resolve(ctx, ref)
	if err != nil {
		return "", err
	}
	if err := desc.Digest.Validate(); err != nil || p.host == "" {
		return desc.Digest, err
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o777); err != nil {
		return "", err
	}
	return desc.Digest, atomicfile.Replace(kept, func(w io.Writer) error {
		_, err := io.WriteString(w, desc.Digest.String())
		return err
	})
}

// manifest returns the layers of a manifest, from the cache if possible. It checks the names of
// their files.
func (c *Client) manifest(ctx context.Context, p *place, cache string, root digest.Digest) ([]descriptor, error) {
	file := blobFile(cache, root)
	text, err := os.ReadFile(file)
	if err != nil || digest.Algorithm(root.Algorithm()).FromBytes(text) != root {
		if _, text, err = oras.FetchBytes(ctx, p.target, root.String(), oras.FetchBytesOptions{MaxBytes: maxManifest}); err != nil {
			return nil, err
		}
		if got := root.Algorithm().FromBytes(text); got != root {
			return nil, fmt.Errorf("the manifest has the digest %s, want %s", got, root)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return nil, err
		}
		if err := atomicfile.Write(file, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return nil, err
		}
	}
	var m v1.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	if m.MediaType != "" && m.MediaType != v1.MediaTypeImageManifest && m.MediaType != "application/vnd.docker.distribution.manifest.v2+json" {
		return nil, bad(tenon.ErrUnsupported, "a %s is not the manifest of a single model", m.MediaType)
	}
	return m.Layers, checkLayers(m.Layers)
}

// nameOf returns the name of a layer's file, or "" if it has none.
func nameOf(l descriptor) string {
	if name := l.Annotations[notePath]; name != "" {
		return name
	}
	return l.Annotations[v1.AnnotationTitle]
}

// isPacked reports whether a layer is an archive. Clients for artifacts send files unpacked as
// layers with the media type of images, and annotate those that they packed.
func isPacked(l descriptor) bool {
	if strings.HasPrefix(l.MediaType, "application/vnd.oci.image.layer.") {
		return l.Annotations["io.deis.oras.content.unpack"] == "true"
	}
	_, kind, _ := strings.Cut(l.MediaType, ".tar")
	return strings.HasSuffix(l.MediaType, ".tar") || strings.HasPrefix(kind, "+")
}

// checkLayers checks what a manifest says about its files.
func checkLayers(layers []descriptor) error {
	if len(layers) == 0 {
		return bad(tenon.ErrInvalid, "the manifest has no layers")
	}
	seen := map[string]bool{}
	for i, l := range layers {
		name := nameOf(l)
		if name == "" {
			return bad(tenon.ErrUnsupported, "layer %d (%s) has no file name", i, l.MediaType)
		}
		if err := relpath.Check(name); err != nil {
			return err
		}
		if isPacked(l) {
			return bad(tenon.ErrUnsupported, "%s is packed as %s; push it unpacked", name, l.MediaType)
		}
		folded := strings.ToLower(name)
		if seen[folded] {
			return fmt.Errorf("the file %q occurs twice", name)
		}
		seen[folded] = true
		if err := l.Digest.Validate(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if l.Size < 0 {
			return fmt.Errorf("%s has %d bytes", name, l.Size)
		}
	}
	return nil
}

// layer brings a layer into the cache, and links to it.
func (c *Client) layer(ctx context.Context, p *place, cache string, l descriptor, to string) error {
	if info, err := os.Stat(to); err == nil && info.Mode().IsRegular() && info.Size() == l.Size {
		return nil
	}
	sum, err := sumOf(l.Digest)
	if err != nil {
		return err
	}
	d := &download{
		to: blobFile(cache, l.Digest), part: filepath.Join(cache, "partial", l.Digest.Encoded()), lock: filepath.Join(cache, "locks", l.Digest.Encoded()),
		size: l.Size, sum: sum, want: l.Digest.Encoded(),
		open: func(ctx context.Context, from int64) (io.ReadCloser, int64, error) {
			return openFrom(ctx, p.target, l, from)
		},
	}
	if err := d.run(ctx); err != nil {
		return err
	}
	return link(d.to, to)
}

// openFrom opens a blob at a position, or at its beginning if the registry does not support
// ranges.
func openFrom(ctx context.Context, t oras.ReadOnlyTarget, l descriptor, from int64) (io.ReadCloser, int64, error) {
	body, err := t.Fetch(ctx, l)
	if err != nil || from == 0 {
		return body, 0, err
	}
	if s, ok := body.(io.Seeker); ok {
		if _, err := s.Seek(from, io.SeekStart); err == nil {
			return body, from, nil
		}
		body.Close()
		if body, err = t.Fetch(ctx, l); err != nil {
			return nil, 0, err
		}
	}
	return body, 0, nil
}

// link makes a hard link to a file, or copies it if the file system does not support links.
func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	err := os.Link(from, to)
	if err == nil {
		return nil
	}
	if errors.Is(err, os.ErrExist) {
		if a, b := stat(from), stat(to); a != nil && b != nil && os.SameFile(a, b) {
			return nil
		}
	}
	return copyFile(from, to, "")
}

func stat(name string) os.FileInfo {
	info, _ := os.Stat(name)
	return info
}
