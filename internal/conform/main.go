package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/tenonml/tenon/internal/conform/cases"
)

func main() {
	verbose := flag.Bool("v", false, "print each case that failed or was skipped")
	run := flag.String("run", "", "run only cases whose group/id:op matches the regular expression")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: conform [-v] [-run REGEXP] DIR...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	total, err := conform(os.Stdout, *verbose, *run, flag.Args()...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conform:", err)
		os.Exit(2)
	}
	if total.failed > 0 {
		os.Exit(1)
	}
}

type tally struct{ passed, failed, skipped int }

func (t *tally) add(s cases.Status) {
	switch s {
	case cases.Passed:
		t.passed++
	case cases.Failed:
		t.failed++
	default:
		t.skipped++
	}
}

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

// conform runs the cases in paths and reports on w.
func conform(w io.Writer, verbose bool, run string, paths ...string) (total tally, err error) {
	only, err := regexp.Compile(run)
	if err != nil {
		return total, err
	}
	files, err := cases.ReadAll(paths...)
	if err != nil {
		return total, err
	}
	for _, f := range files {
		var group tally
		for _, c := range f.Cases {
			if !only.MatchString(f.Group + "/" + c.ID + ":" + c.Op) {
				continue
			}
			r := cases.Run(c)
			group.add(r.Status)
			total.add(r.Status)
			if verbose && r.Status != cases.Passed {
				fmt.Fprintf(w, "%s %s/%s %s: %s\n", [...]string{"", "FAIL", "skip"}[r.Status], f.Group, c.ID, c.Op, r.Reason)
			}
		}
		fmt.Fprintf(w, "%-24s %v\n", f.Group, group)
	}
	fmt.Fprintln(w, total)
	return total, nil
}
