package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"
)

// ServerOptions are the options of [NewServer].
type ServerOptions struct {
	ReadOnly bool  // reject changes
	MaxBlob  int64 // maximum size of a file in bytes; 0: no limit
}

// A Server is a registry that stores its data in a folder, for tests, CI, and machines without
// a network. It implements OCI's distribution API
// (https://github.com/opencontainers/distribution-spec), with ranges, chunked uploads, mounts,
// referrers and deletion. It does not authenticate clients: if others can reach it, wrap it in
// a handler that does. It is safe for concurrent use, but a folder must have only one Server.
type Server struct {
	opts ServerOptions
	s    *store
}

// NewServer returns a registry for a folder, which is created if necessary. Deleting a manifest
// or blob does not remove the bytes from the folder, because other repositories may share them.
func NewServer(dir string, opts ServerOptions) (*Server, error) {
	s, err := openStore(dir)
	if err != nil {
		return nil, failure("NewServer", dir, err)
	}
	return &Server{opts, s}, nil
}

// Close releases the folder.
func (s *Server) Close() error { return s.s.root.Close() }

// A problem is an error with a code that clients of registries know.
type problem struct {
	status int
	code   string
	text   string
}

// Error returns the text.
func (p *problem) Error() string { return p.text }

func refuse(status int, code, format string, args ...any) error {
	return &problem{status, code, fmt.Sprintf(format, args...)}
}

// routes are the parts of a path after the name of a repository.
var routes = []struct {
	form   func() *regexp.Regexp
	handle func(s *Server, r *request) error
}{
	{form(`^(.+)/blobs/uploads/?$`), (*Server).begin},
	{form(`^(.+)/blobs/uploads/([^/]+)$`), (*Server).upload},
	{form(`^(.+)/blobs/([^/]+)$`), (*Server).blob},
	{form(`^(.+)/manifests/([^/]+)$`), (*Server).manifest},
	{form(`^(.+)/tags/(list)$`), (*Server).tags},
	{form(`^(.+)/referrers/([^/]+)$`), (*Server).referrers},
}

// request is a request to a repository.
type request struct {
	*http.Request
	w    http.ResponseWriter
	repo string
	last string // the last element of the path
}

