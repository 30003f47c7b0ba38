// Command dimls is a language server for the dimensions of named tensors. It runs beside
// gopls, over standard input and output, and gives
//
//   - diagnostics of package dimcheck as you type, with quick fixes
//   - the dimensions of each variable that holds a tensor, as inlay hints
//   - the dimensions of the expression under the cursor
//   - completion of names: in named.Dot[▮](a, b) those that a and b share
//
// docs/dimcheck.md explains how to set it up in editors.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	flag.Bool("stdio", true, "accepted because some editors pass it; the server always uses standard input and output")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: dimls\n\nA language server for editors, over standard input and output; see docs/dimcheck.md.")
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dimls:", err)
		os.Exit(1)
	}
}
