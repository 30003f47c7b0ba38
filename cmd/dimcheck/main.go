// Command dimcheck checks the dimensions of named tensors. Package dimcheck describes what it
// reports.
//
//	dimcheck ./...                                  # report
//	dimcheck -fix ./...                             # and apply suggested fixes
//	dimcheck -hints ./...                           # print the dimensions of each variable
//	go vet -vettool=$(which dimcheck) ./...         # as part of go vet, with its cache
//
// The exit status is 1 if dimcheck fails and 3 if it reports something. With go vet, it is that
// of go vet.
package main

import (
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/analysis/singlechecker"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/tenonml/tenon/named/dimcheck"
)

func main() {
	if vets(os.Args[1:]) {
		// A process for each package ends before collecting garbage pays, as long as it is
		// small.
		debug.SetMemoryLimit(256 << 20)
		debug.SetGCPercent(-1)
		unitchecker.Main(dimcheck.Analyzer)
	}
	singlechecker.Main(dimcheck.Analyzer)
}

// vets reports whether go vet runs the program: to ask for its version and flags, or with the
// description of one package.
func vets(args []string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "-V=") || a == "-flags" || strings.HasSuffix(a, ".cfg") {
			return true
		}
	}
	return false
}
