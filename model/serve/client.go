package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
)

// A Client calls functions on a server. It requests the types of a function once, and sends
// tensors as bytes. It is safe for concurrent use, and must not be copied after its first call.
//
//	c := &serve.Client{URL: "http://127.0.0.1:8000"}
//	sums, err := c.Call(ctx, "sums", tokens)
//	prices, err := serve.CallRows[Order, Price](ctx, c, "price", orders)
type Client struct {
	URL   string       // of the server
	HTTP  *http.Client // default: http.DefaultClient
	Token string       // for servers that require one

	mu         sync.Mutex
	signatures map[string]*Func
}

// A RemoteError is an error that a server returned.
type RemoteError struct {
	Function string
	Status   int           // the HTTP status
	Text     string        // the server's text
	Retry    time.Duration // when to try again; 0: unknown
}

// Error names the function, the status and the server's text.
func (e *RemoteError) Error() string {
	return fmt.Sprintf("serve: %s: the server answered %d: %s", e.Function, e.Status, e.Text)
}

// Unwrap returns the kind of the error: tenon.ErrInvalid for bad arguments, tenon.ErrNotFound,
// tenon.ErrUnsupported, context.DeadlineExceeded.
func (e *RemoteError) Unwrap() error {
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return tenon.ErrInvalid
	case http.StatusNotFound:
		return tenon.ErrNotFound
	case http.StatusNotImplemented:
		return tenon.ErrUnsupported
	case http.StatusGatewayTimeout:
		return context.DeadlineExceeded
	}
	return nil
}

