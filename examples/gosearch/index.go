package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/examples/gosearch/internal/asked"
	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/progress"
	"github.com/tenonml/tenon/internal/atomicfile"
)

func indexCommand(stdout io.Writer, stderr *os.File) *cli.Command {
	return &cli.Command{
		Name:      "index",
		Usage:     "read Go source and keep every documented function and method",
		ArgsUsage: "[SOURCE…]",
		Flags: []cli.Flag{&cli.StringSliceFlag{
			Name:        "src",
			Usage:       "read `SOURCE`, as an argument does: std (the standard library), a folder with all below (./... too), a module of the module cache as path[@version], or modcache (all of it); more than once for several",
			DefaultText: "std",
		}, &cli.StringSliceFlag{
			Name:  "questions",
			Usage: "learn also from the questions in `FILE`: lines of a question, a tab, and the functions that answer it, as in net/http.Client.Do, separated by spaces",
		}},
		Action: func(ctx context.Context, c *cli.Command) error {
			path, err := home(c, declarationsFile)
			if err != nil {
				return err
			}
			return index(ctx, slices.Concat(c.StringSlice("src"), c.Args().Slice()), c.StringSlice("questions"), path, stdout, stderr)
		},
	}
}

// skippedShown is how many skipped files are named, because a broken tree may have thousands.
const skippedShown = 20

// index reads the sources and writes their declarations to path, with what is asked for them in files of questions.
func index(ctx context.Context, sources, files []string, path string, stdout io.Writer, stderr *os.File) error {
	start := time.Now()
	people := make([][]asked.Question, len(files))
	for i, file := range files {
		var err error
		if people[i], err = asked.ReadFile(file); err != nil {
			return err
		}
	}
	loc := decl.Locate()
	dirs, err := loc.Resolve(sources...)
	if err != nil {
		return err
	}
	var bar *progress.Bar
	result, err := loc.Walk(ctx, dirs, decl.Options{Progress: func(done, total int) {
		if done == 1 {
			bar = progress.New(stderr, "reading packages", total)
		}
		bar.Set(done)
	}})
	bar.Close()
	if err != nil {
		return err
	}
	asked.Attach(result.Decls, asked.Std())
	for i, file := range files {
		if n := asked.Attach(result.Decls, people[i]); n < len(people[i]) {
			fmt.Fprintf(stderr, "%s: nothing that was read answers %d of the %d questions\n", file, len(people[i])-n, len(people[i]))
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err = atomicfile.Write(path, func(w io.Writer) error { return decl.Write(ctx, w, result.Decls) })
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	for i, s := range result.Skipped {
		if i == skippedShown {
			fmt.Fprintf(stderr, "skipped %d more\n", len(result.Skipped)-i)
			break
		}
		fmt.Fprintf(stderr, "skipped %s: %v\n", s.File, s.Err)
	}
	fmt.Fprintf(stdout, "%d declarations in %d packages, %d files skipped, %.1f MB in %.1f s\n%s\n",
		len(result.Decls), result.Packages, len(result.Skipped), float64(info.Size())/1e6, time.Since(start).Seconds(), path)
	// The written file is read like any other: as nested records in columns.
	records, err := decl.ReadRecords(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\n%v\n", records)
	return nil
}
