package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/urfave/cli/v3"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the program and returns the exit status: 0, 1 after an error, 2 after a usage error
// and 130 after an interrupt. A failure is one line on stderr.
func run(ctx context.Context, args []string, stdout io.Writer, stderr *os.File) int {
	out := &output{w: stdout}
	err := rootCommand(out, stderr).Run(ctx, args)
	if err == nil {
		err = out.err
	}
	var usage usageError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(stderr, "gosearch: interrupted")
		return 130
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "gosearch: %v (gosearch -h shows the usage)\n", err)
		return 2
	}
	fmt.Fprintf(stderr, "gosearch: %v\n", err)
	return 1
}

// output keeps the first error of writing, so that a full disk or a closed pipe is not mistaken
// for success.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

type usageError struct{ error }

func rootCommand(stdout io.Writer, stderr *os.File) *cli.Command {
	onUsage := func(_ context.Context, _ *cli.Command, err error, _ bool) error { return usageError{err} }
	root := &cli.Command{
		Name:      "gosearch",
		Usage:     "find Go functions by what they do",
		Writer:    stdout,
		ErrWriter: stderr,
		ArgsUsage: `"what a function does"`,
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "dir", Usage: "keep index and model in `FOLDER`",
				Sources: cli.EnvVars("GOSEARCH_DIR"), DefaultText: "gosearch in the user's cache folder",
			},
			&cli.BoolFlag{Name: "json", Usage: "answer in JSON"},
			&cli.IntFlag{Name: "n", Usage: "give `N` answers", Value: 5},
			&cli.BoolFlag{Name: "all", Usage: "include functions that are unexported, internal, or part of a program"},
		},
		Commands:       []*cli.Command{indexCommand(stdout, stderr), trainCommand(stdout, stderr), evalCommand(stdout, stderr), serveCommand(stdout)},
		Action:         queryAction(stdout),
		OnUsageError:   onUsage,
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // run reports errors
	}
	for _, c := range root.Commands {
		c.OnUsageError = onUsage
	}
	return root
}

// noArguments rejects arguments that follow a command's flags.
func noArguments(c *cli.Command) error {
	if c.NArg() > 0 {
		return usageError{fmt.Errorf("%s takes no argument, but %q follows", c.Name, c.Args().First())}
	}
	return nil
}

// home is the folder for index and model, with a name appended.
func home(c *cli.Command, name string) (string, error) {
	dir := c.String("dir")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for index and model: %w; set -dir", err)
		}
		dir = filepath.Join(cache, "gosearch")
	}
	return filepath.Join(dir, name), nil
}

// declarationsFile is the name of the index in the folder.
const declarationsFile = "declarations.jsonl"
