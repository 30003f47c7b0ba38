package hub

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
	"github.com/tenonml/tenon/model/saved"
)

// A Client stores models in registries and fetches them. The zero value uses the credentials of
// docker login, and the user's cache. A Client is safe for concurrent use as long as its fields
// are not changed.
type Client struct {
	Cache     string            // folder of the cache; "" means the user's
	Offline   bool              // use only what is in the cache; for Hugging Face, $HF_HUB_OFFLINE sets it
	PlainHTTP bool              // use plain HTTP for registries on other machines, too
	Transport http.RoundTripper // carries requests; nil means [http.DefaultTransport]
	Files     []string          // patterns for [path.Match] of the files to fetch; nil: all files

	// Credential returns the user name and password for a registry, or "" for both if there are
	// none. Nil: those stored by docker login.
	Credential func(ctx context.Context, host string) (user, password string, err error)
}

// A place is a parsed reference.
type place struct {
	target oras.Target
	host   string // of a registry
	name   string // of the repository, or of a folder
	ref    string // a tag or a digest; "" if none was given
}

// tags is what targets have in addition to what package oras requires.
type tags interface {
	Tags(ctx context.Context, last string, fn func(tags []string) error) error
}

// failure returns the error of an operation on a reference.
func failure(op, ref string, err error) error {
	if err == nil {
		return nil
	}
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "hub." + op, Where: ref, Err: err, Line: source.Line()}
	var inner *tenon.Error
	switch {
	case errors.As(err, &inner):
		e.Kind = inner.Kind // its text has the hint
	case errors.Is(err, errdef.ErrNotFound) || os.IsNotExist(err):
		e.Kind = tenon.ErrNotFound
	}
	return e
}

// bad returns an error with a kind.
func bad(kind error, format string, args ...any) error {
	return &tenon.Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// place parses a reference. It does not use the network.
func (c *Client) place(ref string) (*place, error) {
	if folder, ok := strings.CutPrefix(ref, "oci:"); ok {
		return layout(folder)
	}
	if strings.HasPrefix(ref, "hf:") {
		return nil, bad(tenon.ErrUnsupported, "repositories of Hugging Face are read-only")
	}
	r, err := registry.ParseReference(ref)
	if err != nil {
		return nil, &tenon.Error{Kind: tenon.ErrInvalid, Err: err, Hint: "a reference is HOST/NAME:TAG, HOST/NAME@DIGEST, oci:FOLDER:TAG or hf:ORG/NAME@REVISION"}
	}
	client, err := c.http()
	if err != nil {
		return nil, err
	}
	repo := &remote.Repository{Client: client, Reference: r, PlainHTTP: c.plain(r.Registry), TagListMaxPages: maxPages}
	return &place{target: repo, host: r.Registry, name: r.Repository, ref: r.Reference}, nil
}

// Limits to what a registry may make a client do.
const (
	maxPages    = 10_000  // of a list
	maxManifest = 4 << 20 // bytes
)

// layout opens a folder in OCI's layout. The name of the folder ends at the last colon, or at
// the @ before a digest.
func layout(text string) (*place, error) {
	folder, ref, ok := strings.Cut(text, "@")
	if !ok {
		if i := strings.LastIndexByte(text, ':'); i > 1 { // a colon that does not belong to a drive letter
			folder, ref = text[:i], text[i+1:]
		}
	}
	if folder == "" {
		return nil, bad(tenon.ErrInvalid, "the reference names no folder")
	}
	store, err := oci.New(folder)
	if err != nil {
		return nil, err
	}
	return &place{target: store, name: folder, ref: ref}, nil
}

// plain reports whether a registry is accessed without TLS.
func (c *Client) plain(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return c.PlainHTTP || name == "localhost" || ip != nil && ip.IsLoopback()
}

// http returns the client for registries.
func (c *Client) http() (*auth.Client, error) {
	var transport http.RoundTripper = noNetwork{}
	if !c.Offline {
		transport = retry.NewTransport(c.Transport)
	}
	out := &auth.Client{Client: &http.Client{Transport: transport}, Cache: auth.NewCache()}
	out.SetUserAgent("tenon")
	if c.Credential != nil {
		out.Credential = func(ctx context.Context, host string) (auth.Credential, error) {
			user, password, err := c.Credential(ctx, host)
			return auth.Credential{Username: user, Password: password}, err
		}
		return out, nil
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{DetectDefaultNativeStore: false})
	if err != nil {
		return nil, fmt.Errorf("cannot read the credentials of docker login: %w", err)
	}
	out.Credential = credentials.Credential(store)
	return out, nil
}

// noNetwork fails all requests.
type noNetwork struct{}

var errOffline = &tenon.Error{Kind: tenon.ErrNotFound, Msg: "it is not in the cache, and the client is offline", Hint: "fetch it once without Offline"}

// RoundTrip fails.
func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) { return nil, errOffline }

// tagOf returns the tag of a reference for writing.
func (p *place) tagOf() (string, error) {
	switch {
	case p.ref == "":
		return "latest", nil
	case strings.Contains(p.ref, ":"):
		return "", bad(tenon.ErrInvalid, "a model cannot be stored under a digest; leave it out or give a tag")
	}
	return p.ref, registry.Reference{Reference: p.ref}.ValidateReferenceAsTag()
}

