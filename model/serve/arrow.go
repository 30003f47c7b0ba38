package serve

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// Arrow columns over HTTP: arguments are columns, and so are results.

const (
	arrowMedia  = "application/vnd.apache.arrow"
	arrowStream = arrowMedia + ".stream"
	arrowFile   = arrowMedia + ".file"
)

// arrow answers a stream or a file with a stream.
func (s *Server) arrow(w http.ResponseWriter, r *http.Request, f *served, media string) error {
	if media != arrowStream && media != arrowFile {
		return faulty(http.StatusUnsupportedMediaType, "the Content-Type %s is not supported; %s and %s are", shortened(media), arrowStream, arrowFile)
	}
	ctx, cancel, err := terms{}.of(r.Context(), r.Header)
	if err != nil {
		return err
	}
	defer cancel()
	if err := f.rowsFirst(); err != nil {
		return err
	}
	b, err := s.body(r)
	if err != nil {
		return err
	}
	args, err := s.fromArrow(f, b, media)
	if err != nil {
		f.counts.other.Add(1)
		return err
	}
	out, err := s.call(ctx, f, args)
	if err != nil {
		return err
	}
	whole, err := f.batch(out)
	if err != nil {
		return err
	}
	var answer bytes.Buffer
	if err := arrowio.Encode(&answer, whole, arrowio.WriteOptions{Stream: true}); err != nil {
		return faulty(http.StatusNotImplemented, "the results cannot be sent as Arrow columns: %s", explained(err))
	}
	w.Header().Set("Content-Type", arrowStream)
	w.Header().Set("Content-Length", strconv.Itoa(answer.Len()))
	w.Write(answer.Bytes())
	return nil
}

// isRecords reports whether a list has one entry, which is a list of records.
func isRecords(list []Arg) bool {
	if len(list) != 1 {
		return false
	}
	s, ok := list[0].Spec.(*structured.Spec)
	return ok && s.Rank() == 1
}

// columnNames returns the names of the columns of a stream or a file, and whether the first
// column has records.
func columnNames(b []byte, media string, most int64) (names []string, records bool, err error) {
	const magic = 8 // bytes before the stream in a file
	if media == arrowFile {
		if len(b) < magic {
			return nil, false, badInput("the body is not an Arrow file")
		}
		b = b[magic:]
	}
	r, err := arrowio.NewReader(bytes.NewReader(b), arrowio.ReadOptions{MaxBytes: most})
	if err != nil {
		return nil, false, badInput("%s", explained(err))
	}
	for i, c := range r.Schema().Fields() {
		names = append(names, c.Name)
		records = records || i == 0 && c.Type.Name() == "struct"
	}
	return names, records, nil
}