// ServeHTTP answers a request of the distribution API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	err := s.serve(w, r)
	if err == nil {
		return
	}
	p := &problem{http.StatusInternalServerError, "UNKNOWN", err.Error()}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
	case errors.As(err, &tooLarge):
		p = &problem{http.StatusRequestEntityTooLarge, "SIZE_INVALID", err.Error()}
	}
	body, _ := json.Marshal(map[string]any{"errors": []any{map[string]any{"code": p.code, "message": p.text}}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	if r.Method != http.MethodHead {
		w.Write(body)
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	if s.opts.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return refuse(http.StatusMethodNotAllowed, "DENIED", "this registry is read-only")
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/v2/")
	switch {
	case r.URL.Path == "/v2" || ok && rest == "":
		return writeJSON(w, "application/json", map[string]any{})
	case !ok:
		return refuse(http.StatusNotFound, "NAME_UNKNOWN", "the paths of a registry begin with /v2/")
	case rest == "_catalog":
		return s.catalog(w, r)
	}
	for _, route := range routes {
		m := route.form().FindStringSubmatch(rest)
		if m == nil {
			continue
		}
		q := &request{Request: r, w: w, repo: m[1]}
		if len(m) > 2 {
			q.last = m[2]
		}
		if err := (registry.Reference{Registry: "x", Repository: q.repo}).ValidateRepository(); err != nil || len(q.repo) > 255 {
			return refuse(http.StatusBadRequest, "NAME_INVALID", "%q is not the name of a repository", q.repo)
		}
		return route.handle(s, q)
	}
	return refuse(http.StatusNotFound, "NAME_UNKNOWN", "there is nothing at %s", r.URL.Path)
}

func writeJSON(w http.ResponseWriter, mediaType string, x any) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
	return nil
}

func notAllowed(r *request) error {
	return refuse(http.StatusMethodNotAllowed, "UNSUPPORTED", "%s is not allowed here", r.Method)
}

// digestOf parses a digest in a request.
func digestOf(text string) (digest.Digest, error) {
	d, err := digest.Parse(text)
	if err == nil {
		_, err = sumOf(d)
	}
	if err != nil {
		return "", refuse(http.StatusBadRequest, "DIGEST_INVALID", "%q is not a digest", text)
	}
	return d, nil
}

// blob serves a blob, or deletes it from a repository.
func (s *Server) blob(r *request) error {
	d, err := digestOf(r.last)
	if err != nil {
		return err
	}
	if !s.s.has(r.repo, kindBlob, d) {
		return refuse(http.StatusNotFound, "BLOB_UNKNOWN", "%s has no blob %s", r.repo, d)
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return s.content(r, d, "application/octet-stream")
	case http.MethodDelete:
		if err := s.s.forget(r.repo, kindBlob, d); err != nil {
			return err
		}
		r.w.WriteHeader(http.StatusAccepted)
		return nil
	}
	return notAllowed(r)
}

// content writes bytes, or the requested range of them.
func (s *Server) content(r *request, d digest.Digest, mediaType string) error {
	f, err := s.s.root.Open(blobPath(d))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r.w.Header().Set("Docker-Content-Digest", d.String())
	r.w.Header().Set("Content-Type", mediaType)
	r.w.Header().Set("ETag", `"`+d.String()+`"`)
	http.ServeContent(r.w, r.Request, "", info.ModTime(), f)
	return nil
}

// manifest serves, stores or deletes a manifest.
func (s *Server) manifest(r *request) error {
	switch r.Method {
	case http.MethodPut:
		return s.putManifest(r)
	case http.MethodGet, http.MethodHead:
		d, err := s.find(r)
		if err != nil {
			return err
		}
		mediaType, err := s.s.mark(r.repo, kindManifest, d)
		if err != nil {
			return refuse(http.StatusNotFound, "MANIFEST_UNKNOWN", "%s has no manifest %s", r.repo, d)
		}
		return s.content(r, d, mediaType)
	case http.MethodDelete:
		if !strings.Contains(r.last, ":") {
			if err := s.s.untag(r.repo, r.last); err != nil {
				return refuse(http.StatusNotFound, "MANIFEST_UNKNOWN", "%s has no tag %s", r.repo, r.last)
			}
		} else {
			d, err := s.find(r)
			if err != nil {
				return err
			}
			if err := s.s.forgetManifest(r.repo, d); err != nil {
				return err
			}
		}
		r.w.WriteHeader(http.StatusAccepted)
		return nil
	}
	return notAllowed(r)
}

// find returns the digest of a manifest by its tag or digest.
func (s *Server) find(r *request) (digest.Digest, error) {
	if !strings.Contains(r.last, ":") {
		d, err := s.s.tagged(r.repo, r.last)
		if err != nil {
			return "", refuse(http.StatusNotFound, "MANIFEST_UNKNOWN", "%s has no tag %s", r.repo, r.last)
		}
		return d, nil
	}
	d, err := digestOf(r.last)
	if err == nil && !s.s.has(r.repo, kindManifest, d) {
		err = refuse(http.StatusNotFound, "MANIFEST_UNKNOWN", "%s has no manifest %s", r.repo, d)
	}
	return d, err
}

// A document has the parts of manifests and indices that the registry reads.
type document struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType"`
	Config       *v1.Descriptor    `json:"config"`
	Layers       []v1.Descriptor   `json:"layers"`
	Blobs        []v1.Descriptor   `json:"blobs"`
	Manifests    []v1.Descriptor   `json:"manifests"`
	Subject      *v1.Descriptor    `json:"subject"`
	Annotations  map[string]string `json:"annotations"`
}

// putManifest stores a manifest. All its parts must be stored already.
func (s *Server) putManifest(r *request) error {
	text, err := io.ReadAll(http.MaxBytesReader(r.w, r.Body, maxManifest))
	if err != nil {
		return err
	}
	d := digest.FromBytes(text)
	tag := r.last
	if strings.Contains(tag, ":") {
		want, err := digestOf(tag)
		if err != nil {
			return err
		}
		if d, tag = want.Algorithm().FromBytes(text), ""; d != want {
			return refuse(http.StatusBadRequest, "DIGEST_INVALID", "the manifest has the digest %s, not %s", d, want)
		}
	} else if (registry.Reference{Reference: tag}).ValidateReferenceAsTag() != nil {
		return refuse(http.StatusBadRequest, "TAG_INVALID", "%q is not a tag", tag)
	}
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		return refuse(http.StatusBadRequest, "MANIFEST_INVALID", "the manifest is not JSON: %v", err)
	}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType == "" {
		mediaType = doc.MediaType
	}
	if mediaType == "" || doc.MediaType != "" && doc.MediaType != mediaType {
		return refuse(http.StatusBadRequest, "MANIFEST_INVALID", "the manifest is a %q, but was sent as a %q", doc.MediaType, mediaType)
	}
	if err := s.complete(r.repo, &doc); err != nil {
		return err
	}
	if err := s.s.putManifest(r.repo, d, text, mediaType, tag); err != nil {
		return err
	}
	if doc.Subject != nil {
		if doc.Subject.Digest.Validate() != nil {
			return refuse(http.StatusBadRequest, "MANIFEST_INVALID", "the subject has no digest")
		}
		about := v1.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(text)), ArtifactType: doc.ArtifactType, Annotations: doc.Annotations}
		if about.ArtifactType == "" && doc.Config != nil {
			about.ArtifactType = doc.Config.MediaType
		}
		if err := s.s.refer(r.repo, doc.Subject.Digest, about); err != nil {
			return err
		}
		r.w.Header().Set("OCI-Subject", doc.Subject.Digest.String())
	}
	r.w.Header().Set("Docker-Content-Digest", d.String())
	r.w.Header().Set("Location", "/v2/"+r.repo+"/manifests/"+d.String())
	r.w.WriteHeader(http.StatusCreated)
	return nil
}

