package decl

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// folders lists the folders below roots that hold Go files, ordered by import path.
func (l Locator) folders(ctx context.Context, roots []string) ([]folder, error) {
	var out []folder
	for _, root := range roots {
		w := folderWalk{Locator: l, ctx: ctx}
		if err := w.walk(root, w.importPathOf(root)); err != nil {
			return nil, err
		}
		if len(w.found) == 0 {
			return nil, fmt.Errorf("no Go source in %s", root)
		}
		out = append(out, w.found...)
	}
	slices.SortFunc(out, func(a, b folder) int {
		return cmp.Or(strings.Compare(a.importPath, b.importPath), strings.Compare(a.dir, b.dir))
	})
	return slices.CompactFunc(out, func(a, b folder) bool { return a.dir == b.dir }), nil
}

type folderWalk struct {
	Locator
	ctx   context.Context
	found []folder
}

// walk visits dir, whose import path is given, and what is below it. A folder
// that cannot be listed is left to extract, which reports it as skipped.
func (w *folderWalk) walk(dir, importPath string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	hasGo := slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go")
	})
	if hasGo || err != nil {
		w.found = append(w.found, folder{dir: dir, importPath: importPath, display: w.display(dir)})
	}
	inCache, cached := within(w.ModCache, dir)
	if cached && !strings.Contains(inCache, "@") {
		entries = slices.DeleteFunc(newestVersions(entries, false), func(e os.DirEntry) bool {
			// Not modules: the downloads, and whole toolchains, which would be GOROOT again.
			return inCache == "." && e.Name() == "cache" || inCache == "golang.org" && strings.HasPrefix(e.Name(), "toolchain@")
		})
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			continue
		}
		sub := filepath.Join(dir, name)
		p, ok := w.ownImportPath(sub)
		if !ok {
			p = path.Join(importPath, name)
		}
		if err := w.walk(sub, p); err != nil {
			return err
		}
	}
	return nil
}

// ownImportPath is the import path of a folder that is a module's root.
func (w *folderWalk) ownImportPath(dir string) (string, bool) {
	if p, ok := modulePath(dir); ok {
		if p == "std" {
			p = "" // its packages are imported without a prefix
		}
		return p, true
	}
	if rel, ok := within(w.ModCache, dir); ok { // a module from before go.mod
		if escaped, _, versioned := strings.Cut(rel, "@"); versioned && path.Dir(rel) == path.Dir(escaped) {
			if p, err := module.UnescapePath(escaped); err == nil {
				return p, true
			}
		}
	}
	return "", false
}

// importPathOf finds the import path of a root: from its own module or from
// the nearest one above it; a folder in no module is named after itself.
func (w *folderWalk) importPathOf(root string) string {
	for dir := root; ; {
		if p, ok := w.ownImportPath(dir); ok {
			rel, _ := within(dir, root)
			return path.Join(p, rel)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return filepath.Base(root)
		}
		dir = up
	}
}
