package files_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/dataset/files"
)

// Lines of text files are numbered, so that they can be shuffled over all files and read
// again from any position.
func ExampleLines() {
	dir, err := os.MkdirTemp("", "lines")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "four\nfive"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}

	lines, err := files.Lines(filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt"))
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range lines.Batch(2, dataset.BatchOptions{}).All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch)
	}
	// Output:
	// ["one" "two"] string[2]
	// ["three" "four"] string[2]
	// ["five"] string[1]
}
