package serve

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Models by name and version.

// A model is a function in one or several versions. It is immutable; a change replaces it.
type model struct {
	versions []*served // the oldest first
	labels   map[string]string
	from     *source // where it was loaded from; nil for a function of the program
}

// labelPrefix marks a label that is given in place of a version.
const labelPrefix = "label "

func labelVersion(label string) string { return labelPrefix + label }

// defaultSignature is TensorFlow's name for the only signature that models have here.
const defaultSignature = "serving_default"

// of returns a version, or the newest one if none is named.
func (m *model) of(version string) (*served, bool) {
	if version == "" && len(m.versions) > 0 {
		return m.versions[len(m.versions)-1], true
	}
	if label, ok := strings.CutPrefix(version, labelPrefix); ok {
		if version, ok = m.labels[label]; !ok {
			return nil, false
		}
	}
	for _, f := range m.versions {
		if f.version == version {
			return f, true
		}
	}
	if version == anyVersion {
		return m.of("")
	}
	return nil, false
}

// anyVersion is the name by which some clients of TensorFlow Serving request the newest
// version.
const anyVersion = "0"

// byAge compares versions: numbers by size, before other texts.
func byAge(a, b *served) int {
	x, errX := strconv.ParseUint(a.version, 10, 64)
	y, errY := strconv.ParseUint(b.version, 10, 64)
	switch {
	case errX == nil && errY == nil && x != y:
		if x < y {
			return -1
		}
		return 1
	case errX == nil && errY != nil:
		return -1
	case errX != nil && errY == nil:
		return 1
	}
	return strings.Compare(a.version, b.version)
}

// with returns the model with a version added or replaced.
func (m *model) with(f *served) *model {
	out := &model{versions: []*served{f}}
	if m != nil {
		out.labels, out.from = m.labels, m.from
		for _, x := range m.versions {
			if x.version != f.version {
				out.versions = append(out.versions, x)
			}
		}
	}
	slices.SortFunc(out.versions, byAge)
	return out
}

// model returns the function with a name and version.
func (s *Server) model(name, version string) (*served, error) {
	s.mu.RLock()
	m, ok := s.models[name]
	s.mu.RUnlock()
	if !ok {
		return nil, faulty(http.StatusNotFound, "there is no model %s", shortened(name))
	}
	f, ok := m.of(version)
	if !ok {
		return nil, faulty(http.StatusNotFound, "the model %s has no version %s", name, shortened(version))
	}
	return f, nil
}

// versions returns the versions of a model, the oldest first.
func (s *Server) versions(name string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []string
	if m, ok := s.models[name]; ok {
		for _, f := range m.versions {
			out = append(out, f.version)
		}
	}
	return out
}

// list returns all functions by name and version.
func (s *Server) list() []*served {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []*served
	for _, m := range s.models {
		out = append(out, m.versions...)
	}
	slices.SortStableFunc(out, func(a, b *served) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// newest returns the newest version of each model by name.
func (s *Server) newest() []*served {
	all := s.list()
	var out []*served
	for i, f := range all {
		if i+1 == len(all) || all[i+1].Name != f.Name {
			out = append(out, f)
		}
	}
	return out
}

// unload removes a model, or all functions of a source. Loading brings them back, or makes them
// anew.
func (s *Server) unload(name string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for n, m := range s.models {
		if n == name || m.from != nil && m.from.name == name {
			found = true
			delete(s.models, n)
			s.kept[n] = m
		}
	}
	return found, nil
}

func (s *Server) load(name string) (bool, error) {
	s.mu.RLock()
	from := s.sources[name]
	for _, set := range []map[string]*model{s.models, s.kept} {
		if m, ok := set[name]; ok && from == nil {
			from = m.from
		}
	}
	s.mu.RUnlock()
	if from != nil {
		return true, s.refresh(from, true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.kept[name]; ok {
		s.models[name] = m
		delete(s.kept, name)
		return true, nil
	}
	_, ok := s.models[name]
	return ok, nil
}

// change loads or unloads.
func (s *Server) change(name string, do func(string) (bool, error)) error {
	ok, err := do(name)
	if err == nil && !ok {
		err = faulty(http.StatusNotFound, "there is no model %s", shortened(name))
	}
	return err
}
