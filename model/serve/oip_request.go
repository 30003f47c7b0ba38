package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// Requests of the Open Inference Protocol, and their tensors.

// An input is a tensor of a request.
type input struct {
	name     string
	datatype string
	dims     []int
	data     any       // JSON; nil if there are bytes
	raw      []byte    // the elements
	typed    *elements // the same, already decoded
	repeat   bool      // the last one of typed stands for missing ones
	binary   int       // how many bytes follow the JSON; negative: none
	json     bool      // the data are natural JSON for a whole argument
}

// An inference is a request.
type inference struct {
	id      string
	inputs  []input
	outputs []output
	asked   bool // outputs were listed
	binary  bool // results are binary by default
	bytes   int  // of memory, besides those of an HTTP request's body
	terms
}

// An output is a requested result.
type output struct {
	name   string
	binary bool
}

// inference decodes a request.
func (s *Server) inference(r *http.Request, media string, f *served) (*inference, error) {
	length, has := r.Header[headerLength]
	switch {
	case media != "application/json" && media != "application/octet-stream":
		return nil, faulty(http.StatusUnsupportedMediaType, "the Content-Type %s is not supported; application/json and application/octet-stream are", shortened(media))
	case media == "application/octet-stream" && !has:
		return nil, badInput("binary tensors need the header %s", headerLength)
	}
	b, err := s.body(r)
	if err != nil {
		return nil, err
	}
	head, tail := b, []byte(nil)
	if has {
		n, err := strconv.ParseUint(length[0], 10, 63)
		if err != nil || n > uint64(len(b)) {
			return nil, badInput("the header %s is %s, but the body has %d bytes", headerLength, shortened(length[0]), len(b))
		}
		head, tail = b[:n], b[n:]
		if n == 0 {
			return rawBody(f, tail)
		}
	}
	x, err := parseJSON(head, s.opts.MaxDepth, true)
	if err != nil {
		return nil, err
	}
	o, ok := x.(*object)
	if !ok {
		return nil, badInput("the body is %s, want an object", shown(x))
	}
	q, err := readInference(o)
	if err != nil {
		return nil, err
	}
	for i := range q.inputs {
		in := &q.inputs[i]
		if in.binary < 0 {
			continue
		}
		if err := in.measure(s.opts.MaxElements); err != nil {
			return nil, err
		}
		if in.binary > len(tail) {
			return nil, badInput("%s should have %d bytes, but %d are left", in.name, in.binary, len(tail))
		}
		in.raw, tail = append([]byte{}, tail[:in.binary]...), tail[in.binary:]
	}
	if len(tail) > 0 {
		return nil, badInput("%d bytes are left over after the inputs", len(tail))
	}
	return q, nil
}

// rawBody decodes a request whose body is the elements of the only input.
func rawBody(f *served, b []byte) (*inference, error) {
	all := f.inputs
	if len(all) != 1 || f.Args[0].Spec == nil {
		return nil, badInput("a body without JSON is only possible for functions of one tensor")
	}
	dt, _ := dtypeOf(all[0].datatype)
	if dt == dtype.String || len(all[0].shape) != 1 || len(b)%dt.Size() != 0 {
		return nil, badInput("%s cannot be made from %d bytes alone", all[0].name, len(b))
	}
	in := input{name: all[0].name, datatype: all[0].datatype, dims: []int{len(b) / dt.Size()}, raw: append([]byte{}, b...)}
	return &inference{inputs: []input{in}, binary: true}, nil
}

// maxInputs bounds the number of inputs of a request, and of outputs that it asks for.
const maxInputs = 10_000

// maxAxes bounds the axes of a tensor.
const maxAxes = 32

func readInference(o *object) (*inference, error) {
	q := &inference{}
	if x, ok := o.get("id"); ok {
		if q.id, ok = x.(string); !ok {
			return nil, badInput("id is %s, want a text", shown(x))
		}
	}
	p, err := readParameters(o, "parameters")
	if err != nil {
		return nil, err
	}
	if err := q.options(p); err != nil {
		return nil, err
	}
	x, ok := o.get("inputs")
	list, isList := x.(*list)
	if !ok || !isList {
		return nil, badInput("inputs is %s, want a list", shown(x))
	}
	if list.n > maxInputs {
		return nil, badInput("inputs has %d entries, more than the limit of %d", list.n, maxInputs)
	}
	for i, e := range list.all() {
		in, err := readInput(e, "inputs["+strconv.Itoa(i)+"]")
		if err != nil {
			return nil, err
		}
		q.inputs = append(q.inputs, *in)
	}
	return q, q.readOutputs(o)
}

// options decodes the parameters of a request.
func (q *inference) options(p parameters) (err error) {
	if q.binary, err = p.bool("binary_data_output"); err != nil {
		return err
	}
	us, has, err := p.int("timeout")
	if has {
		q.timeout = time.Duration(min(us, 1<<40)) * time.Microsecond
	}
	if err == nil {
		q.priority, _, err = p.int("priority")
	}
	return err
}

