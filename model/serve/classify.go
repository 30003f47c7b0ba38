package serve

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/tensor"
)

// TensorFlow Serving's classify and regress, over REST and gRPC. Rows come as examples, which
// are lists of numbers or bytes, by the names of features.

// A question is a request to classify examples, or to predict a number for each.
type question struct {
	spec     modelSpec
	examples []*object
	context  *object // features that all examples share
	bytes    int
	terms
}

// classify answers :classify and :regress.
func (s *Server) classify(w http.ResponseWriter, r *http.Request, name, version string, verb string) error {
	f, err := s.open(name, version, nil)
	if err != nil {
		return err
	}
	o, err := s.object(r, true)
	if err != nil {
		return err
	}
	q, err := questionOf(o)
	if err != nil {
		return err
	}
	v, err := s.judged(r.Context(), r.Header, f, q, verb)
	if err != nil {
		return err
	}
	return answer(w, v.json())
}

// questionOf reads a body of JSON.
func questionOf(o *object) (*question, error) {
	q := &question{context: &object{}}
	if x, ok := o.get("signature_name"); ok {
		if q.spec.signature, ok = x.(string); !ok {
			return nil, badInput("signature_name is %s, want a text", shown(x))
		}
	}
	x, _ := o.get("examples")
	list, ok := x.(*list)
	if !ok || list.n == 0 {
		return nil, badInput("examples is %s, want a list of objects", shown(x))
	}
	if list.n > maxExamples {
		return nil, badInput("there are more than %d examples", maxExamples)
	}
	for i, e := range list.all() {
		m, ok := e.(*object)
		if !ok {
			return nil, badInput("examples[%d] is %s, want an object", i, shown(e))
		}
		q.examples = append(q.examples, m)
	}
	if x, ok := o.get("context"); ok {
		if q.context, ok = x.(*object); !ok {
			return nil, badInput("context is %s, want an object", shown(x))
		}
	}
	return q, nil
}

// A verdict is the answer: the labels and scores of each example, or a number.
type verdict struct {
	rows           int
	labels, scores *reader // by row
	classes        int     // of each row
	regress        bool
}

// The names of results by TensorFlow's convention.
const (
	resultClasses = "classes"
	resultScores  = "scores"
	resultNumbers = "outputs"
)

// judged runs a function on examples.
func (s *Server) judged(ctx context.Context, h http.Header, f *served, q *question, verb string) (*verdict, error) {
	ctx, cancel, err := q.terms.of(ctx, h)
	if err != nil {
		return nil, err
	}
	defer cancel()
	if err := s.hold(ctx, q.bytes); err != nil {
		return nil, err
	}
	q.spec.name = f.Name
	if err := q.spec.check(); err != nil {
		return nil, err
	}
	v := &verdict{regress: verb == "regress"}
	labels, scores, ok := f.judges(v.regress)
	if !ok {
		return nil, faulty(http.StatusNotImplemented, "the model %s has no results for %s", f.Name, verb)
	}
	args, err := s.fromExamples(f, q)
	if err != nil {
		f.counts.other.Add(1)
		return nil, err
	}
	out, err := s.call(ctx, f, args)
	if err != nil {
		return nil, err
	}
	v.rows = len(q.examples)
	for _, x := range []struct {
		result int
		to     **reader
	}{{labels, &v.labels}, {scores, &v.scores}} {
		if x.result < 0 {
			continue
		}
		t, err := concrete(out[x.result])
		if err != nil {
			return nil, err
		}
		n := t.Shape().Size()
		if n%v.rows != 0 || rowsOf(t) != v.rows || v.regress && n != v.rows {
			return nil, badInput("the result %s has the shape %v, but there are %d examples", f.Results[x.result].Name, t.Shape().Dims(), v.rows)
		}
		if v.classes = n / v.rows; t.Shape().Rank() == 0 {
			return nil, badInput("the result %s has no rows", f.Results[x.result].Name)
		}
		r := readerOf(t)
		*x.to = &r
	}
	return v, nil
}

func concrete(v tenon.Value) (tensor.Tensor, error) {
	if c, ok := v.(tensor.Concreter); ok {
		return c.Concrete()
	}
	t, ok := v.(tensor.Tensor)
	if !ok || !tenon.IsLeaf(t.Spec()) {
		return nil, faulty(http.StatusNotImplemented, "%s is not a dense tensor", tenon.String(v.Spec()))
	}
	return t, nil
}