// complete checks that everything that a manifest names is stored.
func (s *Server) complete(repo string, doc *document) error {
	blobs := slices.Concat(doc.Layers, doc.Blobs)
	if doc.Config != nil {
		blobs = append(blobs, *doc.Config)
	}
	for _, b := range blobs {
		if b.Digest.Validate() != nil || !s.s.has(repo, kindBlob, b.Digest) && len(b.URLs) == 0 {
			return refuse(http.StatusNotFound, "MANIFEST_BLOB_UNKNOWN", "%s has no blob %s, which the manifest names", repo, b.Digest)
		}
	}
	for _, m := range doc.Manifests {
		if m.Digest.Validate() != nil || !s.s.has(repo, kindManifest, m.Digest) {
			return refuse(http.StatusNotFound, "MANIFEST_BLOB_UNKNOWN", "%s has no manifest %s, which the index names", repo, m.Digest)
		}
	}
	return nil
}

// tags lists the tags of a repository.
func (s *Server) tags(r *request) error {
	if r.Method != http.MethodGet {
		return notAllowed(r)
	}
	all, err := s.s.tags(r.repo)
	if err != nil {
		return refuse(http.StatusNotFound, "NAME_UNKNOWN", "there is no repository %s", r.repo)
	}
	list, err := page(r.w, r.Request, all)
	if err != nil {
		return err
	}
	return writeJSON(r.w, "application/json", map[string]any{"name": r.repo, "tags": list})
}

// catalog lists the repositories.
func (s *Server) catalog(w http.ResponseWriter, r *http.Request) error {
	all, err := s.s.repositories()
	if err != nil {
		return err
	}
	list, err := page(w, r, all)
	if err != nil {
		return err
	}
	return writeJSON(w, "application/json", map[string]any{"repositories": list})
}

// page returns the part of a sorted list that the parameters n and last select, and adds a link
// to the next part.
func page(w http.ResponseWriter, r *http.Request, all []string) ([]string, error) {
	q := r.URL.Query()
	if last := q.Get("last"); last != "" {
		i, ok := slices.BinarySearch(all, last)
		if ok {
			i++
		}
		all = all[i:]
	}
	if text := q.Get("n"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, refuse(http.StatusBadRequest, "PAGINATION_NUMBER_INVALID", "n is %q, want a number that is not negative", text)
		}
		if n < len(all) {
			all = all[:n]
			if n > 0 {
				next := url.Values{"n": {text}, "last": {all[n-1]}}
				w.Header().Set("Link", fmt.Sprintf(`<%s?%s>; rel="next"`, r.URL.Path, next.Encode()))
			}
		}
	}
	if all == nil {
		all = []string{}
	}
	return all, nil
}

// referrers lists the manifests that refer to another one.
func (s *Server) referrers(r *request) error {
	if r.Method != http.MethodGet {
		return notAllowed(r)
	}
	d, err := digestOf(r.last)
	if err != nil {
		return err
	}
	list, err := s.s.referrers(r.repo, d)
	if err != nil {
		return err
	}
	if want := r.URL.Query().Get("artifactType"); want != "" {
		list = slices.DeleteFunc(list, func(d v1.Descriptor) bool { return d.ArtifactType != want })
		r.w.Header().Set("OCI-Filters-Applied", "artifactType")
	}
	return writeJSON(r.w, v1.MediaTypeImageIndex, v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, Manifests: list})
}