func readInput(x any, where string) (*input, error) {
	o, ok := x.(*object)
	if !ok {
		return nil, badInput("%s is %s, want an object", where, shown(x))
	}
	in := &input{binary: -1}
	for _, m := range []struct {
		name string
		to   *string
	}{{"name", &in.name}, {"datatype", &in.datatype}} {
		v, _ := o.get(m.name)
		if *m.to, ok = v.(string); !ok {
			return nil, badInput("%s: the %s is %s, want a text", where, m.name, shown(v))
		}
	}
	v, _ := o.get("shape")
	list, ok := v.(*list)
	if !ok {
		return nil, badInput("%s: the shape of %s is %s, want a list", where, shortened(in.name), shown(v))
	}
	in.dims = []int{}
	for _, d := range list.all() {
		n, isNumber := d.(number)
		k, err := strconv.Atoi(string(n))
		if !isNumber || err != nil {
			return nil, badInput("%s: the shape of %s holds %s", where, in.name, shown(d))
		}
		if err := in.axis(k); err != nil {
			return nil, err
		}
	}
	p, err := readParameters(o, "parameters of "+in.name)
	if err != nil {
		return nil, err
	}
	size, has, err := p.int("binary_data_size")
	if err != nil {
		return nil, badInput("%s: %v", in.name, err)
	}
	if t, ok := p.get("content_type"); ok && t == "json" {
		in.json = true
	}
	v, ok = o.get("data")
	switch {
	case has && ok:
		return nil, badInput("%s has both data and binary_data_size", in.name)
	case has:
		in.binary = size
	case !ok:
		return nil, badInput("%s has no data", in.name)
	}
	in.data = v
	return in, nil
}

func (q *inference) readOutputs(o *object) error {
	x, ok := o.get("outputs")
	if !ok {
		return nil
	}
	list, ok := x.(*list)
	if !ok || list.n > maxInputs {
		return badInput("outputs is %s, want a list", shown(x))
	}
	q.asked = list.n > 0
	for i, e := range list.all() {
		where := "outputs[" + strconv.Itoa(i) + "]"
		m, ok := e.(*object)
		if !ok {
			return badInput("%s is %s, want an object", where, shown(e))
		}
		v, _ := m.get("name")
		name, ok := v.(string)
		if !ok {
			return badInput("%s: the name is %s, want a text", where, shown(v))
		}
		p, err := readParameters(m, "parameters of "+name)
		if err != nil {
			return err
		}
		binary := q.binary
		if _, said := p.get("binary_data"); said {
			if binary, err = p.bool("binary_data"); err != nil {
				return err
			}
		}
		q.outputs = append(q.outputs, output{name, binary})
	}
	return nil
}

// parameters are strings, numbers and bools, by name.
type parameters struct{ *object }

func readParameters(o *object, where string) (parameters, error) {
	x, ok := o.get("parameters")
	if !ok {
		return parameters{&object{}}, nil
	}
	p, ok := x.(*object)
	if !ok {
		return parameters{}, badInput("%s: parameters is %s, want an object", where, shown(x))
	}
	for i, v := range p.values {
		switch v.(type) {
		case bool, number, string:
		default:
			return parameters{}, badInput("%s: parameters has %s, which is %s", where, shortened(p.names[i]), shown(v))
		}
	}
	return parameters{p}, nil
}

func (p parameters) bool(name string) (bool, error) {
	x, ok := p.get(name)
	if !ok {
		return false, nil
	}
	b, ok := x.(bool)
	if !ok {
		return false, badInput("the parameter %s is %s, want true or false", name, shown(x))
	}
	return b, nil
}

func (p parameters) int(name string) (n int, has bool, err error) {
	x, ok := p.get(name)
	if !ok {
		return 0, false, nil
	}
	t, ok := x.(number)
	n, err = strconv.Atoi(string(t))
	if !ok || err != nil || n < 0 {
		return 0, true, badInput("the parameter %s is %s, want an integer", name, shown(x))
	}
	return n, true, nil
}

// measure compares the number of bytes that follow with the shape.
func (in *input) measure(limit int) error {
	dt, n, err := in.count(limit)
	if err == nil && dt != dtype.String && in.binary != n*dt.Size() {
		err = badInput("%s should have %d bytes, which do not fit %d elements of type %s", in.name, in.binary, n, in.datatype)
	}
	return err
}

// count returns the element type and the number of elements.
func (in *input) count(limit int) (dtype.DType, int, error) {
	dt, ok := dtypeOf(in.datatype)
	if !ok {
		return dt, 0, badInput("%s has the unknown datatype %s", in.name, shortened(in.datatype))
	}
	n := 1
	for _, d := range in.dims {
		if d < 0 {
			return dt, 0, badInput("%s has the shape %v, with a negative size", in.name, in.dims)
		}
		if d > 0 && n > limit/d {
			if zero := slices.Contains(in.dims, 0); !zero {
				return dt, 0, badInput("%s has the shape %v, which has more than %d elements", in.name, in.dims, limit)
			}
		}
		n *= d
	}
	return dt, n, nil
}

