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

// A Client keeps models in registries and fetches them. The zero value asks with the
// credentials of docker login and keeps what it fetches in the user's cache. A Client
// is safe for concurrent use as long as its fields are not changed.
type Client struct {
	Cache     string            // folder of the cache; "" for that of the user
	Offline   bool              // take everything from the cache; $HF_HUB_OFFLINE sets it for Hugging Face
	PlainHTTP bool              // ask registries on other machines without TLS, too
	Transport http.RoundTripper // carries requests; nil for [http.DefaultTransport]
	Files     []string          // patterns of [path.Match] for the files that are fetched; all where there are none

	// Credential returns the user name and password for a registry, both "" for none.
	// Nil: those that docker login has kept.
	Credential func(ctx context.Context, host string) (user, password string, err error)
}

// A place is a reference that was taken apart.
type place struct {
	target oras.Target
	host   string // of a registry
	name   string // of the repository, or a folder
	ref    string // a tag or a digest; "" where none was given
}

// tags is what targets have beside what package oras asks of all.
type tags interface {
	Tags(ctx context.Context, last string, fn func(tags []string) error) error
}

// failure makes an error of one that happened in an operation on a reference.
func failure(op, ref string, err error) error {
	if err == nil {
		return nil
	}
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "hub." + op, Where: ref, Err: err, Line: source.Line()}
	var inner *tenon.Error
	switch {
	case errors.As(err, &inner):
		e.Kind, e.Hint = inner.Kind, inner.Hint
	case errors.Is(err, errdef.ErrNotFound) || os.IsNotExist(err):
		e.Kind = tenon.ErrNotFound
	}
	return e
}

// bad is an error with a kind of its own.
func bad(kind error, format string, args ...any) error {
	return &tenon.Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// place takes a reference apart. Nothing is asked of a network.
func (c *Client) place(ref string) (*place, error) {
	if folder, ok := strings.CutPrefix(ref, "oci:"); ok {
		return layout(folder)
	}
	if strings.HasPrefix(ref, "hf:") {
		return nil, bad(tenon.ErrUnsupported, "repositories of Hugging Face are only read")
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

// Bounds to what a registry may make a client do.
const (
	maxPages    = 10_000  // of a list
	maxManifest = 4 << 20 // bytes
)

// layout opens a folder in OCI's layout. The folder's name ends at the last colon, or at
// the @ before a digest.
func layout(text string) (*place, error) {
	folder, ref, ok := strings.Cut(text, "@")
	if !ok {
		if i := strings.LastIndexByte(text, ':'); i > 1 { // not that of a drive
			folder, ref = text[:i], text[i+1:]
		}
	}
	if folder == "" {
		return nil, bad(tenon.ErrInvalid, "no folder is named")
	}
	store, err := oci.New(folder)
	if err != nil {
		return nil, err
	}
	return &place{target: store, name: folder, ref: ref}, nil
}

// plain reports whether a registry is asked without TLS.
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
		return nil, fmt.Errorf("the credentials of docker login: %w", err)
	}
	out.Credential = credentials.Credential(store)
	return out, nil
}

// noNetwork refuses all requests.
type noNetwork struct{}

var errOffline = &tenon.Error{Kind: tenon.ErrNotFound, Msg: "it is not in the cache, and the client is offline", Hint: "fetch it once without Offline"}

// RoundTrip fails.
func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) { return nil, errOffline }

// tagOf returns the tag of a reference that is written to.
func (p *place) tagOf() (string, error) {
	switch {
	case p.ref == "":
		return "latest", nil
	case strings.Contains(p.ref, ":"):
		return "", bad(tenon.ErrInvalid, "a digest is no name for a model that is written; leave it out or give a tag")
	}
	return p.ref, registry.Reference{Reference: p.ref}.ValidateReferenceAsTag()
}

// refOf returns the tag or digest of a reference that is read.
func (p *place) refOf() string {
	if p.ref == "" {
		return "latest"
	}
	return p.ref
}

// Push writes the files of a model, a folder or a ZIP file, to a registry and gives them a
// tag (latest, where the reference has none). It returns the digest of the manifest, with
// which [Client.Fetch] gets these files and no others. What the registry has already is not
// sent again. Any folder of regular files can be pushed.
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

// PushModel writes a model to a registry, as [Client.Push] does.
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

// Resolve returns the digest that a reference stands for now.
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

// Tag gives what a reference stands for more tags.
func (c *Client) Tag(ctx context.Context, ref string, tags ...string) error {
	p, err := c.place(ref)
	if err != nil {
		return failure("Tag", ref, err)
	}
	for _, t := range tags {
		if _, err := (&place{ref: t}).tagOf(); t == "" || err != nil {
			return failure("Tag", ref, bad(tenon.ErrInvalid, "%q is no tag", t))
		}
	}
	_, err = oras.TagN(ctx, p.target, p.refOf(), tags, oras.DefaultTagNOptions)
	return failure("Tag", ref, err)
}

// Copy copies a model to another place, with all that belongs to it and without changing
// a byte, so that the digest stays the same. It returns the digest. From Hugging Face, the
// files are fetched and packed.
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

// List returns the tags of a repository, and the names of all repositories where only a
// registry is named. They are in order.
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
