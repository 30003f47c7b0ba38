// Command tenongen generates, for structs that are registered with package ext, the code that
// ext otherwise plans by reflection. It reads the Go package in a directory, and writes a file
// into it.
//
//	go run github.com/tenonml/tenon/cmd/tenongen -type Track,Graph [-output file] [directory]
//
// Nothing else changes: types are registered with ext.Register as before, and the file calls
// ext.Generated. Values, Specs and files are the same with the generated code and without; it
// only saves time when values are flattened and assembled.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	types := flag.String("type", "", "names of structs, separated by commas")
	output := flag.String("output", "", "the file to write; by default the name of the first type in lower case, followed by _tenon.go")
	flag.Parse()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	if err := run(dir, *types, *output); err != nil {
		fmt.Fprintln(os.Stderr, "tenongen:", err)
		os.Exit(1)
	}
}

func run(dir, types, output string) error {
	names := strings.FieldsFunc(types, func(r rune) bool { return r == ',' || r == ' ' })
	if len(names) == 0 {
		return fmt.Errorf("no type is named; use -type")
	}
	if output == "" {
		output = strings.ToLower(names[0]) + "_tenon.go"
	}
	code, err := Generate(dir, names, output)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, output), code, 0o644)
}
