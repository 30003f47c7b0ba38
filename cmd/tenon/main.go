// Command tenon makes the library usable from the command line.
//
//	tenon info F…         format, size, number of records and types of files
//	tenon head F          the first records (tail, sample, cat)
//	tenon stats F         statistics of each column
//	tenon select F        filter, choose, flatten, group, join, sort
//	tenon convert F -o G  the same data in another format
//	tenon validate F…     faults in files
//	tenon diff A B        differences between files
//	tenon spec F          types, as text, Go, JSON or Arrow
//	tenon model F         tensors and functions of a model, without reading the tensors
//	tenon graph F         the graph of a function
//	tenon runs [FOLDER]   training runs, and how they differ
//	tenon view F…         files, models and training runs in a browser
//	tenon serve MODEL…    serves the functions of saved models
//	tenon hub …           stores models in registries: push, pull, list, tag, copy, serve
//	tenon doctor          features of this machine
//
// Formats are detected from the first bytes of a file; "-" is standard input. Each command lists its flags with
// -h. The exit status is 0 on success, 1 if the data is faulty or differs, 2 after a usage error and 130 after
// an interrupt.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
)

// commands make the commands of the program. Add new ones here.
var commands = []func(p *program) *cli.Command{
	infoCommand, headCommand, tailCommand, sampleCommand, catCommand, statsCommand, selectCommand, convertCommand,
	validateCommand, diffCommand, specCommand, modelCommand, graphCommand, runsCommand, viewCommand, serveCommand, hubCommand, doctorCommand,
}

func main() {
	signal.Ignore(syscall.SIGPIPE) // a write returns the error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the program at once
	}()
	os.Exit(run(ctx, os.Args, newProgram()))
}

// usageError is an error in the command line.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errDiffers ends a command that has reported everything, with status 1.
var errDiffers = errors.New("")

// run runs the program and returns the exit status. A failure is one line on standard error.
func run(ctx context.Context, args []string, p *program) int {
	out := &output{w: p.stdout}
	p.stdout = out
	err := rootCommand(p).Run(ctx, args)
	if err == nil {
		err = out.err
	}
	var wrong usageError
	switch {
	case errors.Is(err, syscall.EPIPE):
		return 0 // the reader has seen enough
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(p.stderr, "tenon: interrupted")
		return 130
	case err == nil:
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintf(p.stderr, "tenon: %s (tenon -h shows the usage)\n", said(err))
		return 2
	case err == errDiffers:
		return 1
	}
	fmt.Fprintf(p.stderr, "tenon: %s\n", said(err))
	return 1
}

func rootCommand(p *program) *cli.Command {
	onUsage := func(_ context.Context, _ *cli.Command, err error, _ bool) error { return usageError{err} }
	root := &cli.Command{
		Name: "tenon", Usage: "extensible, structured, ragged, named tensors",
		Writer: p.stdout, ErrWriter: p.stderr,
		OnUsageError:          onUsage,
		EnableShellCompletion: true,
		Suggest:               true,
		ConfigureShellCompletionCommand: func(c *cli.Command) {
			c.Hidden = false
			c.Writer = p.stdout
			action := c.Action
			c.Action = func(ctx context.Context, c *cli.Command) error {
				if shell := c.Args().First(); !slices.Contains([]string{"bash", "zsh", "fish", "pwsh"}, shell) {
					return usage("completion is for bash, zsh, fish or pwsh, not %q", shell)
				}
				return action(ctx, c)
			}
		},
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // reported by run
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
		c.HideHelpCommand = true
		for _, sub := range c.Commands {
			sub.OnUsageError = onUsage
		}
		root.Commands = append(root.Commands, c)
	}
	return root
}

// said returns an error in one line, without source lines of this program.
func said(err error) string {
	text := err.Error()
	if e, ok := err.(*tenon.Error); ok {
		text = strip(e).Error()
	} else if e := new(tenon.Error); errors.As(err, &e) {
		text = strings.ReplaceAll(text, e.Error(), strip(e).Error())
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	const most = 1000 // messages repeat arguments, which may be long
	if r := []rune(text); len(r) > most {
		text = string(r[:most/2]) + " … " + string(r[len(r)-most/2:])
	}
	return text
}

func strip(e *tenon.Error) *tenon.Error {
	c := *e
	c.Line = ""
	if inner, ok := c.Err.(*tenon.Error); ok {
		c.Err = strip(inner)
	}
	return &c
}

// output keeps the first error of writing, so that a full disk or a closed pipe is not mistaken for
// success.
type output struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}
