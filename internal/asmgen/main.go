// Command asmgen writes the assembly of the kernel packages.
//
// Each family of kernels is a program of its own in a folder beside this file. It
// describes its functions with avo and ends with build.Generate; its constraint is
// "amd64,!purego". The table below says into which package the output goes. From
// this folder,
//
//	go run .            # all families
//	go run . gemm par   # some
//
// rewrites NAME_amd64.s and the declarations NAME_amd64.go. The output is checked
// in, so that users of the module need no generator; "go test -count=1 ." compares it with
// a fresh generation.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// A family is one generator and the file it writes.
type family struct {
	generator string   // folder beside this file
	pkg       string   // package folder, relative to the root of the module tenon
	name      string   // of the output, without _amd64.s
	args      []string // further arguments, for a generator that writes several files
}

var families = []family{
	{generator: "par", pkg: "internal/par", name: "pause"},
	{generator: "elementwise", pkg: "internal/kernel/elementwise", name: "avx512", args: []string{"-wide"}},
	{generator: "elementwise", pkg: "internal/kernel/elementwise", name: "avx2"},
	{generator: "reduce", pkg: "internal/kernel/reduce", name: "avx512", args: []string{"-wide"}},
	{generator: "reduce", pkg: "internal/kernel/reduce", name: "avx2"},
	{generator: "transpose", pkg: "internal/kernel/transpose", name: "tiles"},
	{generator: "fused", pkg: "internal/kernel/fused", name: "avx512", args: []string{"-wide"}},
	{generator: "fused", pkg: "internal/kernel/fused", name: "avx2"},
	{generator: "stream", pkg: "internal/kernel/stream", name: "copy"},
	{generator: "gemm", pkg: "internal/kernel/gemm", name: "kernels"},
	{generator: "attention", pkg: "internal/kernel/attention", name: "kernels"},
	{generator: "gather", pkg: "internal/kernel/gather", name: "kernels"},
	{generator: "segment", pkg: "internal/kernel/segment", name: "kernels"},
	{generator: "window", pkg: "internal/kernel/window", name: "kernels"},
	{generator: "wire", pkg: "internal/kernel/wire", name: "kernels"},
}

// files returns the names of the assembly and of the declarations.
func (f family) files() [2]string {
	return [2]string{f.name + "_amd64.s", f.name + "_amd64.go"}
}

// generate builds the family's program and runs it in the folder out, which leaves
// no path of this machine in the output.
func (f family) generate(out string) error {
	tmp, err := os.MkdirTemp("", "asmgen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	exe := filepath.Join(tmp, "main.exe")
	if text, err := exec.Command("go", "build", "-o", exe, "./"+f.generator).CombinedOutput(); err != nil {
		return fmt.Errorf("building the generator %s: %w\n%s", f.generator, err, text)
	}
	names := f.files()
	args := append(slices.Clone(f.args), "-out", names[0], "-stubs", names[1], "-pkg", filepath.Base(f.pkg))
	run := exec.Command(exe, args...)
	run.Dir = out
	if text, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("running the generator %s: %w\n%s", f.generator, err, text)
	}
	return nil
}

// update replaces the checked-in output. A generator that fails leaves it alone.
func (f family) update() error {
	tmp, err := os.MkdirTemp("", "asmgen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := f.generate(tmp); err != nil {
		return err
	}
	for _, name := range f.files() {
		text, err := os.ReadFile(filepath.Join(tmp, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(f.target(), name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// target is the folder of the checked-in output.
func (f family) target() string { return filepath.Join("..", "..", filepath.FromSlash(f.pkg)) }

func main() {
	wanted := os.Args[1:]
	for _, f := range families {
		if len(wanted) > 0 && !slices.Contains(wanted, f.generator) {
			continue
		}
		if err := f.update(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
