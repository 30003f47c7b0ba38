package hub

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/atomicfile"
	"github.com/tenonml/tenon/internal/relpath"
)

// hugging is a revision of a Hugging Face repository.
type hugging struct {
	client   *Client
	http     *http.Client
	endpoint string
	token    string
	offline  bool

	repo, revision string
	commit         string // to which the revision refers
	hub            string // the folder of the cache
	files          []string
}

var (
	huggingName = form(`^([A-Za-z0-9][A-Za-z0-9._-]{0,95}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,95}$`)
	commitName  = form(`^[0-9a-f]{40}$`)
	etagName    = form(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
)

// hugging parses a reference without its prefix hf:.
func (c *Client) hugging(text string) (*hugging, error) {
	repo, revision, ok := strings.Cut(text, "@")
	if !ok {
		revision = "main"
	}
	if !huggingName().MatchString(repo) || strings.Contains(repo, "..") || strings.Contains(repo, "--") {
		return nil, bad(tenon.ErrInvalid, "%q is not the name of a repository", repo)
	}
	if err := relpath.Check(revision); err != nil {
		return nil, bad(tenon.ErrInvalid, "%q is not a revision", revision)
	}
	h := &hugging{client: c, endpoint: "https://huggingface.co", repo: repo, revision: revision}
	if e := os.Getenv("HF_ENDPOINT"); e != "" {
		h.endpoint = strings.TrimRight(e, "/")
	}
	home := os.Getenv("HF_HOME")
	if home == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			dir, err := os.UserHomeDir()
			if err != nil {
				return nil, err
			}
			cache = filepath.Join(dir, ".cache")
		}
		home = filepath.Join(cache, "huggingface")
	}
	if h.hub = os.Getenv("HF_HUB_CACHE"); h.hub == "" {
		h.hub = filepath.Join(home, "hub")
	}
	switch strings.ToUpper(os.Getenv("HF_HUB_OFFLINE")) {
	case "1", "ON", "YES", "TRUE":
		h.offline = true
	}
	h.offline = h.offline || c.Offline
	if h.token = os.Getenv("HF_TOKEN"); h.token == "" {
		b, _ := os.ReadFile(filepath.Join(home, "token"))
		h.token = strings.TrimSpace(string(b))
	}
	h.http = &http.Client{Transport: c.Transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 10 {
			return fmt.Errorf("more than 10 redirections")
		}
		if req.URL.Host != via[0].URL.Host {
			req.Header.Del("Authorization") // do not give the token to other hosts
		}
		return nil
	}}
	return h, nil
}

// folder returns the folder of the repository in the cache.
func (h *hugging) folder() string {
	return filepath.Join(h.hub, "models--"+strings.ReplaceAll(h.repo, "/", "--"))
}

// resolve finds the commit of the revision and its files.
func (h *hugging) resolve(ctx context.Context) error {
	if commitName().MatchString(h.revision) {
		h.commit = h.revision
	}
	kept := filepath.Join(h.folder(), "refs", filepath.FromSlash(h.revision))
	if h.offline {
		if h.commit == "" {
			b, err := os.ReadFile(kept)
			if h.commit = strings.TrimSpace(string(b)); err != nil || !commitName().MatchString(h.commit) {
				return errOffline
			}
		}
		return nil
	}
	body, err := h.get(ctx, h.endpoint+"/api/models/"+h.repo+"/revision/"+url.PathEscape(h.revision))
	if err != nil {
		return err
	}
	defer body.Close()
	var info struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	if err := json.NewDecoder(io.LimitReader(body, 64<<20)).Decode(&info); err != nil {
		return err
	}
	if !commitName().MatchString(info.SHA) || h.commit != "" && h.commit != info.SHA {
		return fmt.Errorf("the hub gives %[2]q as the commit of the revision %[1]s", h.revision, info.SHA)
	}
	for _, s := range info.Siblings {
		if err := relpath.Check(s.Name); err != nil {
			return err
		}
		h.files = append(h.files, s.Name)
	}
	if h.commit != "" {
		return nil // a commit needs no ref
	}
	h.commit = info.SHA
	if err := os.MkdirAll(filepath.Dir(kept), 0o777); err != nil {
		return err
	}
	return atomicfile.Replace(kept, func(w io.Writer) error { _, err := io.WriteString(w, h.commit); return err })
}

