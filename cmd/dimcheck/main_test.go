package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const data = "github.com/tenonml/tenon/named/dimcheck/testdata/src/"

// programs are the packages of the module that use names, but for those whose tests get
// them wrong on purpose.
var programs = []string{
	"../../examples/...", "../../learn/nn", "../../show/plot", "../../structured", "../../data/arrowio",
	"../../named/coords", "../../internal/bench", "../../internal/conform", "../../internal/optable",
}

// The program as go vet runs it, with facts of imported packages, and by itself, with the
// exit status that scripts look at.
func TestCommand(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "dimcheck")
	if out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	vet := "-vettool=" + tool
	tests := []struct {
		name   string
		args   []string
		status int
		words  []string // nothing at all where there are none
	}{
		{"go vet", []string{"go", "vet", vet, data + "fixes", data + "packages"}, 1, []string{
			"shared.go:11:6: named.Dot over KqRep: both operands also have Seq\n  left   {Seq KqRep}",
			"in Project (lib.go:13): named.Dot over InputRep: both operands also have KqRep"}},
		{"go vet of what is right", []string{"go", "vet", vet, data + "correct", data + "lib"}, 0, nil},
		{"go vet of the module's programs", append([]string{"go", "vet", vet}, programs...), 0, nil},
		{"fixes as a difference", []string{tool, "-fix", "-diff", data + "fixes"}, 0, []string{
			"named.Dot[KqRep](keys, named.Rename[Foo, KqRep](other))"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := exec.Command(tt.args[0], tt.args[1:]...).CombinedOutput()
			status := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				status = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if status != tt.status || len(tt.words) == 0 && len(out) > 0 {
				t.Errorf("status %d, want %d; got\n%s", status, tt.status, out)
			}
			for _, w := range tt.words {
				if !strings.Contains(string(out), w) {
					t.Errorf("no %q in\n%s", w, out)
				}
			}
		})
	}
}
