// Command servetest serves functions for checks of the protocols: values of any type echoed, ragged
// rows, records, slow and failing functions, a stream. It prints its address.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tenonml/tenon/model/serve"
)

func main() {
	var o serve.Options
	addr := flag.String("addr", "127.0.0.1:0", "the address to listen at")
	flag.Int64Var(&o.MaxBody, "max-body", 64<<20, "bytes of a body, also after decompression")
	flag.IntVar(&o.MaxDepth, "max-depth", 100, "nesting of JSON")
	flag.IntVar(&o.MaxElements, "max-elements", 64<<20, "elements of one argument")
	flag.IntVar(&o.MaxConcurrent, "max-concurrent", 0, "calls that run at once; 0: any number")
	flag.IntVar(&o.Queue, "queue", 1024, "calls that may wait")
	flag.DurationVar(&o.ReadTimeout, "read-timeout", 10*time.Second, "for the whole of a request")
	flag.DurationVar(&o.MaxDelay, "max-delay", 0, "how long the first call of a batch waits")
	flag.IntVar(&o.MaxRows, "max-rows", 64, "rows of a batch")
	warmUp := flag.Duration("warmup", 0, "how long warm-up takes")
	drain := flag.Duration("drain", 5*time.Second, "for how long calls are taken after SIGTERM")
	flag.Parse()
	if o.Queue == 0 {
		o.Queue = -1 // no queue; 0 would mean the default
	}
	if err := run(*addr, o, *warmUp, *drain); err != nil {
		fmt.Fprintln(os.Stderr, "servetest:", err)
		os.Exit(1)
	}
}

func run(addr string, o serve.Options, warmUp, drain time.Duration) error {
	s := serve.New(o)
	for _, f := range functions() {
		if err := s.Add(f); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(130)
	}()
	s.SetReady(warmUp == 0)
	if warmUp > 0 {
		time.AfterFunc(warmUp, func() { s.SetReady(true) })
	}
	fmt.Printf("listening on %s pid=%d\n", l.Addr(), os.Getpid())
	return s.Serve(ctx, l, drain)
}