// judges finds the results that are labels and scores, or numbers: by name, or because there is no
// other result. -1 means that there is none.
func (f *served) judges(regress bool) (labels, scores int, ok bool) {
	labels, scores = -1, -1
	for i, r := range f.Results {
		t, isDense := r.Spec.(*tensor.Spec)
		if !isDense {
			continue
		}
		floats, rank := t.DType().IsFloat(), t.Shape().Rank()
		switch {
		case regress && floats && (r.Name == resultNumbers || len(f.Results) == 1) && rank >= 1 && rank <= 2:
			scores = i
		case !regress && floats && (r.Name == resultScores || len(f.Results) == 1) && rank == 2:
			scores = i
		case !regress && t.DType() == dtype.String && r.Name == resultClasses && rank == 2:
			labels = i
		}
	}
	return labels, scores, labels >= 0 || scores >= 0
}

// fromExamples converts examples to arguments. Features have the names of arguments or, if the
// only argument is a list of records, those of its fields.
func (s *Server) fromExamples(f *served, q *question) ([]tenon.Value, error) {
	if err := f.rowsFirst(); err != nil {
		return nil, err
	}
	args := make([]tenon.Value, len(f.Args))
	for i, a := range f.Args {
		if a.Spec == nil || !hasRows(a.Spec) {
			return nil, badInput("the argument %s has no rows, but examples are rows", a.Name)
		}
		var err error
		row, list := f.in[i].root.child, make([]any, len(q.examples))
		for k, e := range q.examples {
			var x any
			if row.kind == recordNode && row.form == objectForm && len(f.Args) == 1 {
				x, err = row.fieldsOf(e, q.context, k)
			} else {
				x, err = row.feature(a.Name, e, q.context, k)
			}
			if err != nil {
				return nil, f.in[i].told(err)
			}
			list[k] = x
		}
		if args[i], err = nestedValue(f.in[i], listOf(list), tensorFlow, s.opts.MaxElements); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// fieldsOf returns the fields of a record that an example has.
func (n *node) fieldsOf(e, context *object, k int) (any, error) {
	o := &object{names: n.names}
	for i, f := range n.fields {
		x, err := f.feature(n.names[i], e, context, k)
		if err != nil {
			return nil, err
		}
		o.values = append(o.values, x)
	}
	return o, nil
}

// feature returns a feature of example k in the form that a node needs: a list, or one element.
func (n *node) feature(name string, e, context *object, k int) (any, error) {
	x, ok := e.get(name)
	if !ok {
		x, ok = context.get(name)
	}
	if n.kind == optionalNode {
		if l, isList := x.(*list); !ok || isList && l.n == 0 && n.child.kind != axisNode {
			return nil, nil
		}
		n = n.child
	}
	if !ok {
		return nil, badInput("examples[%d] lacks the feature %s", k, name)
	}
	l, isList := x.(*list)
	switch {
	case n.kind == axisNode && !isList:
		return listOf([]any{x}), nil
	case n.kind == leafNode && isList && l.n == 1:
		return l.first(), nil
	}
	return x, nil
}

// json writes the answer as TensorFlow Serving does.
func (v *verdict) json() []byte {
	b := []byte(`{"result":[`)
	for i := range v.rows {
		if i > 0 {
			b = append(b, ',')
		}
		if v.regress {
			b = v.scores.float(b, i, tensorFlow)
			continue
		}
		b = append(b, '[')
		for k := i * v.classes; k < (i+1)*v.classes; k++ {
			if k > i*v.classes {
				b = append(b, ',')
			}
			b = append(appendText(append(b, '['), v.label(k)), ',')
			if v.scores == nil {
				b = append(b, "0.0]"...)
			} else {
				b = append(v.scores.float(b, k, tensorFlow), ']')
			}
		}
		b = append(b, ']')
	}
	return append(b, `]}`...)
}

// label returns label k, which is empty if there are no labels.
func (v *verdict) label(k int) string {
	if v.labels == nil {
		return ""
	}
	return v.labels.texts.At(k)
}

// message encodes a ClassificationResult or a RegressionResult.
func (v *verdict) message() []byte {
	var b []byte
	score := func(b []byte, num fieldNumber, k int) []byte {
		if v.scores == nil {
			return b
		}
		return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), math.Float32bits(float32(v.scores.value(k))))
	}
	for i := range v.rows {
		if v.regress {
			b = appendMessage(b, 1, score(nil, 1, i))
			continue
		}
		var classes []byte
		for k := i * v.classes; k < (i+1)*v.classes; k++ {
			classes = appendMessage(classes, 1, score(appendString(nil, 1, v.label(k)), 2, k))
		}
		b = appendMessage(b, 1, classes)
	}
	return b
}

func (q *question) encode(b []byte) []byte { return b }

