package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/cpu"
	"github.com/tenonml/tenon/internal/summary"
	"github.com/tenonml/tenon/op"
)

// health is the report of tenon doctor. Its JSON form is part of the command's interface.
type health struct {
	Version    string   `json:"version"`
	Go         string   `json:"go"`
	Platform   string   `json:"platform"`
	Processors int      `json:"processors"`
	Kernels    string   `json:"kernels"` // the instruction set in use
	Limit      int64    `json:"memory_limit"`
	Types      []string `json:"types"`
	Operations int      `json:"operations"`
	Programs   []string `json:"programs"` // optional programs that some commands use
	Temporary  string   `json:"temporary"`
	Warnings   []string `json:"warnings"`
}

func doctorCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "show the version of the program and the features of the machine",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "write JSON"}},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usage("doctor takes no file, but %q follows", c.Args().First())
			}
			h := examine()
			if c.Bool("json") {
				return writeJSON(p.stdout, h)
			}
			_, err := fmt.Fprint(p.stdout, h.text())
			return err
		},
	}
}

func examine() health {
	h := health{
		Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.GOMAXPROCS(0),
		Kernels: fmt.Sprint(cpu.Active()), Limit: debug.SetMemoryLimit(-1), Types: tenon.TypeNames(), Operations: len(op.All()), Temporary: os.TempDir(),
		Warnings: []string{},
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		h.Version = b.Main.Version
	}
	for _, name := range []string{"less", "chromium", "dot"} {
		if path, err := exec.LookPath(name); err == nil {
			h.Programs = append(h.Programs, path)
		}
	}
	if name := os.Getenv("TENON_CPU"); name != "" {
		h.Warnings = append(h.Warnings, "TENON_CPU="+name+" limits which kernels are used")
	}
	if runtime.NumCPU() > h.Processors {
		h.Warnings = append(h.Warnings, fmt.Sprintf("only %d of %d processors are used (GOMAXPROCS, or the limit of a container)", h.Processors, runtime.NumCPU()))
	}
	if f, err := os.CreateTemp("", "tenon-"); err != nil {
		h.Warnings = append(h.Warnings, "cannot write to "+h.Temporary+", so only formats that are read from front to back can come from a pipe; set TMPDIR to another folder")
	} else {
		f.Close()
		os.Remove(f.Name())
	}
	return h
}

func (h health) text() string {
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%-11s %v\n", name, value) }
	line("version", h.Version)
	line("go", h.Go+" "+h.Platform)
	line("processors", h.Processors)
	line("kernels", h.Kernels)
	limit := "none"
	if h.Limit < 1<<62 {
		limit = summary.Bytes(h.Limit)
	}
	line("memory", limit+" (GOMEMLIMIT)")
	line("types", fmt.Sprintf("%d, %d operations", len(h.Types), h.Operations))
	line("programs", strings.Join(h.Programs, " "))
	for _, w := range h.Warnings {
		line("warning", w)
	}
	return b.String()
}
