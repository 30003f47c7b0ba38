package hub

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// A store is the folder of a registry:
//
//	blobs/sha256/HEX                           bytes, of all repositories
//	repositories/NAME/_blobs/sha256/HEX        the repository has this blob
//	repositories/NAME/_manifests/sha256/HEX    … this manifest; the file holds its media type
//	repositories/NAME/_tags/TAG                the file holds a digest
//	repositories/NAME/_referrers/…/…           descriptors of manifests about another one
//	repositories/NAME/_uploads/ID              bytes that are arriving
//	temporary/ID                               files before they have their names
//
// Names of repositories and tags have no part that begins with an underscore.
type store struct {
	root *os.Root

	mu   sync.Mutex
	busy map[string]bool // uploads that are being written to
}

const (
	kindBlob     = "_blobs"
	kindManifest = "_manifests"
)

var (
	errRange    = errors.New("the chunk is out of order")
	errTooLarge = errors.New("too many bytes")
	errBusy     = errors.New("another request is writing to it")
	errDigest   = errors.New("the digest differs")
)

func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &store{root: root, busy: map[string]bool{}}
	for _, d := range []string{"blobs", "repositories", "temporary"} {
		if err := root.MkdirAll(d, 0o777); err != nil {
			return nil, errors.Join(err, root.Close())
		}
	}
	return s, nil
}

func blobPath(d digest.Digest) string {
	return path.Join("blobs", d.Algorithm().String(), d.Encoded())
}

func repoPath(repo string, parts ...string) string {
	return path.Join(append([]string{"repositories", repo}, parts...)...)
}

func markPath(repo, kind string, d digest.Digest) string {
	return repoPath(repo, kind, d.Algorithm().String(), d.Encoded())
}

// put writes a small file atomically.
func (s *store) put(name, text string) error {
	temp := path.Join("temporary", rand.Text())
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.move(temp, name)
	}
	if err != nil {
		s.root.Remove(temp)
	}
	return err
}

// move gives a file its final name.
func (s *store) move(from, to string) error {
	if err := s.root.MkdirAll(path.Dir(to), 0o777); err != nil {
		return err
	}
	return s.root.Rename(from, to)
}

// has reports whether a repository has a blob or a manifest.
func (s *store) has(repo, kind string, d digest.Digest) bool {
	if d.Validate() != nil {
		return false
	}
	if _, err := s.root.Stat(markPath(repo, kind, d)); err != nil {
		return false
	}
	_, err := s.root.Stat(blobPath(d))
	return err == nil
}

// mark returns what a repository stores about a blob or manifest.
func (s *store) mark(repo, kind string, d digest.Digest) (string, error) {
	b, err := s.root.ReadFile(markPath(repo, kind, d))
	return string(b), err
}

// remember adds a blob or manifest that is in the store to a repository.
func (s *store) remember(repo, kind string, d digest.Digest, text string) error {
	return s.put(markPath(repo, kind, d), text)
}

// forget removes a blob or manifest from a repository.
func (s *store) forget(repo, kind string, d digest.Digest) error {
	return s.root.Remove(markPath(repo, kind, d))
}

// putManifest adds a manifest to a repository, under a tag if there is one.
func (s *store) putManifest(repo string, d digest.Digest, text []byte, mediaType, tag string) error {
	if err := s.put(blobPath(d), string(text)); err != nil {
		return err
	}
	if err := s.remember(repo, kindManifest, d, mediaType); err != nil || tag == "" {
		return err
	}
	return s.put(repoPath(repo, "_tags", tag), d.String())
}

// forgetManifest removes a manifest and its tags from a repository.
func (s *store) forgetManifest(repo string, d digest.Digest) error {
	tags, err := s.tags(repo)
	if err != nil {
		return err
	}
	for _, t := range tags {
		if at, err := s.tagged(repo, t); err == nil && at == d {
			if err := s.untag(repo, t); err != nil {
				return err
			}
		}
	}
	if text, err := s.root.ReadFile(blobPath(d)); err == nil {
		var doc document
		if json.Unmarshal(text, &doc) == nil && doc.Subject != nil && doc.Subject.Digest.Validate() == nil {
			s.root.Remove(referrerPath(repo, doc.Subject.Digest, d))
		}
	}
	return s.forget(repo, kindManifest, d)
}

// tagged returns the digest to which a tag refers.
func (s *store) tagged(repo, tag string) (digest.Digest, error) {
	if !plainName().MatchString(tag) {
		return "", fs.ErrNotExist
	}
	b, err := s.root.ReadFile(repoPath(repo, "_tags", tag))
	if err != nil {
		return "", err
	}
	return digest.Parse(string(b))
}

func (s *store) untag(repo, tag string) error {
	if !plainName().MatchString(tag) {
		return fs.ErrNotExist
	}
	return s.root.Remove(repoPath(repo, "_tags", tag))
}

