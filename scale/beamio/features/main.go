// Command features computes features of nested records on any runner of Apache Beam. Particle collisions, with
// lists of jets and lists of vertices that have lists of tracks, become a table in Parquet shards.
//
//	features -make 10000000 -in data/events    writes JSON lines
//	features -in data/events -out data/table   computes features, in this process
//	features -in data/events -verify data/table    computes them in a loop over a dataset, and compares the files
//
// Beam's flags choose another runner, such as --runner=universal --endpoint=localhost:8073.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct" //lint:ignore SA1019 what it writes is compared with what Prism does
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
)

func main() {
	var o options
	flag.StringVar(&o.in, "in", "events", "files of records: this and -00000.jsonl and so on")
	flag.StringVar(&o.out, "out", "", "where to write features: files of this and -00000.parquet and so on")
	flag.StringVar(&o.verify, "verify", "", "features to compare with those of a dataset on this machine")
	flag.IntVar(&o.rows, "rows", 4096, "records of a batch")
	count := flag.Int("make", 0, "how many records to write to -in")
	files := flag.Int("files", 16, "how many files of records to write")
	flag.Parse()
	beam.Init()
	if err := run(context.Background(), o, *count, *files); err != nil {
		fmt.Fprintln(os.Stderr, "features:", err)
		os.Exit(1)
	}
}

type options struct {
	in, out, verify string
	rows            int
}

// run does what the flags say.
func run(ctx context.Context, o options, count, files int) error {
	if count > 0 {
		if err := makeRecords(o.in, count, files); err != nil {
			return err
		}
	}
	if o.out != "" {
		p, err := pipeline(o)
		if err != nil {
			return err
		}
		if err := beamx.Run(ctx, p); err != nil {
			return err
		}
	}
	if o.verify != "" {
		return verify(o)
	}
	return nil
}
