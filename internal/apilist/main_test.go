package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files of api say what the packages export.
func TestListsAreUpToDate(t *testing.T) {
	root := filepath.Join("..", "..")
	lists, err := all(root)
	if err != nil {
		t.Fatal(err)
	}
	const how = "; look whether the change is meant, then run go run ./internal/apilist -w"
	for name, want := range lists {
		b, err := os.ReadFile(filepath.Join(root, "api", name))
		if err != nil {
			t.Errorf("api/%s: %v%s", name, err, how)
			continue
		}
		for _, line := range difference(string(b), want) {
			t.Errorf("api/%s: %s%s", name, line, how)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := lists[filepath.Base(f)]; !ok {
			t.Errorf("api/%s is of no package%s", filepath.Base(f), how)
		}
	}
}

func difference(old, now string) (out []string) {
	a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
	for _, l := range a {
		if !slices.Contains(b, l) {
			out = append(out, "is gone: "+l)
		}
	}
	for _, l := range b {
		if !slices.Contains(a, l) {
			out = append(out, "is new: "+l)
		}
	}
	return out
}

// Each kind of declaration has its line.
func TestLines(t *testing.T) {
	dir := t.TempDir()
	src := `package p
// A is a type.
type A[T any] struct { X, y int; B; *q.C }
type B interface { M(x int) error; n() }
type D = map[string]int
type e struct{}
func (a *A[T]) F(x ...T) (n int) { return 0 }
func (e) G() {}
func H[T ~int](x T) T { return x }
const K, l uint8 = 1, 2
var V = 3
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := exported(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := `const K uint8
func (a *A[T]) F(x ...T) (n int)
func H[T ~int](x T) T
type A[T any] struct
type A[T any] struct, *q.C
type A[T any] struct, B
type A[T any] struct, X int
type B interface
type B interface, M func(x int) error
type B interface, unexported methods
type D = map[string]int
var V
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
