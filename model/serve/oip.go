package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// The Open Inference Protocol v2 over HTTP, with Triton's binary tensors.

// headerLength is the header with the length of the JSON in a body that continues with tensors.
const headerLength = "Inference-Header-Content-Length"

// routeV2 routes what follows /v2/models/.
func (s *Server) routeV2(rest string, by func(string, handler) (handler, string)) (handler, string) {
	parts := strings.Split(rest, "/")
	name, version := parts[0], ""
	parts = parts[1:]
	if len(parts) >= 2 && parts[0] == "versions" {
		version, parts = parts[1], parts[2:]
	}
	verb := strings.Join(parts, "/")
	switch verb {
	case "":
		return by(http.MethodGet, func(w http.ResponseWriter, _ *http.Request) error { return s.modelMetadata(w, name, version) })
	case "ready":
		return by(http.MethodGet, func(w http.ResponseWriter, _ *http.Request) error { return s.modelReady(w, name, version) })
	case "infer":
		return by(http.MethodPost, func(w http.ResponseWriter, r *http.Request) error { return s.infer(w, r, name, version) })
	case "generate_stream":
		return by(http.MethodPost, func(w http.ResponseWriter, r *http.Request) error { return s.natural(w, r, name, true) })
	}
	return nil, ""
}

func (s *Server) modelReady(w http.ResponseWriter, name, version string) error {
	if _, err := s.model(name, version); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	return answer(w, []byte(`{"ready":true}`))
}

// A flat is a column as metadata describe it.
type flat struct {
	name     string
	datatype string
	shape    []int
}

// flats returns the columns of arguments or results.
func flats(list []Arg, layouts []*layout) []flat {
	var out []flat
	for i, a := range list {
		l := layouts[i]
		if l == nil {
			out = append(out, flat{a.Name, "BYTES", []int{-1}})
			continue
		}
		for _, c := range l.columns {
			f := flat{c.name, datatype(c.dt), slices.Repeat([]int{-1}, c.rank)}
			if t, ok := a.Spec.(*tensor.Spec); ok {
				f.shape = t.Shape().Dims()
			}
			out = append(out, f)
		}
	}
	return out
}

func (s *Server) modelMetadata(w http.ResponseWriter, name, version string) error {
	f, err := s.model(name, version)
	if err != nil {
		return err
	}
	b := append(appendText([]byte(`{"name":`), name), `,"versions":`...)
	b = append(appendTexts(b, s.versions(name)), `,"platform":"tenon","inputs":`...)
	b = append(appendFlats(b, f.inputs), `,"outputs":`...)
	specs, err := json.Marshal(signature{signatureOf(f.Args), signatureOf(f.Results)})
	if err != nil {
		return err
	}
	b = append(append(appendFlats(b, f.outputs), `,"tenon":`...), specs...)
	return answer(w, append(b, '}'))
}

