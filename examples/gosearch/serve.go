package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/examples/gosearch/internal/store"
)

func serveCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "answer questions over HTTP: a page to type into at /, JSON at /search?q=…&n=…",
		Flags: []cli.Flag{&cli.StringFlag{Name: "addr", Usage: "listen on `ADDRESS`", Value: "localhost:8017"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			dir, err := home(c, modelFolder)
			if err != nil {
				return err
			}
			m, err := store.Open(dir)
			if err != nil {
				return err
			}
			l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.String("addr"))
			if err != nil {
				return err
			}
			fmt.Fprintf(stdout, "http://%s/\n", l.Addr())
			return serve(ctx, l, handler(newSearcher(m)))
		},
	}
}

// serve answers until ctx is done, and lets requests that are under way end.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if err := s.Shutdown(end); err != nil {
		return err
	}
	return ctx.Err()
}

//go:embed page.html
var page []byte

// mostAnswers bounds what a request may ask for.
const mostAnswers = 100

// handler answers requests: the page, and questions.
func handler(s *searcher) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
		w.Write(page)
	})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		n := 10
		if text := r.FormValue("n"); text != "" {
			var err error
			if n, err = strconv.Atoi(text); err != nil || n < 1 || n > mostAnswers {
				fail(w, http.StatusBadRequest, fmt.Sprintf("n is %q, want a number from 1 to %d", text, mostAnswers))
				return
			}
		}
		answers, unknown, err := s.search(r.FormValue("q"), n)
		switch {
		case errors.Is(err, errEmptyQuestion):
			fail(w, http.StatusBadRequest, err.Error())
		case errors.Is(err, errUnknownWords):
			fail(w, http.StatusNotFound, err.Error())
		case err != nil:
			fail(w, http.StatusInternalServerError, err.Error())
		default:
			w.Header().Set("Content-Type", "application/json")
			writeJSON(w, answers, unknown) // whoever asked may have gone
		}
	})
	return mux
}

func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": text})
}
