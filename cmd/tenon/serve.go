package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/model/hub"
	"github.com/tenonml/tenon/model/serve"
)

func serveCommand(p *program) *cli.Command {
	text := func(name, usage string) *cli.StringFlag { return &cli.StringFlag{Name: name, Usage: usage} }
	number := func(name string, value int, usage string) *cli.IntFlag {
		return &cli.IntFlag{Name: name, Value: value, Usage: usage}
	}
	span := func(name string, value time.Duration, usage string) *cli.DurationFlag {
		return &cli.DurationFlag{Name: name, Value: value, Usage: usage}
	}
	return &cli.Command{
		Name: "serve", Usage: "serve the functions of saved models over HTTP and gRPC",
		ArgsUsage: "MODEL…",
		Description: "A MODEL is a folder or ZIP file written by saved.Model.Save, a folder of such models with version numbers as names, or\n" +
			"a model in a registry (HOST/NAME:TAG, oci:FOLDER:TAG, hf:ORG/NAME; see tenon hub), which is checked again when the\n" +
			"server looks for versions. NAME=MODEL serves a model under a different name.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:8000", Usage: "listen on `ADDRESS`", Sources: cli.EnvVars("TENON_ADDR")},
			text("admin", "listen on `ADDRESS` for metrics of the process (/metrics) and profiles (/debug/pprof/)"),
			&cli.StringFlag{Name: "versions", Value: "1", Usage: "serve the versions in `POLICY`: a number of the newest, all, or a list such as 3,5,"},
			&cli.StringSliceFlag{Name: "label", Usage: "give a version a label, as `LABEL=VERSION`"},
			span("poll", 0, "interval between checks for new versions; 0: only when the repository's load call asks"),
			text("tls-cert", "use TLS with the certificate in `FILE`, which may change while the server runs"),
			text("tls-key", "key of the TLS certificate, in `FILE`"),
			text("client-ca", "require client certificates signed by one of those in `FILE`"),
			&cli.StringFlag{Name: "token", Usage: "require `TOKEN` from clients (Authorization: Bearer)", Sources: cli.EnvVars("TENON_TOKEN")},
			text("token-file", "require one of the tokens in `FILE`, one per line"),
			&cli.StringSliceFlag{Name: "origin", Usage: "allow pages from `ORIGIN` to read answers (CORS)"},
			&cli.BoolFlag{Name: "offline", Usage: "load models of registries only from the cache"},
			&cli.BoolFlag{Name: "plain-http", Usage: "use plain HTTP for registries on other machines"},
			number("max-body", 64<<20, "maximum bytes of a body, also after decompression"),
			number("max-depth", 100, "maximum nesting of JSON"),
			number("max-elements", 64<<20, "maximum elements of an argument"),
			number("max-memory", 0, "maximum bytes of all running requests; 0: no limit"),
			number("max-concurrent", 0, "maximum concurrent calls; 0: no limit"),
			number("queue", 1024, "maximum waiting calls"),
			number("max-rows", 64, "maximum rows of a batch"),
			number("batches", 0, "maximum concurrent batches of a function; 0: one for each processor"),
			number("max-batch-elements", 1<<20, "maximum elements of a batch"),
			number("priorities", 1, "number of priorities for calls; 1 goes first"),
			span("max-delay", 0, "how long the first call of a batch waits for others"),
			span("read-timeout", 10*time.Second, "time limit for reading a request"),
			span("write-timeout", 30*time.Second, "time limit for a client to receive a MiB of an answer"),
			span("drain", 5*time.Second, "how long to accept calls after SIGTERM"),
			&cli.StringFlag{Name: "log", Value: "text", Usage: "log requests as `FORM`: text, json or off"},
			text("traces", "append spans of requests to `FILE`, as OTLP in JSON"),
			&cli.StringFlag{Name: "otlp", Usage: "send spans of requests to the collector at `URL` by OTLP over HTTP, in JSON", Sources: cli.EnvVars("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")},
		},
		Action: func(ctx context.Context, c *cli.Command) error { return serveModels(ctx, c, p) },
	}
}

// serveModels implements the command.
func serveModels(ctx context.Context, c *cli.Command, p *program) (err error) {
	if c.NArg() == 0 {
		return usage("serve needs a MODEL")
	}
	o, err := serveOptions(c, p)
	if err != nil {
		return err
	}
	if file, url := c.String("traces"), c.String("otlp"); file != "" || url != "" {
		around, end, err := traced(file, url)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
		o.Around = around
	}
	l, err := net.Listen("tcp", c.String("addr"))
	if err != nil {
		return err
	}
	defer l.Close()
	policy, err := policyOf(c.String("versions"))
	if err != nil {
		return err
	}
	labels, err := labelsOf(c.StringSlice("label"))
	if err != nil {
		return err
	}
	s := serve.New(o)
	registry := &hub.Client{Offline: c.Bool("offline"), PlainHTTP: c.Bool("plain-http")}
	for _, arg := range c.Args().Slice() {
		f := serve.Folder{Path: arg, Policy: policy, Labels: labels, Poll: c.Duration("poll")}
		if name, path, ok := strings.Cut(arg, "="); ok {
			f.Name, f.Path = name, path
		}
		if isReference(f.Path) {
			ref := strings.TrimPrefix(f.Path, "hub://")
			f.Fetch = func(ctx context.Context) (string, error) { return registry.Fetch(ctx, ref) }
			if f.Name == "" {
				f.Name = ownName(ref)
			}
		}
		if err := s.AddFolder(ctx, f); err != nil {
			return err
		}
	}
	if addr := c.String("admin"); addr != "" {
		end, err := administer(addr, s, p.stdout)
		if err != nil {
			return err
		}
		defer end()
	}
	scheme := "http"
	if o.TLS != nil {
		scheme = "https"
	}
	if _, err := fmt.Fprintf(p.stdout, "%s://%s/\n", scheme, l.Addr()); err != nil {
		return err
	}
	return s.Serve(ctx, l, c.Duration("drain"))
}

