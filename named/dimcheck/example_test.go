package dimcheck_test

import (
	"fmt"
	"log"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/tenonml/tenon/named/dimcheck"
)

// The command dimcheck is a main function around Analyzer. This is what a tool of one's own
// does with it.
func Example() {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, "./testdata/src/roles")
	if err != nil {
		log.Fatal(err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{dimcheck.Analyzer}, pkgs, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, action := range graph.Roots {
		for _, d := range action.Diagnostics[:1] {
			what, _, _ := strings.Cut(d.Message, "\n")
			p := action.Package.Fset.Position(d.Pos)
			fmt.Printf("%s:%d: %s\n", filepath.Base(p.Filename), p.Line, what)
		}
	}
	// Output:
	// roles.go:16: named.Rename KeySeq→Seq: the positions of the queries, Seq, have been summed over, and those of the keys, KeySeq, get their name: queries and keys have exchanged their roles
}
