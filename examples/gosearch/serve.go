package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/gosearch/internal/store"
	"github.com/tenonml/tenon/internal/markup"
	"github.com/tenonml/tenon/model/serve"
)

func serveCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "answer questions over HTTP: a page to type into at /, JSON at /search?q=…&n=…&all=true",
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
			h, err := newServer(newSearcher(m))
			if err != nil {
				return err
			}
			fmt.Fprintf(stdout, "http://%s/\n", l.Addr())
			return h.Serve(ctx, l, 0)
		},
	}
}

// newServer returns a server of the function search, in all protocols of package serve, and of
// the page.
func newServer(s *searcher) (*serve.Server, error) {
	type question struct {
		Q string `json:"q"`
		N int64  `json:"n"`
	}
	type found struct {
		Answers []answer `json:"answers"`
		Unknown []string `json:"unknown_words"`
	}
	search, err := serve.Rows("search", func(_ context.Context, rows []question) ([]found, error) {
		var out []found
		for _, q := range rows {
			if err := inRange(q.N); err != nil {
				return nil, tenon.NewError(tenon.ErrInvalid, "search", err.Error())
			}
			answers, unknown, err := s.search(q.Q, int(q.N), false)
			if errors.Is(err, errEmptyQuestion) || errors.Is(err, errUnknownWords) {
				return nil, tenon.NewError(tenon.ErrInvalid, "search", err.Error())
			}
			if err != nil {
				return nil, err
			}
			out = append(out, found{answers, unknown})
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	search.Doc, search.Batched = "the best answers to each question", true
	h := serve.New(serve.Options{Name: "gosearch", Around: func(served http.Handler) http.Handler { return withPage(s, served) }})
	return h, h.Add(search)
}

// inRange checks the number of answers that is asked for.
func inRange[N int | int64](n N) error {
	if n < 1 || n > mostAnswers {
		return fmt.Errorf("n is %d, want a number from 1 to %d", n, mostAnswers)
	}
	return nil
}

// mostAnswers bounds the number of answers to a request.
const mostAnswers = 100

// withPage serves the page, and passes all other requests on.
func withPage(s *searcher, served http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", served)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", markup.Policy()+"; frame-ancestors 'none'")
		io.WriteString(w, pageOf(s, r.FormValue("q")))
	})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		n := 10
		if text := r.FormValue("n"); text != "" {
			var err error
			if n, err = strconv.Atoi(text); err != nil || inRange(n) != nil {
				fail(w, http.StatusBadRequest, fmt.Sprintf("n is %q, want a number from 1 to %d", text, mostAnswers))
				return
			}
		}
		all := false
		if text := r.FormValue("all"); text != "" {
			var err error
			if all, err = strconv.ParseBool(text); err != nil {
				fail(w, http.StatusBadRequest, fmt.Sprintf("all is %q, want true or false", text))
				return
			}
		}
		answers, unknown, err := s.search(r.FormValue("q"), n, all)
		switch {
		case errors.Is(err, errEmptyQuestion):
			fail(w, http.StatusBadRequest, err.Error())
		case errors.Is(err, errUnknownWords):
			fail(w, http.StatusNotFound, err.Error())
		case err != nil:
			fail(w, http.StatusInternalServerError, err.Error())
		default:
			w.Header().Set("Content-Type", "application/json")
			writeJSON(w, answers, unknown) // the client may have disconnected
		}
	})
	return mux
}

func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": text})
}
