package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon/model/hub"
)

// hubCommand stores models in registries.
func hubCommand(p *program) *cli.Command {
	with := func(name, use, args string, least, most int, more []cli.Flag, f func(ctx context.Context, c *cli.Command, h *hub.Client, args []string) error) *cli.Command {
		return &cli.Command{
			Name: name, Usage: use, ArgsUsage: args,
			Flags: append([]cli.Flag{
				&cli.StringFlag{Name: "cache", Usage: "cache fetched files in `FOLDER`", Sources: cli.EnvVars("TENON_HUB_CACHE")},
				&cli.BoolFlag{Name: "offline", Usage: "use only the cache"},
				&cli.BoolFlag{Name: "plain-http", Usage: "use plain HTTP for registries on other machines"},
			}, more...),
			Action: func(ctx context.Context, c *cli.Command) error {
				if n := c.NArg(); n < least || n > most {
					return usage("hub %s takes %s, got %d arguments", name, args, n)
				}
				h := &hub.Client{Cache: c.String("cache"), Offline: c.Bool("offline"), PlainHTTP: c.Bool("plain-http")}
				return f(ctx, c, h, c.Args().Slice())
			},
		}
	}
	files := []cli.Flag{&cli.StringSliceFlag{Name: "files", Usage: "only files that match `PATTERN`, such as *.safetensors"}}
	say := func(format string, args ...any) error {
		_, err := fmt.Fprintf(p.stdout, format, args...)
		return err
	}
	return &cli.Command{
		Name: "hub", Usage: "push models to registries, and pull them",
		Description: "A REF is HOST/NAME:TAG or HOST/NAME@DIGEST in an OCI registry, oci:FOLDER:TAG in a folder with the OCI layout, or\n" +
			"hf:ORG/NAME@REVISION on Hugging Face, which is read-only. Passwords come from docker login; a registry on the local\n" +
			"machine is accessed without TLS.",
		Commands: []*cli.Command{
			with("push", "push a model, a folder or a ZIP file, to a registry", "MODEL REF", 2, 2, nil,
				func(ctx context.Context, c *cli.Command, h *hub.Client, args []string) error {
					digest, err := h.Push(ctx, args[0], args[1])
					if err != nil {
						return err
					}
					return say("%s\n", digest)
				}),
			with("pull", "pull a model into a folder, by default one of the same name", "REF [FOLDER]", 1, 2, files,
				func(ctx context.Context, c *cli.Command, h *hub.Client, args []string) error {
					h.Files = c.StringSlice("files")
					to := ownName(args[0])
					if len(args) > 1 {
						to = args[1]
					}
					if err := h.Pull(ctx, args[0], to); err != nil {
						return err
					}
					return say("%s\n", to)
				}),
			with("fetch", "fetch a model into the cache, and print its folder", "REF", 1, 1, files,
				func(ctx context.Context, c *cli.Command, h *hub.Client, args []string) error {
					h.Files = c.StringSlice("files")
					dir, err := h.Fetch(ctx, args[0])
					if err != nil {
						return err
					}
					return say("%s\n", dir)
				}),
			with("list", "list the tags of a repository, or the repositories of a registry", "HOST[/NAME]", 1, 1, nil,
				func(ctx context.Context, c *cli.Command, h *hub.Client, args []string) error {
					names, err := h.List(ctx, args[0])
					for _, n := range names {
						err = errors.Join(err, say("%s\n", n))
					}
					return err
				}),
			with("tag", "give a model more tags", "REF TAG…", 2, 1000, nil,
				func(ctx context.Context, c *cli.Command, h *hub.Client, args []string) error {
					return h.Tag(ctx, args[0], args[1:]...)
				}),
			with("copy", "copy a model to another place, with the same digest", "REF REF", 2, 2, nil,
				func(ctx context.Context, c *cli.Command, h *hub.Client, args []string) error {
					digest, err := h.Copy(ctx, args[0], args[1])
					if err != nil {
						return err
					}
					return say("%s\n", digest)
				}),
			{
				Name: "serve", Usage: "serve a folder as a registry", ArgsUsage: "FOLDER",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "addr", Value: "127.0.0.1:5000", Usage: "listen on `ADDRESS`"},
					&cli.BoolFlag{Name: "read-only", Usage: "refuse changes"},
					&cli.Int64Flag{Name: "max-file", Usage: "largest file to accept, in bytes; 0: no limit"},
				},
				Action: func(ctx context.Context, c *cli.Command) error {
					if c.NArg() != 1 {
						return usage("hub serve needs a folder")
					}
					return serveRegistry(ctx, p, c)
				},
			},
		},
	}
}

// ownName returns the last element of the name of a repository.
func ownName(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	name := path.Base(ref)
	if rest, ok := strings.CutPrefix(ref, "oci:"); ok {
		name = path.Base(rest)
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "hf:"), ":")
	return name
}

// serveRegistry runs a registry until the context ends.
func serveRegistry(ctx context.Context, p *program, c *cli.Command) (err error) {
	s, err := hub.NewServer(c.Args().First(), hub.ServerOptions{ReadOnly: c.Bool("read-only"), MaxBlob: c.Int64("max-file")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := net.Listen("tcp", c.String("addr"))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.stdout, "http://%s/v2/\n", l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if h.Shutdown(last) != nil {
		h.Close() // long uploads are restarted
	}
	return nil
}