// send sends a request and returns the answer, whose body the caller closes.
func (c *Client) send(ctx context.Context, function, method, path string, body []byte, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if end, ok := ctx.Deadline(); ok {
		r.Header.Set("X-Timeout-Ms", strconv.FormatInt(max(1, time.Until(end).Milliseconds()), 10))
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(r)
	if err != nil || res.StatusCode == http.StatusOK {
		return res, err
	}
	defer res.Body.Close()
	const most = 64 << 10
	text, _ := io.ReadAll(io.LimitReader(res.Body, most))
	e := &RemoteError{Function: function, Status: res.StatusCode, Text: strings.TrimSpace(string(text))}
	var told struct{ Error string }
	if json.Unmarshal(text, &told) == nil && told.Error != "" {
		e.Text = told.Error
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		e.Retry = time.Duration(s) * time.Second
	}
	return nil, e
}

// signature is the form in which metadata give the Specs of a function.
type signature struct {
	Arguments []signatureArg `json:"arguments"`
	Results   []signatureArg `json:"results"`
}

type signatureArg struct {
	Name string `json:"name"`
	Spec string `json:"spec,omitempty"` // in binary form, as base64
}

func signatureOf(list []Arg) []signatureArg {
	out := []signatureArg{}
	for _, a := range list {
		x := signatureArg{Name: a.Name}
		if a.Spec != nil {
			x.Spec = base64.StdEncoding.EncodeToString(tenon.AppendBinary(nil, a.Spec))
		}
		out = append(out, x)
	}
	return out
}

func argsOf(list []signatureArg) ([]Arg, error) {
	var out []Arg
	for _, x := range list {
		a := Arg{Name: x.Name}
		if x.Spec != "" {
			b, err := base64.StdEncoding.DecodeString(x.Spec)
			if err != nil {
				return nil, err
			}
			if a.Spec, b, err = tenon.DecodeBinary(b); err != nil {
				return nil, err
			}
			if len(b) > 0 {
				return nil, errors.New("a Spec is followed by other data")
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// Function returns the names and Specs of a function's arguments and results.
func (c *Client) Function(ctx context.Context, name string) (args, results []Arg, err error) {
	f, err := c.function(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return f.Args, f.Results, nil
}

func (c *Client) function(ctx context.Context, name string) (*Func, error) {
	c.mu.Lock()
	f, ok := c.signatures[name]
	c.mu.Unlock()
	if ok {
		return f, nil
	}
	res, err := c.send(ctx, name, http.MethodGet, "/v2/models/"+url.PathEscape(name), nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var m struct{ Tenon *signature }
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		return nil, fmt.Errorf("serve: %s: cannot read the server's description: %w", name, err)
	}
	if m.Tenon == nil {
		return nil, tenon.NewError(tenon.ErrUnsupported, "serve.Client", name+": the server does not provide Specs")
	}
	f = &Func{Name: name}
	if f.Args, err = argsOf(m.Tenon.Arguments); err == nil {
		f.Results, err = argsOf(m.Tenon.Results)
	}
	if err != nil {
		return nil, fmt.Errorf("serve: %s: cannot read the server's description: %w", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.signatures == nil {
		c.signatures = map[string]*Func{}
	}
	c.signatures[name] = f
	return f, nil
}

// takes checks arguments.
func (f *Func) takes(args []tenon.Value) error {
	if len(args) != len(f.Args) {
		return tenon.NewError(tenon.ErrInvalid, "serve.Client", fmt.Sprintf("%s takes %d arguments, not %d", f.Name, len(f.Args), len(args)))
	}
	for i, a := range f.Args {
		if a.Spec != nil && !tenon.Compatible(args[i].Spec(), a.Spec) {
			return tenon.NewError(tenon.ErrInvalid, "serve.Client", fmt.Sprintf("%s: %s is %s, want %s", f.Name, a.Name, tenon.String(args[i].Spec()), tenon.String(a.Spec)))
		}
	}
	return nil
}

// Call calls a function. The deadline of ctx is sent with the call.
func (c *Client) Call(ctx context.Context, name string, args ...tenon.Value) ([]tenon.Value, error) {
	f, err := c.function(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := f.takes(args); err != nil {
		return nil, err
	}
	head := []byte(`{"parameters":{"binary_data_output":true},"inputs":[`)
	var tail []byte
	first := true
	for i, a := range f.Args {
		cols, err := taken(a.Name, args[i])
		if err != nil {
			return nil, err
		}
		for column, t := range cols {
			if !first {
				head = append(head, ',')
			}
			first = false
			raw := rawOf(t)
			head = appendText(append(head, `{"name":`...), column)
			head = appendText(append(head, `,"datatype":`...), datatype(t.DType()))
			head = appendInts(append(head, `,"shape":`...), t.Shape().Dims())
			head = append(strconv.AppendInt(append(head, `,"parameters":{"binary_data_size":`...), int64(len(raw)), 10), `}}`...)
			tail = append(tail, raw...)
		}
	}
	head = append(head, `]}`...)
	res, err := c.send(ctx, name, http.MethodPost, "/v2/models/"+url.PathEscape(name)+"/infer", append(head, tail...),
		"Content-Type", "application/octet-stream", headerLength, strconv.Itoa(len(head)))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	out, err := f.answered(b, res.Header.Get(headerLength))
	if err != nil {
		return nil, fmt.Errorf("serve: %s: cannot read the answer: %w", name, err)
	}
	return out, nil
}

// answered decodes an answer of the Open Inference Protocol with tensors as bytes.
func (f *Func) answered(b []byte, length string) ([]tenon.Value, error) {
	head := b
	if length != "" {
		n, err := strconv.ParseUint(length, 10, 63)
		if err != nil || n > uint64(len(b)) {
			return nil, fmt.Errorf("the header %s is %q for %d bytes", headerLength, length, len(b))
		}
		head, b = b[:n], b[n:]
	}
	const depth = 100
	x, err := parseJSON(head, depth, true)
	if err != nil {
		return nil, err
	}
	o, ok := x.(*object)
	if !ok {
		return nil, badInput("it is %s, want an object", shown(x))
	}
	x, _ = o.get("outputs")
	outputs, ok := x.(*list)
	if !ok {
		return nil, badInput("outputs is %s, want a list", shown(x))
	}
	cols := columns{}
	for i, e := range outputs.all() {
		in, err := readInput(e, "outputs["+strconv.Itoa(i)+"]")
		if err != nil {
			return nil, err
		}
		if in.binary >= 0 {
			if in.binary > len(b) {
				return nil, fmt.Errorf("%s should have %d bytes, but %d are left", in.name, in.binary, len(b))
			}
			in.raw, b = append([]byte{}, b[:in.binary]...), b[in.binary:]
		}
		if cols[in.name], err = in.tensor(math.MaxInt / 64); err != nil {
			return nil, err
		}
	}
	out := make([]tenon.Value, len(f.Results))
	for i, r := range f.Results {
		if r.Spec == nil {
			if cols[r.Name] == nil {
				return nil, fmt.Errorf("the result %s is missing", r.Name)
			}
			out[i] = cols[r.Name]
			continue
		}
		l, err := layoutOf(r.Name, r.Spec)
		if err != nil {
			return nil, err
		}
		if out[i], err = cols.built(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Stream calls a function that sends a stream of results.
func (c *Client) Stream(ctx context.Context, name string, args ...tenon.Value) iter.Seq2[[]tenon.Value, error] {
	return func(yield func([]tenon.Value, error) bool) {
		if err := c.stream(ctx, name, args, func(out []tenon.Value) bool { return yield(out, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// stream calls each with the results until it returns false.
func (c *Client) stream(ctx context.Context, name string, args []tenon.Value, each func([]tenon.Value) bool) error {
	f, err := c.function(ctx, name)
	if err != nil {
		return err
	}
	if err := f.takes(args); err != nil {
		return err
	}
	body, err := appendObject(nil, f.Args, make([]*layout, len(args)), args)
	if err != nil {
		return err
	}
	res, err := c.send(ctx, name, http.MethodPost, "/call/"+url.PathEscape(name), body, "Content-Type", "application/json")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	const most = 1 << 30 // bytes of a line
	lines.Buffer(nil, most)
	for lines.Scan() {
		out, err := f.line(lines.Bytes())
		if err != nil {
			return err
		}
		if !each(out) {
			return nil
		}
	}
	return lines.Err()
}

// line decodes the results in a line, or the error that ends a stream.
func (f *Func) line(b []byte) ([]tenon.Value, error) {
	const depth = 100
	x, err := parseJSON(b, depth, false)
	if err != nil {
		return nil, err
	}
	o, ok := x.(*object)
	if !ok {
		return nil, fmt.Errorf("serve: %s: a result is %s, want an object", f.Name, shown(x))
	}
	if text, ok := o.get("error"); ok && len(o.names) == 1 && len(f.Results) != 1 || ok && len(f.Results) == 1 && f.Results[0].Name != "error" {
		t, _ := text.(string)
		return nil, &RemoteError{Function: f.Name, Status: http.StatusInternalServerError, Text: t}
	}
	out := make([]tenon.Value, len(f.Results))
	for i, r := range f.Results {
		x, ok := o.get(r.Name)
		if !ok || r.Spec == nil {
			return nil, fmt.Errorf("serve: %s: the result %s is missing, or has no type", f.Name, r.Name)
		}
		l, err := layoutOf(r.Name, r.Spec)
		if err != nil {
			return nil, err
		}
		if out[i], err = nestedValue(l, x, natural, math.MaxInt); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CallRows calls a function with Go structs. Their fields are the arguments of the function or,
// if its only argument is a list of records, the fields of that; likewise for the results. It
// calls what [Rows] serves.
func CallRows[In, Out any](ctx context.Context, c *Client, name string, rows []In) ([]Out, error) {
	f, err := c.function(ctx, name)
	if err != nil {
		return nil, err
	}
	rec, err := gostruct.From(rows)
	if err != nil {
		return nil, err
	}
	args := []tenon.Value{rec}
	if !isRecords(f.Args) || !tenon.Compatible(rec.Spec(), f.Args[0].Spec) {
		if args, err = fromRows(f.Args, rows); err != nil {
			return nil, err
		}
	}
	out, err := c.Call(ctx, name, args...)
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf[Out]()
	if err != nil {
		return nil, err
	}
	if isRecords(f.Results) && !slices.ContainsFunc(fields, func(a Arg) bool { return a.Name == f.Results[0].Name }) {
		return gostruct.To[Out](out[0].(*structured.Tensor))
	}
	return toRows[Out](f.Results, out)
}
