package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func init() { register("startup", startup) }

// startup times whole processes, from the start to the end: a built program that adds
// two tensors, and one that does it in a traced function. The programs are built here, so this runs in
// the module's folder.
func startup(r *runner) {
	dir, err := os.MkdirTemp("", "startup")
	if err != nil {
		r.err = err
		return
	}
	defer os.RemoveAll(dir)
	for _, c := range []struct{ name, program, note string }{
		{"first_result", "first", "adds two tensors"}, {"first_result_traced", "firsttraced", "traces a function and calls it"},
	} {
		if !r.want(c.name) || r.err != nil {
			continue
		}
		file := filepath.Join(dir, c.program)
		build := exec.Command("go", "build", "-o", file, "github.com/tenonml/tenon/internal/bench/"+c.program)
		if out, err := build.CombinedOutput(); err != nil {
			r.err = fmt.Errorf("%s: %w\n%s", build, err, out)
			return
		}
		r.run(benchCase{name: c.name, note: c.note}, func() any {
			out, err := exec.Command(file).Output()
			if want := "[2. 4. 6.] float32[3]\n"; err == nil && string(out) != want {
				err = fmt.Errorf("%s printed %q, want %q", c.program, out, want)
			}
			if err != nil {
				r.err = err
			}
			return nil
		})
	}
}
