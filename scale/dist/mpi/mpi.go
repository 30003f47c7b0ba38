package mpi

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/tenonml/tenon/scale/dist"
)

// Launched reports whether a launcher has started the process as one of several ranks.
func Launched() bool {
	switch os.Getenv("TENON_MPI") {
	case "on":
		return true
	case "off":
		return false
	}
	for _, name := range []string{"PMI_SIZE", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// World returns the group of all ranks that were launched, and a group of one where nobody launched the
// process. It is called once; [dist.Comm.Close] ends it.
func World(o dist.Options) (*dist.Comm, error) {
	if !Launched() {
		return dist.Alone(), nil
	}
	return world(o)
}

// Main calls f with the group of all ranks and ends the program: with status 1 after an error, which it
// prints. An interrupt ends the context.
func Main(o dist.Options, f func(ctx context.Context, c *dist.Comm) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := World(o)
	if err == nil {
		if err = c.Run(ctx, f); err == nil {
			return
		}
		err = fmt.Errorf("rank %d: %w", c.Rank(), err)
	}
	fmt.Fprintln(os.Stderr, err)
	if c != nil {
		time.Sleep(200 * time.Millisecond) // the launcher ends all ranks with the first: the others have something to say as well
	}
	os.Exit(1)
}