// isReference reports whether a model is a reference to a registry: there is no file of this name,
// and it begins with a host or a scheme.
func isReference(model string) bool {
	if _, err := os.Stat(model); err == nil {
		return false
	}
	for _, scheme := range []string{"hub://", "oci:", "hf:"} {
		if strings.HasPrefix(model, scheme) {
			return true
		}
	}
	host, _, ok := strings.Cut(model, "/")
	return ok && (host == "localhost" || len(host) > 2 && strings.ContainsAny(host, ".:"))
}

func serveOptions(c *cli.Command, p *program) (serve.Options, error) {
	o := serve.Options{
		MaxBody: int64(c.Int("max-body")), MaxDepth: c.Int("max-depth"), MaxElements: c.Int("max-elements"), MaxMemory: int64(c.Int("max-memory")),
		MaxConcurrent: c.Int("max-concurrent"), Queue: c.Int("queue"), MaxRows: c.Int("max-rows"), Batches: c.Int("batches"), MaxDelay: c.Duration("max-delay"), MaxBatchElements: c.Int("max-batch-elements"), Priorities: c.Int("priorities"),
		ReadTimeout: c.Duration("read-timeout"), WriteTimeout: c.Duration("write-timeout"), Origins: c.StringSlice("origin"),
		Garbage: 64 << 20,
	}
	if o.Queue == 0 {
		o.Queue = -1 // none; 0 would mean the default
	}
	switch form := c.String("log"); form {
	case "text":
		o.Log = slog.New(slog.NewTextHandler(p.stderr, nil))
	case "json":
		o.Log = slog.New(slog.NewJSONHandler(p.stderr, nil))
	case "off":
	default:
		return o, usage("-log is %q, want text, json or off", form)
	}
	if t := c.String("token"); t != "" {
		o.Tokens = append(o.Tokens, t)
	}
	if name := c.String("token-file"); name != "" {
		b, err := os.ReadFile(name)
		if err != nil {
			return o, err
		}
		o.Tokens = append(o.Tokens, strings.Fields(string(b))...)
		if len(o.Tokens) == 0 {
			return o, fmt.Errorf("%s contains no token", name)
		}
	}
	var err error
	o.TLS, err = tlsOf(c.String("tls-cert"), c.String("tls-key"), c.String("client-ca"))
	return o, err
}

// policyOf parses which versions are served.
func policyOf(text string) (serve.Policy, error) {
	if text == "all" {
		return serve.Policy{All: true}, nil
	}
	list, several := strings.CutSuffix(text, ",")
	parts := strings.Split(list, ",")
	var p serve.Policy
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil || n == 0 && !several && len(parts) == 1 {
			return p, usage("-versions is %q, want a number, all, or a list such as 3,5", text)
		}
		p.Specific = append(p.Specific, n)
	}
	if !several && len(parts) == 1 {
		return serve.Policy{Latest: int(p.Specific[0])}, nil
	}
	return p, nil
}

func labelsOf(list []string) (map[string]uint64, error) {
	out := map[string]uint64{}
	for _, text := range list {
		label, version, ok := strings.Cut(text, "=")
		n, err := strconv.ParseUint(version, 10, 63)
		if !ok || err != nil || label == "" {
			return nil, usage("-label is %q, want LABEL=VERSION", text)
		}
		out[label] = n
	}
	return out, nil
}

// tlsOf returns the TLS configuration, or nil without a certificate.
func tlsOf(cert, key, authorities string) (*tls.Config, error) {
	if (cert == "") != (key == "") {
		return nil, usage("-tls-cert and -tls-key go together")
	}
	if cert == "" {
		if authorities != "" {
			return nil, usage("-client-ca needs -tls-cert")
		}
		return nil, nil
	}
	k := &keeper{cert: cert, key: key}
	if _, err := k.get(nil); err != nil {
		return nil, err
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: k.get}
	if authorities != "" {
		b, err := os.ReadFile(authorities)
		if err != nil {
			return nil, err
		}
		out.ClientCAs, out.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !out.ClientCAs.AppendCertsFromPEM(b) {
			return nil, fmt.Errorf("%s contains no certificate", authorities)
		}
	}
	return out, nil
}

// A keeper holds a certificate, and reads it again when its file has changed.
type keeper struct {
	cert, key string
	mu        sync.Mutex
	at        time.Time
	loaded    *tls.Certificate
}

func (k *keeper) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.cert)
	if err == nil && (k.loaded == nil || !info.ModTime().Equal(k.at)) {
		var c tls.Certificate
		if c, err = tls.LoadX509KeyPair(k.cert, k.key); err == nil {
			k.loaded, k.at = &c, info.ModTime()
		}
	}
	if k.loaded == nil {
		return nil, err
	}
	return k.loaded, nil // the old one, if the new one cannot be read yet
}

// administer serves metrics and profiles at a separate address.
func administer(addr string, s *serve.Server, stdout io.Writer) (end func(), err error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(stdout, "admin http://%s/\n", l.Addr()); err != nil {
		l.Close()
		return nil, err
	}
	h := &http.Server{Handler: adminHandler(s), ReadHeaderTimeout: 10 * time.Second}
	go h.Serve(l)
	return func() { h.Close() }, nil
}
