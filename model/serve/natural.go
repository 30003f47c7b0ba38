package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tenonml/tenon"
)

// natural answers a call in JSON according to the function's own Specs. If events is true,
// results are sent as server-sent events.
func (s *Server) natural(w http.ResponseWriter, r *http.Request, name string, events bool) error {
	f, err := s.open(name, "", nil)
	if err != nil {
		return err
	}
	ctx, cancel, err := terms{}.of(r.Context(), r.Header)
	if err != nil {
		return err
	}
	defer cancel()
	if err := isJSON(r); err != nil {
		return err
	}
	o, err := s.object(r, false)
	if err != nil {
		return err
	}
	args := make([]tenon.Value, len(f.Args))
	found := 0
	for i, a := range f.Args {
		x, ok := o.get(a.Name)
		if !ok {
			return badInput("the argument %s is missing", a.Name)
		}
		found++
		if a.Spec == nil {
			return faulty(http.StatusNotImplemented, "the type of %s must be part of the call, but JSON has no types", a.Name)
		}
		if args[i], err = nestedValue(f.in[i], x, natural, s.opts.MaxElements); err != nil {
			return err
		}
	}
	if found < len(o.names) {
		for _, n := range o.names {
			if _, ok := f.arg(n); !ok {
				return badInput("there is no argument %s", shortened(n))
			}
		}
	}
	if events || f.Stream != nil {
		return s.sendAll(ctx, w, f, args, events || strings.Contains(r.Header.Get("Accept"), "text/event-stream"))
	}
	out, err := s.call(ctx, f, args)
	if err != nil {
		return err
	}
	b, err := f.object(nil, out)
	if err != nil {
		return err
	}
	return answer(w, b)
}

// object writes results as an object.
func (f *served) object(b []byte, out []tenon.Value) ([]byte, error) {
	return appendObject(b, f.Results, f.out, out)
}

// appendObject writes arguments or results as an object.
func appendObject(b []byte, list []Arg, layouts []*layout, values []tenon.Value) ([]byte, error) {
	b = append(b, '{')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, list[i].Name), ':')
		var err error
		if b, err = appendValue(b, list[i].Name, layouts[i], v, natural); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// sendAll sends each result of a stream as a line, or as an event. An error before the first
// result is the answer; a later one is the last line or event.
func (s *Server) sendAll(ctx context.Context, w http.ResponseWriter, f *served, args []tenon.Value, events bool) error {
	begun := false
	begin := func() {
		if !begun {
			media := "application/x-ndjson"
			if events {
				media = "text/event-stream"
			}
			w.Header().Set("Content-Type", media)
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusOK)
		}
		begun = true
	}
	write := func(b []byte) error {
		begin()
		if events {
			b = append(append([]byte("data: "), b...), '\n')
		}
		_, err := w.Write(append(b, '\n'))
		return errors.Join(err, http.NewResponseController(w).Flush())
	}
	err := s.stream(ctx, f, args, func(out []tenon.Value) error {
		b, err := f.object(nil, out)
		if err != nil {
			return err
		}
		return errors.Join(write(b), ctx.Err())
	})
	if err != nil && !begun {
		return err
	}
	if err != nil {
		b := appendText([]byte(`{"error":`), faultOf(err).text)
		write(append(b, '}'))
	}
	begin()
	return nil
}