// fromArrow converts columns to arguments.
func (s *Server) fromArrow(f *served, b []byte, media string) ([]tenon.Value, error) {
	names, records, err := columnNames(b, media, s.opts.MaxBody)
	if err != nil {
		return nil, err
	}
	apart := isRecords(f.Args) && !(len(names) == 1 && names[0] == f.Args[0].Name && records)
	o := arrowio.ReadOptions{MaxBytes: s.opts.MaxBody}
	if apart {
		rec := f.Args[0].Spec.(*structured.Spec)
		if err := sameNames(names, rec.FieldNames()); err != nil {
			return nil, err
		}
		o.Spec = rec
		for _, n := range rec.FieldNames() { // in the order of the records
			o.Columns = append(o.Columns, structured.PathString([]string{n}))
		}
	} else if o.Spec, err = f.columnsSpec(names); err != nil {
		return nil, err
	}
	v, err := arrowio.Decode(b, o)
	if err != nil {
		if errors.Is(err, arrowio.ErrMemory) {
			return nil, faulty(http.StatusRequestEntityTooLarge, "the columns take more than %d bytes of memory beyond the body", s.opts.MaxBody)
		}
		return nil, f.unlike(err, apart)
	}
	args := []tenon.Value{v}
	if !apart {
		t, ok := v.(*structured.Tensor)
		if !ok {
			return nil, badInput("the body is %s, want columns", tenon.String(v.Spec()))
		}
		args = args[:0]
		for _, a := range f.Args {
			x, err := t.Field(a.Name)
			if err != nil {
				return nil, badInput("the column %s is missing", a.Name)
			}
			args = append(args, x)
		}
	}
	for i, a := range f.Args {
		if a.Spec != nil && !tenon.Compatible(args[i].Spec(), a.Spec) {
			return nil, badInput("%s is %s, want %s", a.Name, tenon.String(args[i].Spec()), tenon.String(a.Spec))
		}
		if err := s.few(a.Name, args[i]); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// unlike returns the error for columns that cannot be read, with the path and the Spec of the column at fault.
func (f *served) unlike(err error, apart bool) error {
	text, where := explained(err), ""
	var e *tenon.Error
	if errors.As(err, &e) {
		where = e.Where
	}
	fields := make([]tenon.Field, len(f.Args))
	for i, a := range f.Args {
		fields[i] = tenon.Field{Name: a.Name, Spec: a.Spec}
	}
	if apart {
		fields = f.Args[0].Spec.(*structured.Spec).Fields()
	}
	for _, c := range fields {
		if below, ok := strings.CutPrefix(where, structured.PathString([]string{c.Name})); ok && c.Spec != nil && (below == "" || strings.ContainsRune(".[", rune(below[0]))) {
			return badInput("%s; %s is %s", text, c.Name, tenon.String(c.Spec))
		}
	}
	return badInput("%s", text)
}

// sameNames compares the columns of a request with the wanted ones.
func sameNames(got, want []string) error {
	for _, n := range got {
		if !slices.Contains(want, n) {
			return badInput("there is no argument for the column %s", shortened(n))
		}
	}
	for _, n := range want {
		if !slices.Contains(got, n) {
			return badInput("the column %s is missing", n)
		}
	}
	return nil
}

// columnsSpec returns the Spec of the columns of a request, in their order; nil if the types
// are part of the call.
func (f *served) columnsSpec(names []string) (tenon.Spec, error) {
	var want []string
	for _, a := range f.Args {
		want = append(want, a.Name)
	}
	if err := sameNames(names, want); err != nil {
		return nil, err
	}
	var fields []tenon.Field
	for _, n := range names {
		a, _ := f.arg(n)
		if a.Spec == nil {
			return nil, nil
		}
		if !hasRows(a.Spec) {
			return nil, badInput("the argument %s has no rows, which columns need; use another protocol", a.Name)
		}
		fields = append(fields, tenon.Field{Name: n, Spec: a.Spec})
	}
	spec, err := structured.NewSpec(shape.Of(shape.Unknown), fields)
	if err != nil {
		return nil, badInput("%s", explained(err))
	}
	return spec, nil
}

// few returns an error if an argument has more elements than are allowed.
func (s *Server) few(name string, v tenon.Value) error {
	cols, err := taken(name, v)
	if err != nil {
		return badInput("%s", explained(err))
	}
	n := 0
	for _, c := range cols {
		if n += c.Shape().Size(); n > s.opts.MaxElements {
			return faulty(http.StatusRequestEntityTooLarge, "%s has more than %d elements", name, s.opts.MaxElements)
		}
	}
	return nil
}

// batch returns results as columns. A scalar is a column with one row.
func (f *served) batch(out []tenon.Value) (v tenon.Value, err error) {
	defer tenon.Catch(&err)
	if isRecords(f.Results) {
		return out[0], nil
	}
	var fields []structured.Field
	rows := -1
	for i, v := range out {
		t, ok := v.(tensor.Tensor)
		if !ok {
			return nil, faulty(http.StatusNotImplemented, "the result %s is not a tensor", f.Results[i].Name)
		}
		if t.Shape().Rank() == 0 {
			t = ops.ExpandDims(t, 0)
		}
		if n := rowsOf(t); rows >= 0 && n != rows {
			return nil, badInput("the results have %d and %d rows, but columns need the same number; use another protocol", rows, n)
		}
		rows = rowsOf(t)
		fields = append(fields, structured.Field{Name: f.Results[i].Name, Value: t})
	}
	if len(fields) == 0 {
		return nil, errors.New("there are no results")
	}
	return structured.FromFields(fields, shape.Of(max(rows, 0)), structured.Options{})
}
