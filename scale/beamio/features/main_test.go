package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// The same files result on the direct runner, on Prism in this process, and by a dataset.
func TestFeaturesOnRunners(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "events")
	if err := makeRecords(in, 5000, 3); err != nil {
		t.Fatal(err)
	}
	for _, runner := range []string{"direct", "prism"} {
		out := filepath.Join(dir, runner, "part")
		if err := os.Mkdir(filepath.Dir(out), 0o777); err != nil {
			t.Fatal(err)
		}
		o := options{in: in, out: out, verify: out, rows: 500}
		p, err := pipeline(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := beam.Run(context.Background(), runner, p); err != nil {
			t.Fatal(runner, err)
		}
		if err := verify(o); err != nil {
			t.Error(runner, err)
		}
	}
}