// form returns a function that compiles a regular expression when it is first called, so that
// programs that never use a registry do not compile it.
func form(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// plainName is the form of tags and of uploads.
var plainName = form(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// tags returns the sorted tags of a repository.
func (s *store) tags(repo string) ([]string, error) {
	if _, err := s.root.Stat(repoPath(repo, kindManifest)); err != nil {
		return nil, err
	}
	return s.names(repoPath(repo, "_tags"))
}

// names returns the sorted names of the files in a folder, or none if the folder does not
// exist.
func (s *store) names(dir string) ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// repositories returns the sorted names of all repositories.
func (s *store) repositories() ([]string, error) {
	var names []string
	err := fs.WalkDir(s.root.FS(), "repositories", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || !strings.HasPrefix(d.Name(), "_") {
			return err
		}
		if d.Name() == kindManifest {
			names = append(names, strings.TrimPrefix(path.Dir(name), "repositories/"))
		}
		return fs.SkipDir
	})
	slices.Sort(names)
	return names, err
}

func referrerPath(repo string, subject, d digest.Digest) string {
	return repoPath(repo, "_referrers", subject.Algorithm().String()+"-"+subject.Encoded(), d.Algorithm().String()+"-"+d.Encoded())
}

// refer records that a manifest refers to another one.
func (s *store) refer(repo string, subject digest.Digest, about v1.Descriptor) error {
	b, err := json.Marshal(about)
	if err != nil {
		return err
	}
	return s.put(referrerPath(repo, subject, about.Digest), string(b))
}

// referrers returns the manifests that refer to another one.
func (s *store) referrers(repo string, subject digest.Digest) ([]v1.Descriptor, error) {
	dir := path.Dir(referrerPath(repo, subject, subject))
	names, err := s.names(dir)
	if err != nil {
		return nil, err
	}
	list := []v1.Descriptor{}
	for _, n := range names {
		var d v1.Descriptor
		b, err := s.root.ReadFile(path.Join(dir, n))
		if err == nil {
			err = json.Unmarshal(b, &d)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

func uploadPath(repo, id string) string { return repoPath(repo, "_uploads", id) }

// newUpload starts an upload.
func (s *store) newUpload(repo string) (id string, err error) {
	id = strings.ToLower(rand.Text())
	if err := s.root.MkdirAll(repoPath(repo, "_uploads"), 0o777); err != nil {
		return "", err
	}
	return id, s.root.WriteFile(uploadPath(repo, id), nil, 0o666)
}

// isUpload reports whether an upload was started.
func (s *store) isUpload(repo, id string) bool {
	if !plainName().MatchString(id) {
		return false
	}
	_, err := s.root.Stat(uploadPath(repo, id))
	return err == nil
}

// uploaded returns the number of bytes that have arrived.
func (s *store) uploaded(repo, id string) (int64, error) {
	info, err := s.root.Stat(uploadPath(repo, id))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// claim reserves an upload.
func (s *store) claim(id string) (free func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] {
		return nil, errBusy
	}
	s.busy[id] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.busy, id)
	}, nil
}

// appendUpload appends a chunk that must begin at from, or anywhere if from is -1, and returns
// the size of the upload.
func (s *store) appendUpload(repo, id string, from int64, body io.Reader, most int64) (int64, error) {
	free, err := s.claim(id)
	if err != nil {
		return 0, err
	}
	defer free()
	f, err := s.root.OpenFile(uploadPath(repo, id), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	have := info.Size()
	if from >= 0 && from != have {
		return have, errors.Join(errRange, f.Close())
	}
	if most > 0 {
		body = io.LimitReader(body, most-have+1)
	}
	n, err := io.Copy(f, body)
	if most > 0 && have+n > most {
		err = errors.Join(errTooLarge, f.Truncate(have))
	} else if err != nil {
		f.Truncate(have) // a chunk is stored entirely or not at all
	}
	return have + n, errors.Join(err, f.Close())
}

// finishUpload turns an upload into a blob, if it has the digest.
func (s *store) finishUpload(repo, id string, want digest.Digest) (got digest.Digest, err error) {
	free, err := s.claim(id)
	if err != nil {
		return "", err
	}
	defer free()
	name := uploadPath(repo, id)
	f, err := s.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	sum, err := sumOf(want)
	if err == nil {
		h := sum()
		_, err = io.Copy(h, f)
		got = digest.NewDigest(want.Algorithm(), h)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return got, err
	}
	if got != want {
		s.root.Remove(name)
		return got, errDigest
	}
	if err := s.move(name, blobPath(want)); err != nil {
		return got, fmt.Errorf("cannot store the blob: %w", err)
	}
	return got, s.remember(repo, kindBlob, want, "")
}

// endUpload cancels an upload.
func (s *store) endUpload(repo, id string) error { return s.root.Remove(uploadPath(repo, id)) }