// begin starts an upload, stores a blob in one request, or mounts one of another repository.
func (s *Server) begin(r *request) error {
	if r.Method != http.MethodPost {
		return notAllowed(r)
	}
	q := r.URL.Query()
	if mount := q.Get("mount"); mount != "" {
		if d, err := digestOf(mount); err == nil {
			from := q.Get("from")
			valid := (registry.Reference{Registry: "x", Repository: from}).ValidateRepository() == nil
			if valid && s.s.has(from, kindBlob, d) {
				if err := s.s.remember(r.repo, kindBlob, d, ""); err != nil {
					return err
				}
				return r.created(d)
			}
		}
	}
	id, err := s.s.newUpload(r.repo)
	if err != nil {
		return err
	}
	if q.Get("digest") != "" {
		r.last = id
		return s.finish(r)
	}
	return r.uploading(id, 0, http.StatusAccepted)
}

// created answers that a blob is stored.
func (r *request) created(d digest.Digest) error {
	r.w.Header().Set("Docker-Content-Digest", d.String())
	r.w.Header().Set("Location", "/v2/"+r.repo+"/blobs/"+d.String())
	r.w.WriteHeader(http.StatusCreated)
	return nil
}

// uploading answers how far an upload has progressed.
func (r *request) uploading(id string, n int64, status int) error {
	r.w.Header().Set("Location", "/v2/"+r.repo+"/blobs/uploads/"+id)
	r.w.Header().Set("Docker-Upload-UUID", id)
	r.w.Header().Set("Range", "0-"+strconv.FormatInt(max(n-1, 0), 10))
	r.w.WriteHeader(status)
	return nil
}

// upload continues an upload.
func (s *Server) upload(r *request) error {
	if !s.s.isUpload(r.repo, r.last) {
		return refuse(http.StatusNotFound, "BLOB_UPLOAD_UNKNOWN", "there is no upload %s", path.Base(r.last))
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		n, err := s.s.uploaded(r.repo, r.last)
		if err != nil {
			return err
		}
		return r.uploading(r.last, n, http.StatusNoContent)
	case http.MethodPatch:
		n, err := s.piece(r)
		if err != nil {
			return err
		}
		return r.uploading(r.last, n, http.StatusAccepted)
	case http.MethodPut:
		return s.finish(r)
	case http.MethodDelete:
		if err := s.s.endUpload(r.repo, r.last); err != nil {
			return err
		}
		r.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return notAllowed(r)
}

// piece appends the body to an upload and returns the upload's size.
func (s *Server) piece(r *request) (int64, error) {
	from := int64(-1)
	if text := r.Header.Get("Content-Range"); text != "" {
		first, last, ok := strings.Cut(strings.TrimPrefix(text, "bytes "), "-")
		last, _, _ = strings.Cut(last, "/")
		a, err := strconv.ParseInt(first, 10, 64)
		b, err2 := strconv.ParseInt(last, 10, 64)
		if !ok || err != nil || err2 != nil || a < 0 || b < a || r.ContentLength >= 0 && b-a+1 != r.ContentLength {
			return 0, refuse(http.StatusRequestedRangeNotSatisfiable, "BLOB_UPLOAD_INVALID", "the range %q is invalid, or is not that of the body", text)
		}
		from = a
	}
	n, err := s.s.appendUpload(r.repo, r.last, from, r.Body, s.opts.MaxBlob)
	if errors.Is(err, errRange) {
		return 0, refuse(http.StatusRequestedRangeNotSatisfiable, "BLOB_UPLOAD_INVALID", "the upload has %d bytes, but the chunk begins at %d", n, from)
	}
	if errors.Is(err, errTooLarge) {
		return 0, refuse(http.StatusRequestEntityTooLarge, "SIZE_INVALID", "more than %d bytes", s.opts.MaxBlob)
	}
	if errors.Is(err, errBusy) {
		return 0, refuse(http.StatusConflict, "BLOB_UPLOAD_INVALID", "another chunk is being received")
	}
	return n, err
}

// finish turns an upload into a blob.
func (s *Server) finish(r *request) error {
	d, err := digestOf(r.URL.Query().Get("digest"))
	if err != nil {
		return err
	}
	if _, err := s.piece(r); err != nil {
		return err
	}
	got, err := s.s.finishUpload(r.repo, r.last, d)
	if errors.Is(err, errDigest) {
		return refuse(http.StatusBadRequest, "DIGEST_INVALID", "the bytes have the digest %s, not %s", got, d)
	}
	if errors.Is(err, errBusy) {
		return refuse(http.StatusConflict, "BLOB_UPLOAD_INVALID", "a chunk is being received")
	}
	if err != nil {
		return err
	}
	return r.created(d)
}
