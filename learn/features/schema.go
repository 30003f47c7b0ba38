package features

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A Kind says how a field is encoded.
type Kind string

// How a field is encoded. Auto is Number for numbers, booleans, times and dates, and Category
// for strings.
const (
	Auto     Kind = ""
	Number   Kind = "number"   // scaled; has as many features as the field has numbers in a record
	Category Kind = "category" // looked up in a vocabulary, and embedded
	OneHot   Kind = "onehot"   // looked up in a vocabulary; has a feature for each word, and one for unknown words
	Skip     Kind = "skip"     // omitted

	list   Kind = "list"
	record Kind = "record"
	union  Kind = "union"
)

// A Column says how the field at a path is encoded.
type Column struct {
	Kind     Kind
	Scaling  nn.Scaling           // of a Number
	Words    nn.VocabularyOptions // of a Category or OneHot
	Features int                  // of the embedding of a Category; 0 stands for Options.Features
}

// Options are the options of [NewSchema]. The zero value is the default.
type Options struct {
	Columns  map[string]Column // by path
	Words    nn.VocabularyOptions
	Features int        // of embeddings; 0 stands for ⌈1.6·words^0.56⌉, at most 64
	Hidden   int        // features of a Dense layer with Relu that is applied to each record in a list before pooling; 0: no such layer
	Pool     nn.Pooling // how the items of a list are pooled; "" stands for nn.MeanPool
	DType    dtype.DType
}

// A Schema says how records become vectors, and collects the statistics of the data that this
// needs. It is not safe for concurrent use.
type Schema struct {
	root *column
	o    Options
}

// A column is what is known of a field, or of the items of a list.
type column struct {
	path, name string
	set        Column
	kind       Kind
	masked     bool // according to its Spec
	gaps       bool // a NaN occurred
	below      []*column

	moments nn.Moments
	words   nn.Tally
}

// NewSchema returns a schema for records of a Spec. Options for paths that the Spec does not have,
// and fields that cannot be encoded, are errors.
func NewSchema(spec *structured.Spec, o Options) (s *Schema, err error) {
	const fn = "features.NewSchema"
	defer tenon.Catch(&err)
	if o.Pool == "" {
		o.Pool = nn.MeanPool
	}
	if spec.Rank() != 1 {
		return nil, tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s is not a list of records; give a Spec of rank 1", tenon.String(spec)))
	}
	s = &Schema{o: o}
	unused := maps.Clone(o.Columns)
	// Tracing gives records of which only the Spec is known.
	look := function.New(func(records *structured.Tensor) tensor.Tensor {
		s.root = s.columnOf(records, "", "", unused)
		return tensor.Scalar(true)
	})
	if _, err := look.Trace(spec); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(unused)) {
		return nil, &tenon.Error{Kind: tenon.ErrNotFound, Op: fn, Where: path, Msg: fmt.Sprintf("there is no field of this path in %s", spec.Datashape())}
	}
	if s.root.empty() {
		return nil, tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("no field of %s is left to encode", spec.Datashape()))
	}
	return s, nil
}

// columnOf returns the column of a value whose first dimension is that of records or items.
func (s *Schema) columnOf(v tensor.Tensor, path, name string, unused map[string]Column) *column {
	c := &column{path: path, name: name, set: s.o.Columns[path]}
	delete(unused, path)
	if c.set.Kind == Skip {
		c.kind = Skip
		maps.DeleteFunc(unused, func(p string, _ Column) bool { return strings.HasPrefix(p, path+".") })
		return c
	}
	v, there := presence(v)
	c.masked = there != nil
	v = stored(v)
	under := func(f structured.Field) *column {
		return s.columnOf(f.Value, strings.TrimPrefix(path+"."+f.Name, "."), f.Name, unused)
	}
	switch t := v.(type) {
	case *structured.Tensor:
		if t.Rank() == 1 {
			c.kind = record
			for _, f := range t.Unzip() {
				c.below = append(c.below, under(f))
			}
			return c
		}
	case *structured.Union:
		if t.Shape().Rank() == 1 {
			c.kind = union
			for _, name := range t.Variants() {
				c.below = append(c.below, under(structured.Field{Name: name, Value: tenon.Must(t.Variant(name))}))
			}
			return c
		}
	}
	if isVector(v) {
		c.leaf(v)
		return c
	}
	items, _, err := structured.Undivide(v)
	if err != nil {
		c.leaf(v)
		return c
	}
	c.kind, c.below = list, []*column{s.columnOf(items, path, "", unused)}
	return c
}

