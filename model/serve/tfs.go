package serve

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// TensorFlow Serving's REST API. Ragged arguments are nested lists, records are objects.

// routeV1 routes what follows /v1/models/.
func (s *Server) routeV1(rest string, by func(string, handler) (handler, string)) (handler, string) {
	rest, verb, hasVerb := cutLast(rest, ":")
	parts := strings.Split(rest, "/")
	name, version, tail := parts[0], "", parts[1:]
	if len(tail) >= 2 && (tail[0] == "versions" || tail[0] == "labels") {
		if version = tail[1]; tail[0] == "labels" {
			version = labelVersion(version)
		}
		tail = tail[2:]
	}
	switch {
	case hasVerb && verb == "predict" && len(tail) == 0:
		return by(http.MethodPost, func(w http.ResponseWriter, r *http.Request) error { return s.predict(w, r, name, version) })
	case hasVerb && (verb == "classify" || verb == "regress") && len(tail) == 0:
		return by(http.MethodPost, func(w http.ResponseWriter, r *http.Request) error { return s.classify(w, r, name, version, verb) })
	case hasVerb && len(tail) == 0:
		return by(http.MethodPost, func(http.ResponseWriter, *http.Request) error {
			return faulty(http.StatusNotImplemented, "the model %s has no signature for %s", shortened(name), shortened(verb))
		})
	case len(tail) == 0:
		return by(http.MethodGet, func(w http.ResponseWriter, _ *http.Request) error { return s.status(w, name, version) })
	case len(tail) == 1 && tail[0] == "metadata":
		return by(http.MethodGet, func(w http.ResponseWriter, _ *http.Request) error { return s.signature(w, name, version) })
	}
	return nil, ""
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

func (s *Server) status(w http.ResponseWriter, name, version string) error {
	f, err := s.model(name, version)
	if err != nil {
		return err
	}
	versions := []string{f.version}
	if version == "" {
		versions = s.versions(name)
	}
	b := []byte(`{"model_version_status":[`)
	for i, v := range versions {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"version":`...), v)
		b = append(b, `,"state":"AVAILABLE","status":{"error_code":"OK","error_message":""}}`...)
	}
	return answer(w, append(b, `]}`...))
}

// tfTypes are TensorFlow's names of element types, by those of the Open Inference Protocol.
var tfTypes = map[string]string{
	"BOOL": "DT_BOOL", "INT8": "DT_INT8", "INT16": "DT_INT16", "INT32": "DT_INT32", "INT64": "DT_INT64", "UINT8": "DT_UINT8",
	"UINT16": "DT_UINT16", "UINT32": "DT_UINT32", "UINT64": "DT_UINT64", "FP16": "DT_HALF", "BF16": "DT_BFLOAT16",
	"FP32": "DT_FLOAT", "FP64": "DT_DOUBLE", "BYTES": "DT_STRING",
}

func (s *Server) signature(w http.ResponseWriter, name, version string) error {
	f, err := s.model(name, version)
	if err != nil {
		return err
	}
	b := appendText([]byte(`{"model_spec":{"name":`), name)
	b = appendText(append(b, `,"signature_name":"","version":`...), f.version)
	b = append(b, `},"metadata":{"signature_def":{"signature_def":{"serving_default":{"inputs":`...)
	b = append(appendSignature(b, f.inputs), `,"outputs":`...)
	b = append(appendSignature(b, f.outputs), `,"method_name":"tensorflow/serving/predict"}}}}}`...)
	return answer(w, b)
}

func appendSignature(b []byte, list []flat) []byte {
	b = append(b, '{')
	for i, f := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, f.name), `:{"dtype":`...)
		b = append(appendText(b, tfTypes[f.datatype]), `,"tensor_shape":{"dim":[`...)
		for k, d := range f.shape {
			if k > 0 {
				b = append(b, ',')
			}
			b = append(strconv.AppendInt(append(b, `{"size":"`...), int64(d), 10), `","name":""}`...)
		}
		b = append(b, `],"unknown_rank":false},"name":`...)
		b = append(appendText(b, f.name), '}')
	}
	return append(b, '}')
}

func (s *Server) predict(w http.ResponseWriter, r *http.Request, name, version string) error {
	f, err := s.open(name, version, nil)
	if err != nil {
		return err
	}
	ctx, cancel, err := terms{}.of(r.Context(), r.Header)
	if err != nil {
		return err
	}
	defer cancel()
	if media, err := mediaType(r); err == nil && media == "application/octet-stream" {
		return s.predictRaw(ctx, w, r, f)
	}
	o, err := s.object(r, true)
	if err != nil {
		return err
	}
	if x, ok := o.get("signature_name"); ok {
		if sig, ok := x.(string); !ok || sig != "" && sig != defaultSignature {
			return badInput("signature_name is %s, want %s", shown(x), defaultSignature)
		}
	}
	instances, byRows := o.get("instances")
	inputs, byColumns := o.get("inputs")
	if byRows == byColumns {
		return badInput("the body must have either instances or inputs")
	}
	var args []tenon.Value
	if byRows {
		args, err = s.rows(f, instances)
	} else {
		args, err = s.columnsOf(f, inputs)
	}
	if err != nil {
		return err
	}
	out, err := s.call(ctx, f, args)
	if err != nil {
		return err
	}
	b, err := f.prediction(out, byRows)
	if err != nil {
		return err
	}
	return answer(w, b)
}

// predictRaw takes rows that are the elements of the only argument, little-endian, and answers
// with those of the only result.
func (s *Server) predictRaw(ctx context.Context, w http.ResponseWriter, r *http.Request, f *served) error {
	var spec *tensor.Spec
	if len(f.Args) == 1 && len(f.Results) == 1 {
		spec, _ = f.Args[0].Spec.(*tensor.Spec)
	}
	if spec == nil || spec.DType() == dtype.String || !hasRows(spec) {
		return badInput("a body of bytes is only possible for functions from rows of numbers to one result")
	}
	if err := f.rowsFirst(); err != nil {
		return err
	}
	b, err := s.body(r)
	if err != nil {
		return err
	}
	dims := slices.Clone(spec.Shape().Dims())
	size := spec.DType().Size()
	for _, d := range dims[1:] {
		if size *= d; d <= 0 {
			return badInput("the size of the rows of %s is unknown", f.Args[0].Name)
		}
	}
	if len(b)%size != 0 {
		return badInput("%d bytes are not whole rows of %s, which have %d bytes each", len(b), f.Args[0].Name, size)
	}
	dims[0] = len(b) / size
	in := input{name: f.Args[0].Name, datatype: datatype(spec.DType()), dims: dims, raw: b}
	x, err := in.tensor(s.opts.MaxElements)
	if err != nil {
		return err
	}
	out, err := s.call(ctx, f, []tenon.Value{x})
	if err != nil {
		return err
	}
	y, ok := out[0].(*tensor.Dense)
	if !ok {
		return badInput("the result %s is %s, which bytes alone cannot represent", f.Results[0].Name, tenon.String(out[0].Spec()))
	}
	raw := rawOf(y)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.Write(raw)
	return nil
}

// columnsOf converts "inputs" to arguments: one value, or an object with all of them.
func (s *Server) columnsOf(f *served, x any) ([]tenon.Value, error) {
	by := make([]any, len(f.Args))
	if o, ok := x.(*object); ok && f.isDerived(o) {
		return s.fromDerived(f, o)
	} else if ok && f.isNamed(o) {
		for _, n := range o.names {
			if _, ok := f.arg(n); !ok {
				return nil, badInput("there is no input %s", shortened(n))
			}
		}
		for i, a := range f.Args {
			if by[i], ok = o.get(a.Name); !ok {
				return nil, badInput("the input %s is missing", a.Name)
			}
		}
	} else if len(f.Args) == 1 {
		by[0] = x
	} else {
		return nil, badInput("inputs is %s, want an object with %d members", shown(x), len(f.Args))
	}
	return s.fromNested(f, by)
}

// isDerived reports whether an object holds arguments by the derived names of the signature.
func (f *served) isDerived(o *object) bool {
	known := f.inputs
	derived := false
	for _, n := range o.names {
		if !slices.ContainsFunc(known, func(k flat) bool { return k.name == n }) {
			return false
		}
		_, isArg := f.arg(n)
		derived = derived || !isArg
	}
	return derived
}

// fromDerived assembles arguments from their tensors.
func (s *Server) fromDerived(f *served, o *object) ([]tenon.Value, error) {
	q := columns{}
	for _, k := range f.inputs {
		x, ok := o.get(k.name)
		if !ok {
			return nil, badInput("the input %s is missing", k.name)
		}
		dt, _ := dtypeOf(k.datatype)
		l, err := layoutOf(k.name, tensor.NewSpec(dt, unknown(len(k.shape))))
		if err != nil {
			return nil, err
		}
		v, err := nestedValue(l, x, tensorFlow, s.opts.MaxElements)
		if err != nil {
			return nil, err
		}
		if q[k.name], err = concrete(v); err != nil {
			return nil, err
		}
	}
	args := make([]tenon.Value, len(f.Args))
	for i := range f.Args {
		var err error
		if args[i], err = q.built(f.in[i]); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// isNamed reports whether an object holds arguments by name, rather than being an argument.
func (f *served) isNamed(o *object) bool {
	if len(f.Args) != 1 {
		return true
	}
	_, ok := o.get(f.Args[0].Name)
	return ok && len(o.names) == 1
}

// fromNested decodes the JSON of each argument.
func (s *Server) fromNested(f *served, by []any) ([]tenon.Value, error) {
	args := make([]tenon.Value, len(f.Args))
	for i, a := range f.Args {
		if a.Spec == nil {
			return nil, faulty(http.StatusNotImplemented, "the type of %s must be part of the call, but JSON has no types", a.Name)
		}
		var err error
		if args[i], err = nestedValue(f.in[i], by[i], tensorFlow, s.opts.MaxElements); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// rows converts "instances" to arguments: for each row a value, or an object with all of them.
func (s *Server) rows(f *served, x any) ([]tenon.Value, error) {
	list, ok := x.(*list)
	if !ok || list.n == 0 {
		return nil, badInput("instances is %s, want a list of rows", shown(x))
	}
	if err := f.rowsFirst(); err != nil {
		return nil, err
	}
	for _, a := range f.Args {
		if a.Spec != nil && !hasRows(a.Spec) {
			return nil, badInput("the argument %s has no rows; use inputs", a.Name)
		}
	}
	named := func(row any) *object {
		o, ok := row.(*object)
		if !ok || !f.isNamed(o) {
			return nil
		}
		return o
	}
	for i, row := range list.all() {
		if len(f.Args) == 1 {
			break // a row is the argument, or an object with only that member
		}
		o := named(row)
		if o == nil {
			return nil, badInput("instances[%d] is %s, want an object with %d members", i, shown(row), len(f.Args))
		}
		if len(o.names) != len(f.Args) {
			return nil, badInput("instances[%d] has %d members, want %d", i, len(o.names), len(f.Args))
		}
		for _, a := range f.Args {
			if _, ok := o.get(a.Name); !ok {
				return nil, badInput("instances[%d] lacks %s", i, a.Name)
			}
		}
	}
	by := make([]any, len(f.Args))
	for i, a := range f.Args {
		if by[i] = x; !list.hasObjects() {
			continue
		}
		column := *list
		column.pick = func(row any) any {
			if o := named(row); o != nil {
				row, _ = o.get(a.Name)
			}
			return row
		}
		by[i] = &column
	}
	return s.fromNested(f, by)
}

// prediction writes results, by row or by column.
func (f *served) prediction(out []tenon.Value, byRows bool) ([]byte, error) {
	if byRows {
		return f.predictions(out)
	}
	b := []byte(`{"outputs":`)
	if len(out) != 1 {
		b = append(b, '{')
	}
	for i, v := range out {
		if i > 0 {
			b = append(b, ',')
		}
		if len(out) != 1 {
			b = append(appendText(b, f.Results[i].Name), ':')
		}
		var err error
		if b, err = appendValue(b, f.Results[i].Name, f.out[i], v, tensorFlow); err != nil {
			return nil, err
		}
	}
	if len(out) != 1 {
		b = append(b, '}')
	}
	return append(b, '}'), nil
}

func (f *served) predictions(out []tenon.Value) ([]byte, error) {
	n := -1
	encodings, layouts := make([]*encoding, len(out)), make([]*layout, len(out))
	for i, v := range out {
		if t, ok := v.(tensor.Tensor); ok && t.Shape().Rank() == 0 {
			return nil, badInput("the result %s has no rows; use inputs", f.Results[i].Name)
		}
		if n >= 0 && rowsOf(v) != n {
			return nil, badInput("the results have %d and %d rows; use inputs", n, rowsOf(v))
		}
		n = rowsOf(v)
		var err error
		if encodings[i], layouts[i], err = encodingOf(f.Results[i].Name, f.out[i], v, tensorFlow); err != nil {
			return nil, err
		}
		if layouts[i].root.kind != axisNode {
			return nil, badInput("the result %s is not a list; use inputs", f.Results[i].Name)
		}
	}
	const usual = 512 // bytes of an answer
	b := append(make([]byte, 0, usual), `{"predictions":[`...)
	for row := range n {
		if row > 0 {
			b = append(b, ',')
		}
		if len(out) != 1 {
			b = append(b, '{')
		}
		for i := range out {
			if i > 0 {
				b = append(b, ',')
			}
			if len(out) != 1 {
				b = append(appendText(b, f.Results[i].Name), ':')
			}
			var err error
			if b, err = encodings[i].append(b, layouts[i].root.child, row); err != nil {
				return nil, err
			}
		}
		if len(out) != 1 {
			b = append(b, '}')
		}
	}
	return append(b, `]}`...), nil
}
