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

// A Kind says what becomes of a field.
type Kind string

// What becomes of a field. Auto is a Number for numbers, truth values, times and dates, and a
// Category for strings.
const (
	Auto     Kind = ""
	Number   Kind = "number"   // scaled: as many features as the field has numbers in a record
	Category Kind = "category" // looked up in a vocabulary, and embedded
	OneHot   Kind = "onehot"   // looked up in a vocabulary: a feature for each word, and one for all others
	Skip     Kind = "skip"     // nothing

	list   Kind = "list"
	record Kind = "record"
	union  Kind = "union"
)

// A Column says what becomes of the field at a path.
type Column struct {
	Kind     Kind
	Scaling  nn.Scaling           // of a Number
	Words    nn.VocabularyOptions // of a Category or OneHot
	Features int                  // of the embedding of a Category; 0 stands for those of the Options
}

// Options are those of [NewSchema]. The zero value is the default.
type Options struct {
	Columns  map[string]Column // by path
	Words    nn.VocabularyOptions
	Features int        // of embeddings; 0 stands for ⌈1.6·words^0.56⌉, at most 64
	Hidden   int        // a record in a list goes through a Dense layer of so many features, with Relu, before the mean; 0: none
	Pool     nn.Pooling // what a list of items becomes; "" stands for nn.MeanPool
	DType    dtype.DType
}

// A Schema says how records become vectors, and gathers what has to be known of the data for that.
// It is not safe for concurrent use.
type Schema struct {
	root *column
	o    Options
}

// column is what is known of a field, or of the items of a list.
type column struct {
	path, name string
	set        Column
	kind       Kind
	masked     bool // by its Spec
	gaps       bool // a NaN was seen
	below      []*column

	moments nn.Moments
	words   nn.Tally
}

// NewSchema returns how records of a Spec become vectors. What the options name and the Spec lacks,
// and a field that cannot be encoded, are errors.
func NewSchema(spec *structured.Spec, o Options) (s *Schema, err error) {
	const fn = "features.NewSchema"
	defer tenon.Catch(&err)
	if o.Pool == "" {
		o.Pool = nn.MeanPool
	}
	if spec.Rank() != 1 {
		return nil, tenon.NewError(tenon.ErrShape, fn, fmt.Sprintf("%s is no list of records: give a Spec of rank 1", tenon.String(spec)))
	}
	s = &Schema{o: o}
	unused := maps.Clone(o.Columns)
	// A trace has records of which no more is known than the Spec.
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
		return nil, tenon.NewError(tenon.ErrInvalid, fn, fmt.Sprintf("of %s no field is left to encode", spec.Datashape()))
	}
	return s, nil
}

// columnOf returns the column of such a value, whose first dimension is that of records or items.
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

// leaf says what becomes of a value that is no list and no record.
func (c *column) leaf(v tensor.Tensor) {
	refuse := func(msg string) {
		tenon.Throw(&tenon.Error{Kind: tenon.ErrUnsupported, Op: "features.NewSchema", Where: c.path, Msg: fmt.Sprintf("%s %s", tenon.String(v.Spec()), msg),
			Hint: `leave the field out, by Options.Columns with the Kind "skip", or put another one in its place (structured.Tensor.With)`})
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
			refuse("holds no words: they are strings or integers")
		}
		if v.Shape().Rank() != 1 {
			refuse("has more than one word for each record")
		}
	default:
		refuse(fmt.Sprintf(`cannot become a %q, but a "number", "category" or "onehot"`, string(c.kind)))
	}
}

func (c *column) empty() bool {
	return c.kind == Skip || len(c.below) > 0 && !slices.ContainsFunc(c.below, func(b *column) bool { return !b.empty() }) || (c.kind == record || c.kind == union) && len(c.below) == 0
}

// Update counts a batch of records, whose fields have to be those of the Spec.
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
	if there != nil { // what is missing counts for nothing
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

// Encoder returns a layer that makes vectors of records as the schema says, with scales and
// vocabularies of what was seen. Embeddings start at random, by the key.
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

// next returns a key for each part that starts at random.
func next(key tensor.Tensor, n *int) tensor.Tensor {
	*n++
	return ops.RandomFoldIn(key, *n)
}

// Fit returns a layer that makes vectors of such records: a [Schema] of their Spec, that has seen them.
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
