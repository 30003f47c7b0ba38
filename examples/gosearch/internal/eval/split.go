package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

// SplitOptions say how declarations are divided. The zero value is the default.
type SplitOptions struct {
	Seed       uint64
	Test       int // questions held out; 0 means 2000, or a fifth of fewer than five times as many
	Validation int // questions for early stopping and tuning; 0 means 500, or a tenth
}

// Split is a division of the declarations that take part. All its rows are
// indices of the declarations it was made from.
type Split struct {
	// Rows is all that take part, in the order of the declarations. The
	// positions of [Tally.Add] count in it.
	Rows []int
	// Questions[i] belongs to Rows[i].
	Questions []string
	// The three parts, as positions in Rows.
	Train, Validation, Test []int
}

// NewSplit divides declarations. It is an error when fewer take part than a
// test, a validation and one training row need.
func NewSplit(decls []decl.Decl, opts SplitOptions) (*Split, error) {
	s := &Split{}
	for i := range decls {
		if q, ok := Question(&decls[i]); ok {
			s.Rows, s.Questions = append(s.Rows, i), append(s.Questions, q)
		}
	}
	test := cmp.Or(opts.Test, min(2000, max(1, len(s.Rows)/5)))
	validation := cmp.Or(opts.Validation, min(500, max(1, len(s.Rows)/10)))
	if len(s.Rows) <= test+validation {
		return nil, fmt.Errorf("%d of %d declarations have a question of %d words: too few to hold out %d and %d",
			len(s.Rows), len(decls), MinWords, test, validation)
	}
	keys := make([][sha256.Size]byte, len(s.Rows))
	for i, r := range s.Rows {
		keys[i] = splitKey(opts.Seed, &decls[r])
	}
	order := make([]int, len(s.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(keys[a][:], keys[b][:]) })
	s.Test, s.Validation, s.Train = order[:test], order[test:test+validation], order[test+validation:]
	return s, nil
}

func splitKey(seed uint64, d *decl.Decl) [sha256.Size]byte {
	b := binary.LittleEndian.AppendUint64(nil, seed)
	for _, s := range []string{d.Package, d.Receiver, d.Name} {
		b = append(append(b, s...), 0)
	}
	return sha256.Sum256(b)
}
