package decl

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Options say how [Locator.Walk] works. The zero value is the default.
type Options struct {
	// Workers is how many packages are read at once; 0 means GOMAXPROCS. The
	// result does not depend on it.
	Workers int
	// Progress, if set, is called after each folder, never twice at once.
	Progress func(done, total int)
}

// Result is what a walk found.
type Result struct {
	// Decls is ordered by import path, file and line.
	Decls    []Decl
	Packages int
	// Skipped names the files that could not be read or parsed, in the order of Decls.
	Skipped []Skip
}

// Walk reads every package below the given folders, which [Locator.Resolve]
// finds. It is an error when a folder holds no Go source, when nothing in any
// of them is documented, or when ctx is done.
func (l Locator) Walk(ctx context.Context, dirs []string, opts Options) (*Result, error) {
	folders, err := l.folders(ctx, dirs)
	if err != nil {
		return nil, err
	}
	workers := opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	type part struct {
		decls    []Decl
		used     *uses
		packages int
		skipped  []Skip
	}
	parts := make([]part, len(folders))
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(workers, len(folders)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(folders) {
					return
				}
				p := &parts[i]
				p.decls, p.used, p.packages, p.skipped = folders[i].extract()
				if opts.Progress != nil {
					mu.Lock()
					done++
					opts.Progress(done, len(folders))
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &Result{}
	var all []*uses
	for _, p := range parts {
		all = append(all, p.used)
		r.Decls = append(r.Decls, p.decls...)
		r.Packages += p.packages
		r.Skipped = append(r.Skipped, p.skipped...)
	}
	if len(r.Decls) == 0 {
		why := "none has a doc comment"
		if len(r.Skipped) > 0 {
			why = fmt.Sprintf("%d files skipped, the first: %s: %v", len(r.Skipped), r.Skipped[0].File, r.Skipped[0].Err)
		}
		return nil, fmt.Errorf("no documented function in %v: %s", dirs, why)
	}
	resolve(r.Decls, all)
	return r, nil
}
