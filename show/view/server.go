package view

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tenonml/tenon/internal/markup"
)

// An Item is a page of a [Server].
type Item struct {
	Name string
	Note string // shown beside the name in lists, such as a type

	// Draw returns the page's fragment. The query holds the reader's choices. Nil: the page has only
	// its list of items.
	Draw func(query url.Values) (string, error)

	// Items are the pages below this one, which the page lists.
	Items []Item

	// Stamp, if it is not nil, returns a text that changes when the page has to be drawn again.
	Stamp func() string
}

// A Server serves items to readers who know its address, which contains a secret. It answers only
// requests to names of the local machine, and no request changes anything.
type Server struct {
	title string
	items []Item
	token string
	every time.Duration
}

// NewServer returns a server of items.
func NewServer(title string, items []Item) *Server {
	secret := make([]byte, 18)
	rand.Read(secret) // never fails
	const often = 500 * time.Millisecond
	return &Server{title: title, items: items, token: base64.RawURLEncoding.EncodeToString(secret), every: often}
}

// URL returns the address of the first page of a server that listens on an address such as
// 127.0.0.1:8000.
func (s *Server) URL(address net.Addr) string {
	return "http://" + address.String() + "/" + s.token + "/"
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", markup.Policy()+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !local(r.Host) {
		http.Error(w, "the host is not a name of this machine", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the pages cannot be changed", http.StatusMethodNotAllowed)
		return
	}
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		http.NotFound(w, r)
		return
	}
	path, live := strings.CutPrefix(path, "live/")
	trail, ok := s.find(path)
	switch {
	case !ok:
		http.NotFound(w, r)
	case live:
		s.live(w, r, trail[len(trail)-1])
	default:
		s.page(w, r, path, trail)
	}
}

// local reports whether a host is a name by which only this machine is known.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if name == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && ip.IsLoopback()
}

// find returns the items along a path of numbers such as 0/3/.
func (s *Server) find(path string) ([]Item, bool) {
	trail := []Item{{Name: s.title, Items: s.items}}
	for step := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if step == "" && path == "" {
			break
		}
		below := trail[len(trail)-1].Items
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(below) {
			return nil, false
		}
		trail = append(trail, below[i])
	}
	return trail, true
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, path string, trail []Item) {
	if path != "" && !strings.HasSuffix(path, "/") {
		http.Redirect(w, r, "/"+s.token+"/"+path+"/", http.StatusMovedPermanently) // links are relative
		return
	}
	item := trail[len(trail)-1]
	stamp, fragment := "", ""
	if item.Stamp != nil {
		stamp = item.Stamp() // before it is drawn: what changes later has another one
	}
	if item.Draw != nil {
		var err error
		if fragment, err = item.Draw(r.URL.Query()); err != nil {
			var m markup.Writer
			fragment = m.Element("p", err.Error(), "class", "bad").String()
		}
	}
	var m markup.Writer
	m.Add(markup.Head(item.Name))
	m.Open("nav", "aria-label", "where this is")
	for i, t := range trail[:len(trail)-1] {
		m.Element("a", t.Name, "href", strings.Repeat("../", len(trail)-1-i))
	}
	m.End().Element("h1", item.Name).Line()
	if item.Stamp != nil {
		m.Open("div", "data-live", "/"+s.token+"/live/"+path+"?stamp="+url.QueryEscape(stamp)).Add(fragment).End()
	} else {
		m.Add(fragment)
	}
	if len(item.Items) > 0 {
		m.Open("ul")
		for i, t := range item.Items {
			m.Open("li").Element("a", t.Name, "href", strconv.Itoa(i)+"/").Text(" ").Element("code", t.Note, "class", "spec").End().Line()
		}
		m.End()
	}
	m.Add(markup.Foot())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if _, err := w.Write([]byte(m.String())); err != nil {
		return // the reader has left
	}
}

// live reports by server-sent events when an item has changed since the page with the given stamp.
func (s *Server) live(w http.ResponseWriter, r *http.Request, item Item) {
	if item.Stamp == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for last, n := r.FormValue("stamp"), 0; ; {
		if _, err := fmt.Fprint(w, ": here\n\n"); err != nil || c.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
		if now := item.Stamp(); now != last {
			last = now
			n++
			if _, err := fmt.Fprintf(w, "data: %d\n\n", n); err != nil {
				return
			}
		}
	}
}
