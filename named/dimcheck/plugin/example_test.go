package plugin_test

import (
	"fmt"
	"log"

	"github.com/golangci/plugin-module-register/register"

	_ "github.com/tenonml/tenon/named/dimcheck/plugin"
)

// A build of golangci-lint that imports the package finds the linter by its name.
func Example() {
	open, err := register.GetPlugin("dimcheck")
	if err != nil {
		log.Fatal(err)
	}
	linter, err := open(nil)
	if err != nil {
		log.Fatal(err)
	}
	analyzers, err := linter.BuildAnalyzers()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(analyzers[0].Name, linter.GetLoadMode())
	// Output: dimcheck typesinfo
}
