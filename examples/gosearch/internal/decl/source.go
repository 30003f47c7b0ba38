package decl

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Std names the standard library and the go command's own packages in [Locator.Resolve], ModCache
// the newest version of each module in the module cache.
const (
	Std      = "std"
	ModCache = "modcache"
)

// Locate finds GOROOT and the module cache: from the environment, else by
// asking the go command. A folder that neither tells stays empty.
func Locate() Locator {
	l := Locator{GOROOT: os.Getenv("GOROOT"), ModCache: os.Getenv("GOMODCACHE")}
	if l.GOROOT != "" && l.ModCache != "" {
		return l
	}
	cmd := exec.Command("go", "env", "GOROOT", "GOMODCACHE")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local") // asking must not download a toolchain
	out, err := cmd.Output()
	if err != nil {
		return l
	}
	lines := strings.Split(strings.ReplaceAll(string(out), "\r", ""), "\n")
	if len(lines) >= 2 {
		l.GOROOT = cmp.Or(l.GOROOT, lines[0])
		l.ModCache = cmp.Or(l.ModCache, lines[1])
	}
	return l
}

// Resolve finds the folder of each name: [Std] for the standard library,
// [ModCache], a folder with or without "/..." behind, or a module of the module cache as path or path@version (without a
// version, the newest there). No name at all means Std.
//
// It is an error when a name is none of these or, for Std, when there is no
// GOROOT with source in it.
func (l Locator) Resolve(names ...string) ([]string, error) {
	if len(names) == 0 {
		names = []string{Std}
	}
	var dirs []string
	for _, name := range names {
		dir, err := l.resolve(name)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

func (l Locator) resolve(name string) (string, error) {
	switch name {
	case Std:
		return l.std()
	case ModCache:
		if l.ModCache == "" {
			return "", errors.New("no module cache: set GOMODCACHE or put the go command in PATH")
		}
		return l.ModCache, nil
	}
	if below, ok := strings.CutSuffix(name, "/..."); ok {
		name = cmp.Or(below, "/")
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return filepath.Abs(name)
	case err == nil:
		return "", fmt.Errorf("%s is a file: name the folder that holds it", name)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return l.module(name)
}

func (l Locator) std() (string, error) {
	if l.GOROOT == "" {
		return "", errors.New("no GOROOT: neither the environment nor a go command in PATH names one; set GOROOT or give a folder of Go source")
	}
	src := filepath.Join(l.GOROOT, "src")
	if info, err := os.Stat(src); err != nil || !info.IsDir() {
		return "", fmt.Errorf("no source in GOROOT: %s is not a folder; set GOROOT to a Go installation or give a folder of Go source", src)
	}
	return src, nil
}

// module finds path[@version] in the module cache.
func (l Locator) module(name string) (string, error) {
	modPath, version, pinned := strings.Cut(name, "@")
	if module.CheckPath(modPath) != nil {
		return "", fmt.Errorf("%s is neither a folder nor a module path", name)
	}
	if l.ModCache == "" {
		return "", fmt.Errorf("%s is not a folder, and no module cache to look in: set GOMODCACHE or put the go command in PATH", name)
	}
	missing := fmt.Errorf("%s is neither a folder nor in the module cache %s: \"go mod download %s\" fetches a module", name, l.ModCache, name)
	escaped, err := module.EscapePath(modPath)
	if err != nil {
		return "", missing
	}
	parent := filepath.Join(l.ModCache, filepath.FromSlash(path.Dir(escaped)))
	entries, err := os.ReadDir(parent)
	if err != nil {
		return "", missing
	}
	for _, e := range newestVersions(entries, pinned) {
		base, v, ok := strings.Cut(e.Name(), "@")
		if ok && base == path.Base(escaped) && (!pinned || v == version) {
			return filepath.Join(parent, e.Name()), nil
		}
	}
	return "", missing
}

// newestVersions drops, from a folder of the module cache, all but the newest
// version of each module, unless all are wanted.
func newestVersions(entries []os.DirEntry, all bool) []os.DirEntry {
	if all {
		return entries
	}
	newest := map[string]string{}
	for _, e := range entries {
		if base, v, ok := strings.Cut(e.Name(), "@"); ok && semver.Compare(v, newest[base]) > 0 {
			newest[base] = v
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e os.DirEntry) bool {
		base, v, ok := strings.Cut(e.Name(), "@")
		return ok && newest[base] != v
	})
}

// display is how a folder of this machine is written in an index.
func (l Locator) display(dir string) string {
	for _, v := range [...]struct{ name, value string }{{"$GOROOT", l.GOROOT}, {"$GOMODCACHE", l.ModCache}} {
		if rel, ok := within(v.value, dir); ok {
			return path.Join(v.name, rel)
		}
	}
	return filepath.ToSlash(dir)
}

// within gives dir's path below root, slash-separated.
func within(root, dir string) (string, bool) {
	if root == "" {
		return "", false
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// modulePath reads the module path that dir's own go.mod declares.
func modulePath(dir string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", false
	}
	p := modfile.ModulePath(data)
	return p, p != ""
}