// leaf sets how a value that is neither a list nor a record is encoded.
func (c *column) leaf(v tensor.Tensor) {
	refuse := func(msg string) {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "features.NewSchema", Where: c.path, Msg: fmt.Sprintf("%s %s", tenon.String(v.Spec()), msg),
			Hint: `leave the field out, by Options.Columns with the Kind "skip", or replace it (structured.Tensor.With)`})
	}
	words := v.DType() == dtype.String
	if c.kind = c.set.Kind; c.kind == Auto {
		c.kind = Number
		if words {
			c.kind = Category
		}
	}
	switch c.kind {
	case Number:
		if !v.DType().IsFloat() && !v.DType().IsInteger() && v.DType() != dtype.Bool {
			refuse("holds no numbers")
		}
		c.moments = nn.NewMoments(v.Shape().Slice(1, v.Shape().Rank()).Size())
	case Category, OneHot:
		if !words && !v.DType().IsInteger() {
			refuse("holds no words; words are strings or integers")
		}
		if v.Shape().Rank() != 1 {
			refuse("has more than one word for each record")
		}
	default:
		refuse(fmt.Sprintf(`cannot be a %q, but a "number", "category" or "onehot"`, string(c.kind)))
	}
}

func (c *column) empty() bool {
	return c.kind == Skip || len(c.below) > 0 && !slices.ContainsFunc(c.below, func(b *column) bool { return !b.empty() }) || (c.kind == record || c.kind == union) && len(c.below) == 0
}

// Update adds a batch of records, which must have the fields of the Spec.
func (s *Schema) Update(records *structured.Tensor) (err error) {
	defer tenon.Catch(&err)
	s.root.see(records)
	return nil
}

func (c *column) see(v tensor.Tensor) {
	if c.kind == Skip {
		return
	}
	v, there := presence(v)
	if there != nil { // missing values are ignored
		v = ops.BooleanMask(v, there, 0)
	}
	switch c.kind {
	case list:
		items, _ := itemsOf(v, c.path)
		c.below[0].see(items)
	case record, union:
		for _, b := range c.below {
			b.see(partOf(v, c.kind, b.name, c.path))
		}
	case Number:
		x := numbers(v, c.moments.Mean.Shape().Dim(0), c.path)
		c.gaps = c.gaps || tensor.Item[bool](ops.Any(ops.IsNaN(x)))
		c.moments = c.moments.Update(x)
	default:
		if err := c.words.Update(words(v)); err != nil {
			tenon.Throw(at(err, c.path))
		}
	}
}

// Encoder returns a layer that turns records into vectors according to the schema, with scales
// and vocabularies of the data seen so far. Embeddings are initialized at random, by key.
func (s *Schema) Encoder(key tensor.Tensor) (e Encoder, err error) {
	defer tenon.Catch(&err)
	n := 0
	return Encoder{s.part(s.root, key, &n), floatType(s.o.DType)}, nil
}

func (s *Schema) part(c *column, key tensor.Tensor, n *int) Part {
	p := Part{Name: c.name, Kind: c.kind, Optional: c.masked || c.gaps}
	o := s.o
	switch c.kind {
	case Skip:
		p.Optional = false
	case list:
		in := s.part(c.below[0], key, n)
		p.Parts, p.Pool = []Part{in}, o.Pool
		if o.Hidden > 0 && in.Kind == record {
			each := nn.NewDense(next(key, n), in.width(), o.Hidden, nn.DenseOptions{Activation: nn.Relu, DType: o.DType})
			p.Each = &each
		}
	case record, union:
		for _, b := range c.below {
			p.Parts = append(p.Parts, s.part(b, key, n))
		}
	case Number:
		p.Scaler = c.moments.Scaler(c.set.Scaling, dtype.Float64)
		p.Numbers = c.moments.Mean.Shape().Dim(0)
	default:
		words := o.Words
		if c.set.Words != (nn.VocabularyOptions{}) {
			words = c.set.Words
		}
		p.Words = c.words.Vocabulary(words)
		if c.kind == Category {
			size := p.Words.Size()
			width := cmp.Or(c.set.Features, o.Features, min(64, int(math.Ceil(1.6*math.Pow(float64(size), 0.56)))))
			p.Table = nn.NewEmbedding(next(key, n), size, width, nn.EmbeddingOptions{DType: o.DType})
		}
	}
	return p
}

// next returns a key for each part that is initialized at random.
func next(key tensor.Tensor, n *int) tensor.Tensor {
	*n++
	return ops.RandomFoldIn(key, *n)
}

// Fit returns a layer that turns such records into vectors. It makes a [Schema] of their Spec and
// updates it with them.
func Fit(key tensor.Tensor, records *structured.Tensor, o Options) (Encoder, error) {
	spec := records.Spec().(*structured.Spec)
	s, err := NewSchema(spec, o)
	if err != nil {
		return Encoder{}, err
	}
	if err := s.Update(records); err != nil {
		return Encoder{}, err
	}
	return s.Encoder(key)
}
