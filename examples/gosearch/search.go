package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/gosearch/internal/model"
	"github.com/tenonml/tenon/examples/gosearch/internal/rank"
	"github.com/tenonml/tenon/examples/gosearch/internal/store"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// An answer is a declaration that was found.
type answer struct {
	Name      string  `json:"name"`
	Signature string  `json:"signature"`
	Synopsis  string  `json:"synopsis"`
	Package   string  `json:"package"`
	File      string  `json:"file"`
	Line      int     `json:"line"`
	Score     float32 `json:"score"` // the probability that it is what was asked for
}

// A searcher answers questions. It is safe for concurrent use.
type searcher struct {
	model     *store.Model
	tokenizer token.Tokenizer
	encoder   *model.Encoder
}

func newSearcher(m *store.Model) *searcher {
	return &searcher{model: m, encoder: model.NewEncoder(m.Params)}
}

var (
	errEmptyQuestion = errors.New("the question is empty")
	errUnknownWords  = errors.New("none of the words is known")
)

// search returns the n best answers and the unknown words. Unless all is set, answers are
// functions that any program may import and use.
func (s *searcher) search(question string, n int, all bool) (answers []answer, unknown []string, err error) {
	defer tenon.Catch(&err)
	asked := s.tokenizer.Ask(question, s.model.Words.Known)
	if len(asked) == 0 {
		return nil, nil, errEmptyQuestion
	}
	known := false
	for _, a := range asked {
		_, ok := s.model.Vocabulary.ID(a.Stem)
		ok = ok || s.model.Words.Known(a.Stem) || slices.ContainsFunc(a.Alike, s.model.Words.Known)
		known = known || ok
		if !ok {
			unknown = append(unknown, a.Word)
		}
	}
	if !known {
		return nil, unknown, fmt.Errorf("%w: %s", errUnknownWords, strings.Join(unknown, ", "))
	}
	scores := s.scores(question, s.cosines(question)[0], all)
	best := top(scores, n)
	likely := softmax(scores)
	decls, err := s.model.Declaration(best...)
	if err != nil {
		return nil, unknown, err
	}
	for k, i := range best {
		d := &decls[k]
		synopsis, _ := d.Synopsis()
		answers = append(answers, answer{d.QualifiedName(), d.Signature(), synopsis, d.Package, d.File, d.Line, likely[i]})
	}
	return answers, unknown, nil
}

// scores returns the scores of all declarations, NaN for those that must not be answers.
func (s *searcher) scores(question string, cosines []float32, all bool) []float32 {
	scores := s.model.Words.Scores(s.tokenizer.Ask(question, s.model.Words.Known), rank.Fitted)
	for i, c := range cosines {
		scores[i] += float32(rank.Fitted.Cosine) * c
	}
	return s.among(scores, all)
}

// cosines returns the model's cosines of each question with all declarations, and weighted with their files and packages. It throws errors.
func (s *searcher) cosines(questions ...string) [][]float32 {
	var vectors []float32
	for _, q := range questions { // few rows need no traced function; a row without tokens has the vector 0
		vectors = append(vectors, s.encoder.Once(encode(s.model.Vocabulary, s.tokenizer.Content(q)))...)
	}
	all := tensor.Data[float32](ops.MatMulT(tensor.Of(vectors, len(questions), model.Width), s.model.Vectors, false, true))
	return slices.Collect(slices.Chunk(all, len(all)/len(questions)))
}

// among sets the scores of declarations that must not be answers to NaN. If nothing is public, as in
// a program, all may be answers.
func (s *searcher) among(scores []float32, all bool) []float32 {
	public := s.model.Words.Public
	if !all && slices.Contains(public, true) {
		for i, p := range public {
			if !p {
				scores[i] = float32(math.NaN())
			}
		}
	}
	return scores
}

// softmax turns scores into probabilities. NaN stays NaN.
func softmax(scores []float32) []float32 {
	out := make([]float32, len(scores))
	greatest := math.Inf(-1)
	for _, x := range scores {
		if x == x {
			greatest = max(greatest, float64(x))
		}
	}
	sum := 0.0
	for _, x := range scores {
		if x == x {
			sum += math.Exp(float64(x) - greatest)
		}
	}
	for i, x := range scores {
		out[i] = float32(math.Exp(float64(x)-greatest) / sum)
	}
	return out
}

// top returns the indices of the n greatest scores, the greatest first.
func top(scores []float32, n int) []int {
	n = min(n, len(scores))
	best := make([]int, 0, n+1)
	for i, x := range scores {
		if x != x || len(best) == n && (n == 0 || x <= scores[best[n-1]]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, x, func(j int, x float32) int {
			if scores[j] >= x {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, i)[:min(len(best)+1, n)]
	}
	return best
}

// add adds a multiple of the first elements of other to dst.
func add(dst, other []float32, scale float64) {
	for i := range dst {
		dst[i] += float32(scale) * other[i]
	}
}

// unit scales a vector to length 1, except 0.
func unit(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	scale := float32(1 / math.Sqrt(sum+1e-12))
	for i := range v {
		v[i] *= scale
	}
}

// queryAction answers the question given by the arguments.
func queryAction(stdout io.Writer) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		if c.NArg() == 0 {
			return cli.ShowRootCommandHelp(c)
		}
		if c.Int("n") < 1 {
			return usageError{errors.New("-n must be at least 1")}
		}
		question := strings.Join(c.Args().Slice(), " ")
		if len(token.Words(nil, question)) == 0 {
			return usageError{errEmptyQuestion}
		}
		dir, err := home(c, modelFolder)
		if err != nil {
			return err
		}
		m, err := store.Open(dir)
		if err != nil {
			return err
		}
		answers, unknown, err := newSearcher(m).search(question, c.Int("n"), c.Bool("all"))
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return writeJSON(stdout, answers, unknown)
		}
		printAnswers(stdout, answers, unknown)
		return nil
	}
}

func writeJSON(w io.Writer, answers []answer, unknown []string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if answers == nil {
		answers = []answer{}
	}
	return e.Encode(struct {
		Answers []answer `json:"answers"`
		Unknown []string `json:"unknown_words,omitempty"`
	}{answers, unknown})
}

func printAnswers(w io.Writer, answers []answer, unknown []string) {
	for _, a := range answers {
		fmt.Fprintf(w, "  %.2f  %s: %s\n        %s\n        %s:%d\n", a.Score, cmp.Or(a.Package, a.Name), a.Signature, a.Synopsis, a.File, a.Line)
	}
	if len(unknown) > 0 {
		fmt.Fprintf(w, "  unknown: %s\n", strings.Join(unknown, ", "))
	}
}