// request requests a file from the hub.
func (h *hugging) request(ctx context.Context, method, address string, from int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "tenon")
	req.Header.Set("Accept-Encoding", "identity") // lengths must be those of the file
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	if from > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(from, 10)+"-")
	}
	client := h.http
	if method == http.MethodHead { // the headers are in the first answer, not in that of another host
		c := *h.http
		c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
			if req.URL.Host != via[0].URL.Host || len(via) > 10 {
				return http.ErrUseLastResponse
			}
			return nil
		}
		client = &c
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	switch s := resp.StatusCode; {
	case s < 300, s < 400 && method == http.MethodHead:
		return resp, nil
	case s == http.StatusNotFound:
		err = bad(tenon.ErrNotFound, "%s: %s", address, resp.Status)
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		err = &tenon.Error{Kind: tenon.ErrInvalid, Msg: address + ": " + resp.Status, Hint: "set HF_TOKEN, or accept the model's terms"}
	default:
		err = fmt.Errorf("%s: %s", address, resp.Status)
	}
	resp.Body.Close()
	return nil, err
}

func (h *hugging) get(ctx context.Context, address string) (io.ReadCloser, error) {
	resp, err := h.request(ctx, http.MethodGet, address, 0)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// fetchHugging returns the folder with the files of a revision.
func (c *Client) fetchHugging(ctx context.Context, text string) (string, error) {
	h, err := c.hugging(text)
	if err != nil {
		return "", err
	}
	if err := h.resolve(ctx); err != nil {
		return "", err
	}
	dir := filepath.Join(h.folder(), "snapshots", h.commit)
	if h.offline {
		if _, err := os.Stat(dir); err != nil {
			return "", errOffline
		}
		return dir, nil
	}
	var jobs []func(ctx context.Context) error
	for _, name := range h.files {
		if !c.wants(name) {
			continue
		}
		jobs = append(jobs, func(ctx context.Context) error {
			if err := h.file(ctx, name, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	if len(jobs) == 0 {
		return "", bad(tenon.ErrNotFound, "none of %d files matches Client.Files", len(h.files))
	}
	return dir, sideBySide(ctx, jobs)
}

// file brings a file into the cache.
func (h *hugging) file(ctx context.Context, name, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil // a commit does not change
	}
	address := h.endpoint + "/" + h.repo + "/resolve/" + h.commit + "/" + escaped(name)
	resp, err := h.request(ctx, http.MethodHead, address, 0)
	if err != nil {
		return err
	}
	resp.Body.Close()
	etag := resp.Header.Get("X-Linked-Etag")
	if etag == "" {
		etag = resp.Header.Get("Etag")
	}
	etag = strings.Trim(strings.TrimPrefix(etag, "W/"), `"`)
	size := resp.ContentLength
	if s := resp.Header.Get("X-Linked-Size"); s != "" {
		if size, err = strconv.ParseInt(s, 10, 64); err != nil {
			return err
		}
	}
	if c := resp.Header.Get("X-Repo-Commit"); c != h.commit || !etagName().MatchString(etag) || strings.Contains(etag, "..") || size < 0 {
		return fmt.Errorf("the hub's answer is incomplete: commit %q, etag %q, %d bytes", c, etag, size)
	}
	blob := filepath.Join(h.folder(), "blobs", etag)
	d := &download{to: blob, part: blob + ".incomplete", size: size, want: etag,
		lock: filepath.Join(h.hub, ".locks", filepath.Base(h.folder()), etag+".lock"),
		open: func(ctx context.Context, from int64) (io.ReadCloser, int64, error) {
			resp, err := h.request(ctx, http.MethodGet, address, from)
			if err != nil {
				return nil, 0, err
			}
			if resp.StatusCode != http.StatusPartialContent {
				from = 0
			}
			return resp.Body, from, nil
		}}
	switch len(etag) { // SHA-256 for git-lfs, SHA-1 for git
	case 64:
		d.sum = sha256.New
	case 40:
		d.sum = gitSum(size)
	default:
		return bad(tenon.ErrUnsupported, "the etag %q is not a digest", etag)
	}
	if err := d.run(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	rel, err := filepath.Rel(filepath.Dir(to), blob)
	if err != nil {
		return err
	}
	if err := os.Symlink(rel, to); err == nil || os.IsExist(err) {
		return nil
	}
	return copyFile(blob, to, "")
}

// escaped escapes a path for an address.
func escaped(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