// decode reads a ClassificationRequest or a RegressionRequest.
func (q *question) decode(b []byte) error {
	q.bytes, q.context = len(b), &object{}
	return eachField(b, func(f field) error {
		switch {
		case f.kind != protowire.BytesType:
			return nil
		case f.num == 1:
			return q.spec.decode(f.b)
		case f.num == 2:
			return eachField(f.b, q.list)
		}
		return nil
	})
}

// list reads an ExampleList, with or without context.
func (q *question) list(f field) error {
	if f.num != 1 && f.num != 2 {
		return nil
	}
	n, err := countOf(f.b, 1)
	if err != nil {
		return err
	}
	q.examples = slices.Grow(q.examples, min(n, maxExamples+1))
	return eachField(f.b, func(f field) error {
		o := &object{}
		if err := o.features(f.b); err != nil {
			return err
		}
		switch f.num {
		case 1:
			if q.examples = append(q.examples, o); len(q.examples) > maxExamples {
				return badInput("there are more than %d examples", maxExamples)
			}
		case 2:
			q.context = o
		}
		return nil
	})
}

// maxExamples bounds the number of examples in a message, because they may be empty.
const maxExamples = 1 << 20

// features reads an Example.
func (o *object) features(b []byte) error {
	return eachField(b, func(f field) error {
		if f.num != 1 {
			return nil
		}
		n, err := countOf(f.b, 1)
		if err != nil {
			return err
		}
		o.names, o.values = slices.Grow(o.names, n), slices.Grow(o.values, n)
		return eachField(f.b, func(f field) error {
			if f.num != 1 {
				return nil
			}
			name, value, err := entry(f.b)
			if err != nil {
				return err
			}
			var kind field // the last one counts
			if err := eachField(value, func(f field) error { kind = f; return nil }); err != nil {
				return err
			}
			list, err := kind.feature()
			if err != nil {
				return err
			}
			o.names, o.values = append(o.names, name), append(o.values, list)
			return nil
		})
	})
}

// noValues is the list of a feature without values.
var noValues = listOf(nil)

// feature returns the values of a list of a kind: 1 for bytes, 2 for floats, 3 for integers. Numbers are kept
// as text, which takes about as much memory as the message.
func (f field) feature() (*list, error) {
	if len(f.b) == 0 {
		return noValues, nil
	}
	n, err := countOf(f.b, 1)
	if err != nil {
		return nil, err
	}
	var texts []any
	if f.num == 1 {
		texts = make([]any, 0, n)
	}
	l := &list{}
	var text []byte
	add := func(number func(b []byte) []byte) error {
		if l.n++; l.n > 1 {
			text = append(text, ',')
		}
		text = number(text)
		return nil
	}
	err = eachField(f.b, func(x field) error {
		if x.num != 1 {
			return nil
		}
		switch f.num {
		case 1:
			if x.kind != protowire.BytesType {
				return errWire
			}
			texts = append(texts, x.text())
		case 2:
			return x.numbers(protowire.Fixed32Type, func(n uint64) error {
				return add(func(b []byte) []byte { return appendToken(b, float64(math.Float32frombits(uint32(n)))) })
			})
		case 3:
			return x.numbers(protowire.VarintType, func(n uint64) error {
				return add(func(b []byte) []byte { return strconv.AppendInt(b, int64(n), 10) })
			})
		}
		return nil
	})
	if texts != nil {
		return listOf(texts), err
	}
	l.text = string(text)
	return l, err
}

// appendToken appends a number in JSON, with tokens for infinities and NaN.
func appendToken(b []byte, x float64) []byte {
	switch {
	case math.IsInf(x, 1):
		return append(b, "Infinity"...)
	case math.IsInf(x, -1):
		return append(b, "-Infinity"...)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}
func (s *Server) rpcClassify(ctx context.Context, q *question, h http.Header) ([]byte, error) {
	return s.rpcJudge(ctx, q, h, "classify")
}

func (s *Server) rpcRegress(ctx context.Context, q *question, h http.Header) ([]byte, error) {
	return s.rpcJudge(ctx, q, h, "regress")
}

func (s *Server) rpcJudge(ctx context.Context, q *question, h http.Header, verb string) ([]byte, error) {
	f, err := s.open(q.spec.name, q.spec.version, nil)
	if err != nil {
		return nil, err
	}
	if len(q.examples) == 0 {
		return nil, badInput("there are no examples")
	}
	v, err := s.judged(ctx, h, f, q, verb)
	if err != nil {
		return nil, err
	}
	return f.appendSpec(appendMessage(nil, 1, v.message()), 2), nil
}
