package mpi

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/scale/dist"
)

// Launched reports whether a launcher started the process as one of several ranks.
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

// World returns the group of all launched ranks, or a group of one if the process was not launched. It
// is called once; [dist.Comm.Close] ends it.
//
// If the options do not set a timeout, the environment variable TENON_MPI_TIMEOUT, such as 30s, says
// how long ranks wait for each other.
func World(o dist.Options) (*dist.Comm, error) {
	if !Launched() {
		return dist.Alone(), nil
	}
	if text := os.Getenv("TENON_MPI_TIMEOUT"); text != "" && o.Timeout == 0 {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			e := tenon.NewError(tenon.ErrInvalid, "dist/mpi", fmt.Sprintf("TENON_MPI_TIMEOUT is %q", text))
			e.Hint = "set it to a duration such as 30s"
			return nil, e
		}
		o.Timeout = d
	}
	return world(o)
}

// Main calls f with the group of all ranks and ends the program. If f returns an error, Main prints it
// and the status is 1. An interrupt ends the context.
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
		time.Sleep(200 * time.Millisecond) // the launcher ends all ranks together with the first; let the others report their errors
	}
	os.Exit(1)
}