func appendFlats(b []byte, list []flat) []byte {
	b = append(b, '[')
	for i, f := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"name":`...), f.name)
		b = appendText(append(b, `,"datatype":`...), f.datatype)
		b = appendInts(append(b, `,"shape":`...), f.shape)
		b = append(b, '}')
	}
	return append(b, ']')
}

func appendTexts(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, t := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, t)
	}
	return append(b, ']')
}

func appendInts(b []byte, list []int) []byte {
	b = append(b, '[')
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}

func (s *Server) infer(w http.ResponseWriter, r *http.Request, name, version string) error {
	f, err := s.open(name, version, nil)
	if err != nil {
		return err
	}
	media, err := mediaType(r)
	if err != nil {
		return err
	}
	if strings.HasPrefix(media, arrowMedia) {
		return s.arrow(w, r, f, media)
	}
	q, err := s.inference(r, media, f)
	if err != nil {
		return err
	}
	names, cols, err := s.answerFlat(r.Context(), r.Header, f, q)
	if err != nil {
		return err
	}
	return q.write(w, f, names, cols)
}

// open returns the model of a request, unless calls are not accepted or the request was already
// found to be invalid.
func (s *Server) open(name, version string, wrong error) (*served, error) {
	f, err := s.model(name, version)
	if err == nil {
		err = s.ready()
	}
	if err == nil {
		err = wrong
	}
	return f, err
}

// answerFlat runs a request and returns the requested columns, in order.
func (s *Server) answerFlat(ctx context.Context, h http.Header, f *served, q *inference) ([]output, columns, error) {
	ctx, cancel, err := q.terms.of(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	defer cancel()
	args, wanted, err := s.prepared(ctx, f, q)
	if err != nil {
		return nil, nil, err
	}
	out, err := s.call(ctx, f, args)
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	all, err := f.resultColumns(out)
	f.counts.out.Add(time.Since(began).Microseconds())
	return wanted, all, err
}

// prepared returns the arguments of a request, whose memory is counted, and the requested
// results.
func (s *Server) prepared(ctx context.Context, f *served, q *inference) ([]tenon.Value, []output, error) {
	if err := s.hold(ctx, q.bytes); err != nil {
		return nil, nil, err
	}
	began := time.Now()
	args, err := s.arguments(f, q.inputs)
	if err != nil {
		f.counts.other.Add(1)
		return nil, nil, err
	}
	wanted, err := q.wanted(f)
	if err != nil {
		f.counts.other.Add(1)
		return nil, nil, err
	}
	f.counts.in.Add(time.Since(began).Microseconds())
	return args, wanted, nil
}

// resultColumns returns the columns of results.
func (f *served) resultColumns(out []tenon.Value) (columns, error) {
	all := columns{}
	for i, v := range out {
		c, err := taken(f.Results[i].Name, v)
		if err != nil {
			return nil, err
		}
		for name, t := range c {
			all[name] = t
		}
	}
	return all, nil
}

// wanted returns the requested results, or all if none are named.
func (q *inference) wanted(f *served) ([]output, error) {
	known := f.outputs
	if !q.asked {
		out := make([]output, len(known))
		for i, k := range known {
			out[i] = output{k.name, q.binary}
		}
		return out, nil
	}
	seen := map[string]bool{}
	for _, o := range q.outputs {
		if seen[o.name] {
			return nil, badInput("the output %s occurs twice", shortened(o.name))
		}
		seen[o.name] = true
		if !slices.ContainsFunc(known, func(k flat) bool { return k.name == o.name }) {
			return nil, badInput("there is no output %s", shortened(o.name))
		}
	}
	return q.outputs, nil
}

// arguments makes Values from inputs.
func (s *Server) arguments(f *served, inputs []input) ([]tenon.Value, error) {
	whole := map[string]tenon.Value{}
	cols := columns{}
	seen := map[string]bool{}
	for i := range inputs {
		in := &inputs[i]
		if seen[in.name] {
			return nil, badInput("the input %s occurs twice", shortened(in.name))
		}
		seen[in.name] = true
		if in.json {
			k := slices.IndexFunc(f.Args, func(a Arg) bool { return a.Name == in.name })
			if k < 0 || f.in[k] == nil {
				return nil, badInput("there is no argument %s that JSON can describe", shortened(in.name))
			}
			if err := in.nested(s.opts.MaxDepth, s.opts.MaxElements); err != nil {
				return nil, err
			}
			v, err := nestedValue(f.in[k], in.data, natural, s.opts.MaxElements)
			if err != nil {
				return nil, err
			}
			whole[in.name] = v
			continue
		}
		if !slices.ContainsFunc(f.inputs, func(k flat) bool { return k.name == in.name }) {
			return nil, badInput("there is no input %s", shortened(in.name))
		}
		t, err := in.tensor(s.opts.MaxElements)
		if err != nil {
			return nil, err
		}
		cols[in.name] = t
	}
	args := make([]tenon.Value, len(f.Args))
	for i, a := range f.Args {
		var err error
		switch v, ok := whole[a.Name]; {
		case ok:
			args[i] = v
		case a.Spec == nil:
			if args[i] = cols[a.Name]; cols[a.Name] == nil {
				return nil, badInput("the input %s is missing", a.Name)
			}
		default:
			if args[i], err = cols.built(f.in[i]); err != nil {
				return nil, err
			}
		}
	}
	return args, nil
}

// rawOf returns the elements of a column as bytes.
func rawOf(t tensor.Tensor) []byte {
	s, ok := t.(*tensor.Strings)
	if !ok {
		return tensor.Contiguous(t.(*tensor.Dense)).Bytes()
	}
	var b []byte
	for i := range s.Len() {
		x := s.At(i)
		b = append(b, byte(len(x)), byte(len(x)>>8), byte(len(x)>>16), byte(len(x)>>24))
		b = append(b, x...)
	}
	return b
}

// write answers with columns.
func (q *inference) write(w http.ResponseWriter, f *served, names []output, cols columns) error {
	b := appendText([]byte(`{"model_name":`), f.Name)
	b = append(appendText(append(b, `,"model_version":`...), f.version), `,"id":`...)
	b = append(appendText(b, q.id), `,"outputs":[`...)
	var tail []byte
	binary := false
	for i, o := range names {
		t := cols[o.name]
		if t == nil {
			return badInput("there is no output %s", shortened(o.name))
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"name":`...), o.name)
		b = appendText(append(b, `,"datatype":`...), datatype(t.DType()))
		b = appendInts(append(b, `,"shape":`...), t.Shape().Dims())
		if o.binary {
			raw := rawOf(t)
			binary, tail = true, append(tail, raw...)
			b = append(strconv.AppendInt(append(b, `,"parameters":{"binary_data_size":`...), int64(len(raw)), 10), `}}`...)
			continue
		}
		b = append(b, `,"data":[`...)
		r := readerOf(t)
		n := t.Shape().Size()
		for k := range n {
			if k > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = r.append(b, k, o.name, openInference); err != nil {
				return err
			}
		}
		b = append(b, `]}`...)
	}
	b = append(b, `]}`...)
	if !binary {
		return answer(w, b)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set(headerLength, strconv.Itoa(len(b)))
	w.Header().Set("Content-Length", strconv.Itoa(len(b)+len(tail)))
	w.Write(b)
	w.Write(tail)
	return nil
}