// refOf returns the tag or digest of a reference for reading.
func (p *place) refOf() string {
	if p.ref == "" {
		return "latest"
	}
	return p.ref
}

// Push writes the files of a model, a folder or a ZIP file, to a registry under a tag, which is
// latest if the reference has none. It returns the digest of the manifest, with which
// [Client.Fetch] gets exactly these files. Files that the registry already has are not sent
// again. Any folder of regular files can be pushed.
func (c *Client) Push(ctx context.Context, path, ref string) (digest string, err error) {
	fsys, end, err := openFiles(path)
	if err != nil {
		return "", failure("Push", path, err)
	}
	defer end()
	src, err := pack(ctx, fsys)
	if err != nil {
		return "", failure("Push", path, err)
	}
	digest, err = c.push(ctx, src, ref)
	return digest, failure("Push", ref, err)
}

// PushModel writes a model to a registry, like [Client.Push].
func (c *Client) PushModel(ctx context.Context, m *saved.Model, ref string) (digest string, err error) {
	temp, err := os.MkdirTemp("", "tenon-hub-*")
	if err != nil {
		return "", failure("PushModel", ref, err)
	}
	defer os.RemoveAll(temp)
	file := filepath.Join(temp, "model.zip")
	if err := m.Save(file); err != nil {
		return "", err
	}
	return c.Push(ctx, file, ref)
}

func (c *Client) push(ctx context.Context, src *packed, ref string) (string, error) {
	to, err := c.place(ref)
	if err != nil {
		return "", err
	}
	tag, err := to.tagOf()
	if err != nil {
		return "", err
	}
	desc, err := oras.Copy(ctx, src, tag, to.target, tag, oras.DefaultCopyOptions)
	return desc.Digest.String(), err
}

// Resolve returns the digest to which a reference currently refers.
func (c *Client) Resolve(ctx context.Context, ref string) (digest string, err error) {
	if name, ok := strings.CutPrefix(ref, "hf:"); ok {
		h, err := c.hugging(name)
		if err == nil {
			err = h.resolve(ctx)
		}
		if err != nil {
			return "", failure("Resolve", ref, err)
		}
		return h.commit, nil
	}
	p, err := c.place(ref)
	if err != nil {
		return "", failure("Resolve", ref, err)
	}
	d, err := c.resolve(ctx, p)
	return d.String(), failure("Resolve", ref, err)
}

// Tag adds tags to the model to which a reference refers.
func (c *Client) Tag(ctx context.Context, ref string, tags ...string) error {
	p, err := c.place(ref)
	if err != nil {
		return failure("Tag", ref, err)
	}
	for _, t := range tags {
		if _, err := (&place{ref: t}).tagOf(); t == "" || err != nil {
			return failure("Tag", ref, bad(tenon.ErrInvalid, "%q is not a tag", t))
		}
	}
	_, err = oras.TagN(ctx, p.target, p.refOf(), tags, oras.DefaultTagNOptions)
	return failure("Tag", ref, err)
}

// Copy copies a model with all its parts to another place. Not a byte changes, so the digest
// stays the same; Copy returns it. Files from Hugging Face are fetched and packed.
func (c *Client) Copy(ctx context.Context, from, to string) (digest string, err error) {
	if strings.HasPrefix(from, "hf:") {
		dir, err := c.Fetch(ctx, from)
		if err != nil {
			return "", err
		}
		src, err := pack(ctx, os.DirFS(dir)) // its files are links to blobs
		if err == nil {
			digest, err = c.push(ctx, src, to)
		}
		return digest, failure("Copy", to, err)
	}
	src, err := c.place(from)
	if err != nil {
		return "", failure("Copy", from, err)
	}
	dst, err := c.place(to)
	if err != nil {
		return "", failure("Copy", to, err)
	}
	tag, err := dst.tagOf()
	if err != nil {
		return "", failure("Copy", to, err)
	}
	opts := oras.DefaultCopyOptions
	if src.host != "" && src.host == dst.host {
		opts.MountFrom = func(context.Context, descriptor) ([]string, error) { return []string{src.name}, nil }
	}
	desc, err := oras.Copy(ctx, src.target, src.refOf(), dst.target, tag, opts)
	return desc.Digest.String(), failure("Copy", from, err)
}

// List returns the tags of a repository or, if only a registry is named, the names of all
// repositories, sorted.
func (c *Client) List(ctx context.Context, where string) (names []string, err error) {
	add := func(page []string) error {
		names = append(names, page...)
		return nil
	}
	if !strings.HasPrefix(where, "oci:") && !strings.Contains(where, "/") {
		var client *auth.Client
		if client, err = c.http(); err == nil {
			r := &remote.Registry{}
			r.Reference, r.Client, r.PlainHTTP = registry.Reference{Registry: where}, client, c.plain(where)
			if err = r.Reference.ValidateRegistry(); err == nil {
				err = r.Repositories(ctx, "", add)
			}
		}
	} else {
		var p *place
		if p, err = c.place(where); err == nil {
			err = p.target.(tags).Tags(ctx, "", add)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), failure("List", where, err)
}

// Open fetches a model and opens it.
func (c *Client) Open(ctx context.Context, ref string) (*saved.Model, error) {
	dir, err := c.Fetch(ctx, ref)
	if err != nil {
		return nil, err
	}
	return saved.OpenModel(dir)
}