// tensor returns the tensor of an input.
func (in *input) tensor(limit int) (tensor.Tensor, error) {
	dt, n, err := in.count(limit)
	if err != nil {
		return nil, err
	}
	e := &elements{dt: dt}
	if in.raw != nil {
		if err := e.raw(in.name, in.raw, n); err != nil {
			return nil, err
		}
		return e.tensor(in.dims)
	}
	if in.typed != nil {
		if in.repeat && in.typed.n < n {
			if err := in.typed.repeated(n); err != nil {
				return nil, badInput("%s %v", in.name, err)
			}
		}
		if in.typed.n != n {
			return nil, badInput("%s has %d elements, which do not fit the shape %v", in.name, in.typed.n, in.dims)
		}
		return in.typed.tensor(in.dims)
	}
	if err := e.flat(label(in.name), in.data, in.dims); err != nil {
		return nil, err
	}
	if e.n != n {
		return nil, badInput("%s has %d elements, which do not fit the shape %v", in.name, e.n, in.dims)
	}
	return e.tensor(in.dims)
}

// repeated repeats the last element, or zero, as TensorFlow's abbreviated tensors imply.
func (e *elements) repeated(n int) error {
	const most = 1 << 20 // elements without bytes of their own
	if n-e.n > most {
		return fmt.Errorf("has %d elements, want %d", e.n, n)
	}
	last, text := make([]byte, e.dt.Size()), ""
	if e.n > 0 && e.dt == dtype.String {
		text = e.texts[e.n-1]
	} else if e.n > 0 {
		last = slices.Clone(e.bytes[len(e.bytes)-e.dt.Size():])
	}
	for ; e.n < n; e.n++ {
		if e.dt == dtype.String {
			e.texts = append(e.texts, text)
		} else {
			e.bytes = append(e.bytes, last...)
		}
	}
	return nil
}

// flat adds the elements of a list, which is flat, or nested according to the shape.
func (e *elements) flat(name fmt.Stringer, x any, dims []int) error {
	l, ok := x.(*list)
	if !ok {
		return badInput("%s has data that are %s, want a list", name, shown(x))
	}
	if l.n > 0 && !isList(l.first()) {
		if l.n != product(dims) {
			return badInput("%s has %d elements, which do not fit the shape %v", name, l.n, dims)
		}
		e.grow(l.n)
	}
	for c := l.cursor(); c.more(); {
		var err error
		if c.isNumber() {
			err = e.number(c.number(), name, openInference)
		} else if x := c.value(); len(dims) > 1 && isList(x) {
			if l.n != dims[0] {
				return badInput("%s has %d entries, but its shape says %d", name, l.n, dims[0])
			}
			err = e.nested(name, x, dims[1:])
		} else {
			err = e.add(x, name, openInference)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// product returns the number of elements of a shape that has been checked.
func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func isList(x any) bool {
	_, ok := x.(*list)
	return ok
}

// nested adds the elements of lists that are nested according to a shape.
func (e *elements) nested(name fmt.Stringer, x any, dims []int) error {
	l, ok := x.(*list)
	if !ok {
		return badInput("the nesting of %s does not match its shape", name)
	}
	if l.n != dims[0] {
		return badInput("%s has %d entries, but its shape says %d", name, l.n, dims[0])
	}
	if len(dims) == 1 {
		return e.flat(name, x, dims)
	}
	for _, v := range l.all() {
		if err := e.nested(name, v, dims[1:]); err != nil {
			return err
		}
	}
	return nil
}

// raw adds n elements from bytes: little-endian; a string follows its 32-bit length.
func (e *elements) raw(name string, b []byte, n int) error {
	e.n = n
	if e.dt != dtype.String {
		if len(b) != n*e.dt.Size() {
			return badInput("%s has %d bytes, which do not fit %d elements of type %s", name, len(b), n, datatype(e.dt))
		}
		e.bytes = b
		if e.dt == dtype.Bool {
			for i, x := range b {
				if x > 1 {
					return badInput("%s: element %d is %d, want 0 or 1", name, i, x)
				}
			}
		}
		return nil
	}
	for range n {
		if len(b) < 4 {
			return badInput("%s ends before its last string", name)
		}
		l := int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
		if b = b[4:]; l > len(b) {
			return badInput("%s has a string of %d bytes, but %d are left", name, l, len(b))
		}
		e.texts, b = append(e.texts, string(b[:l])), b[l:]
	}
	if len(b) > 0 {
		return badInput("%s has %d bytes after its last string", name, len(b))
	}
	return nil
}
