// Command tenon is what the library does from a command line.
//
//	tenon serve MODEL…    answers calls of the functions of saved models
//
// Each command tells its flags with -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v3"
)

// A program is where a command reads and writes.
type program struct {
	stdout, stderr io.Writer
}

// commands make the commands of the program. A new one is added here.
var commands = []func(p *program) *cli.Command{serveCommand}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the program at once
	}()
	os.Exit(run(ctx, os.Args, &program{os.Stdout, os.Stderr}))
}

// usageError is a command line that is wrong.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the program: it gives the exit status, which is 0, 1 after an error and 2 after a wrong
// command line. Each failure is one line on standard error.
func run(ctx context.Context, args []string, p *program) int {
	onUsage := func(_ context.Context, _ *cli.Command, err error, _ bool) error { return usageError{err} }
	root := &cli.Command{
		Name: "tenon", Usage: "extensible, structured, ragged, named tensors",
		Writer: p.stdout, ErrWriter: p.stderr,
		OnUsageError:   onUsage,
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // reported below
		Action: func(_ context.Context, c *cli.Command) error {
			if c.NArg() > 0 {
				return usage("there is no command %q", c.Args().First())
			}
			return cli.ShowRootCommandHelp(c)
		},
	}
	for _, f := range commands {
		c := f(p)
		c.OnUsageError = onUsage
		root.Commands = append(root.Commands, c)
	}
	err := root.Run(ctx, args)
	var wrong usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintf(p.stderr, "tenon: %v (tenon -h shows the usage)\n", err)
		return 2
	}
	fmt.Fprintf(p.stderr, "tenon: %v\n", err)
	return 1
}
