package archtest

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// pages are the texts that people read: those of the root and of docs.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	read := func(name string) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		read(name)
	}
	err := fs.WalkDir(os.DirFS(root), "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			read(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

var (
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	quoted = regexp.MustCompile("`([^`\n]+)`")
	// goCommand is a command that a reader copies.
	goCommand = regexp.MustCompile(`(?:^|\s)go (?:run|test|build|install|vet|get|mod) `)
	header    = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	// dotted is a name as programs write it: of a package, of what it exports, of a method or a field.
	dotted = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Z]\w*)(?:\[[^\]]*\])?(?:\.([A-Z]\w*))?(?:\(.*\)|\{.*\})?$`)
	// place is a file or a folder of the module.
	place = regexp.MustCompile(`^[a-z.][\w./-]*/[\w./-]*$`)
)

// anchor is what a page's heading is linked by.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TestLinksOfPages wants every link within the repository to lead to a file, and to a
// heading of it where it names one.
func TestLinksOfPages(t *testing.T) {
	all := pages(t)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(quoted.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
			to := m[1]
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			file, heading, _ := strings.Cut(to, "#")
			path := name
			if file != "" {
				path = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, to)
				continue
			}
			if heading == "" {
				continue
			}
			found := false
			for _, h := range header.FindAllStringSubmatch(all[path], -1) {
				found = found || anchor(h[1]) == heading
			}
			if !found {
				t.Errorf("%s: %s has no heading #%s", name, path, heading)
			}
		}
	}
}

// TestTablesOfPages wants every row of a table to have as many cells as the first one: a line
// break that is lost makes one row of two.
func TestTablesOfPages(t *testing.T) {
	for name, text := range pages(t) {
		width := 0
		for line := range strings.Lines(quoted.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")) {
			if !strings.HasPrefix(line, "|") {
				width = 0
				continue
			}
			cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if width == 0 {
				width = cells
			}
			if cells != width {
				t.Errorf("%s: a row of %d cells in a table of %d: %s", name, cells-1, width-1, line)
			}
		}
	}
}

// TestCommandsOfPages wants each command of a block in a line of its own, so that it can be copied.
func TestCommandsOfPages(t *testing.T) {
	for name, text := range pages(t) {
		for _, block := range fenced.FindAllString(text, -1) {
			for line := range strings.Lines(block) {
				if n := len(goCommand.FindAllString(line, -1)); n > 1 && !strings.ContainsAny(line, "&|;$") {
					t.Errorf("%s: %d commands in a line: %s", name, n, line)
				}
			}
		}
	}
}

// TestNamesInPages wants every name in backquotes that is written as one of the module's
// packages has it, such as ops.Add or ragged.Tensor.RowSplits, to be exported there, and
// every path to exist.
func TestNamesInPages(t *testing.T) {
	exported := exports(t)
	checked := 0
	for name, text := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if place.MatchString(m[1]) && first[strings.Split(m[1], "/")[0]] && !strings.Contains(m[1], "GOARCH") {
				if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(m[1], "..."))); err != nil {
					t.Errorf("%s: there is no %s", name, m[1])
				}
				continue
			}
			d := dotted.FindStringSubmatch(m[1])
			if d == nil || exported[d[1]] == nil {
				continue
			}
			checked++
			names := exported[d[1]]
			if !names[d[2]] || d[3] != "" && !names[d[2]+"."+d[3]] && !names["var "+d[2]] {
				t.Errorf("%s: %s is not exported by package %s", name, m[1], d[1])
			}
		}
	}
	if checked < 80 {
		t.Errorf("only %d names were found", checked)
	}
}

// first are the folders of the root, by which paths in pages are told from other words with slashes.
var first = map[string]bool{
	"backend": true, "cmd": true, "control": true, "data": true, "docs": true, "dtype": true, "element": true, "examples": true, "ext": true,
	"function": true, "grad": true, "graph": true, "internal": true, "learn": true, "linalg": true, "masked": true, "model": true, "named": true,
	"nest": true, "op": true, "ops": true, "ragged": true, "scale": true, "shape": true, "show": true, "sparse": true, "spectest": true, "state": true,
	"structured": true, "tensor": true, "testdata": true,
}

// exports are the names that packages export, by the packages' names: functions and types, and
// methods and fields of types as T.Name. Variables, whose members are not known here, are there as "var v", too.
func exports(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	for _, f := range sources(t) {
		if f.test || f.ast.Name.Name == "main" {
			continue
		}
		names := out[f.ast.Name.Name]
		if names == nil {
			names = map[string]bool{}
			out[f.ast.Name.Name] = names
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				} else {
					names[receiver(d)+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, id := range s.Names {
							names[id.Name], names["var "+id.Name] = true, true
						}
					case *ast.TypeSpec:
						names[s.Name.Name] = true
						members(names, s)
					}
				}
			}
		}
	}
	return out
}

// members adds the fields of a struct and the methods of an interface.
func members(names map[string]bool, s *ast.TypeSpec) {
	var list *ast.FieldList
	switch x := s.Type.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return
	}
	for _, f := range list.List {
		for _, id := range f.Names {
			names[s.Name.Name+"."+id.Name] = true
		}
	}
}
