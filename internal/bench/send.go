package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"
)

// A sender sends requests over connections, with one in flight on each.
type sender struct {
	url, media  string
	bodies      [][]byte // in turn
	connections int
	rate        float64 // requests a second over all connections; 0: the next one when the last is answered
	clients     []*http.Client
}

// A sending is what came of requests.
type sending struct {
	N      int       `json:"n"`
	QPS    float64   `json:"qps"`
	Min    float64   `json:"min"`
	P50    float64   `json:"p50"`
	P99    float64   `json:"p99"`
	Answer string    `json:"answer"` // the first
	all    []float64 // seconds, in order of size
}

// open makes the connections' clients.
func (s *sender) open() {
	s.clients = make([]*http.Client, s.connections)
	for k := range s.clients {
		transport := &http.Transport{MaxConnsPerHost: 1, Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP1(s.media != "application/grpc")
		transport.Protocols.SetUnencryptedHTTP2(s.media == "application/grpc")
		s.clients[k] = &http.Client{Transport: transport}
	}
}

func (s *sender) close() {
	for _, c := range s.clients {
		c.CloseIdleConnections()
	}
}

// one sends request i.
func (s *sender) one(i int) ([]byte, error) {
	res, err := s.clients[i%s.connections].Post(s.url, s.media, bytes.NewReader(s.bodies[i%len(s.bodies)]))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if code := res.Trailer.Get("Grpc-Status"); err == nil && (res.StatusCode != http.StatusOK || code != "" && code != "0") {
		err = fmt.Errorf("%s: %s: %s%s", s.url, res.Status, b, res.Trailer.Get("Grpc-Message"))
	}
	return b, err
}

// send sends for a while. At a rate, a request that was due while its connection was still
// busy counts from when it was due; one that was sent late because the timer was, from
// when it was sent.
func (s *sender) send(span time.Duration) (sending, error) {
	var mu sync.Mutex
	var g sync.WaitGroup
	var out sending
	var failed error
	start := time.Now()
	for k := range s.connections {
		g.Go(func() {
			var mine []float64
			var err error
			for i := k; (len(mine) == 0 || time.Since(start) < span) && err == nil; i += s.connections {
				before := time.Now()
				if s.rate > 0 {
					due := start.Add(time.Duration(float64(i) / s.rate * 1e9))
					if wait := due.Sub(before); wait > 0 {
						time.Sleep(wait)
						before = time.Now()
					} else {
						before = due
					}
				}
				_, err = s.one(i)
				mine = append(mine, time.Since(before).Seconds())
			}
			mu.Lock()
			defer mu.Unlock()
			out.all = append(out.all, mine...)
			if err != nil {
				failed = err
			}
		})
	}
	g.Wait()
	took := time.Since(start).Seconds()
	slices.Sort(out.all)
	n := len(out.all)
	out.N, out.QPS, out.Min, out.P50, out.P99 = n, float64(n)/took, out.all[0], out.all[n/2], out.all[n*99/100]
	return out, failed
}

// sendMain is the command "send", which loads any server.
func sendMain(args []string) error {
	flags := flag.NewFlagSet("send", flag.ExitOnError)
	url := flags.String("url", "", "where to")
	media := flags.String("media", "application/json", "what the body is")
	file := flags.String("body", "", "a file with the body")
	connections := flags.Int("conns", 8, "connections, with one request in flight on each")
	rate := flags.Float64("rate", 0, "requests a second; 0: as many as are answered")
	span := flags.Duration("for", 3*time.Second, "how long")
	if err := flags.Parse(args); err != nil {
		return err
	}
	body, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	s := &sender{url: *url, media: *media, bodies: [][]byte{body}, connections: *connections}
	s.open()
	defer s.close()
	var first []byte
	for i := range 50 { // warm
		if first, err = s.one(i); err != nil {
			return err
		}
	}
	s.rate = *rate
	out, err := s.send(*span)
	if err != nil {
		return err
	}
	out.Answer = string(first)
	return json.NewEncoder(os.Stdout).Encode(out)
}

// serveMain is the command "serve", which serves the functions of serve_qps until it is
// interrupted.
func serveMain(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	addr := flags.String("addr", "127.0.0.1:0", "where to listen")
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	url, end, err := serving(l)
	if err != nil {
		return err
	}
	defer end()
	fmt.Println(url)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
	return nil
}
