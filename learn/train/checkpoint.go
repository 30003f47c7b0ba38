package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/atomicfile"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/model/saved"
)

// kept is the nest that a checkpoint stores.
type kept[P any] struct {
	State State[P]
	Best  []P // empty if there are none
}

// course is what a checkpoint stores besides the tensors.
type course struct {
	Format int    `json:"format"`
	Run    string `json:"run"`
	Record Record `json:"record"`
	Best   Score  `json:"best"`
	Since  int    `json:"since"`

	Batches int `json:"batches,omitempty"` // in an epoch
}

type scoreJSON struct {
	Step  int
	Score runs.Number
}

// MarshalJSON writes a score, also one that is not a JSON number.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(scoreJSON{s.Step, runs.Number(s.Score)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Score) UnmarshalJSON(b []byte) error {
	var in scoreJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	s.Step, s.Score = in.Step, float64(in.Score)
	return nil
}

const (
	checkpointFormat = 1
	courseKey        = "train.course"
)

// checkpoint writes everything to the file, in one step, unless that was done already.
func (r *run[P, B]) checkpoint() error {
	n := r.trainer.Steps()
	if r.Checkpoint == "" || r.written == n {
		return nil
	}
	text, err := json.Marshal(course{checkpointFormat, r.Run, r.record, r.score, r.since, r.Data.Batches})
	if err != nil {
		return err
	}
	if r.inShards() {
		return r.checkpointShards(n, string(text))
	}
	if r.Ranks.active() {
		return r.checkpointRanks(n, string(text))
	}
	// The state is not used after the call, so its memory need not be kept.
	return r.write(n, string(text), r.tree(r.score.Step > 0))
}

// checkpointRanks writes everything once, for all ranks: the file does not depend on their number.
func (r *run[P, B]) checkpointRanks(n int, text string) error {
	ctx := context.Background()
	whole, err := r.trainer.Whole(ctx)
	if err != nil {
		return err
	}
	if r.Ranks.Leads() {
		tree := r.tree(r.score.Step > 0)
		tree.State = whole
		if err := r.write(n, text, tree); err != nil {
			return r.Ranks.fail(err)
		}
	}
	r.written = n
	return r.Ranks.Mesh.Comm().Agree(ctx, "checkpoint", fmt.Sprint("step ", n))
}

// write writes a checkpoint.
func (r *run[P, B]) write(n int, text string, tree kept[P]) error {
	if err := saved.Write(r.Checkpoint, tree, saved.WriteOptions{Metadata: map[string]string{courseKey: text}}); err != nil {
		return err
	}
	r.written = n
	return r.keep(n)
}

// keep keeps the checkpoint under another name, and removes those that are too old. A hard link
// is enough, because the next checkpoint replaces the file instead of changing it.
func (r *run[P, B]) keep(step int) error {
	if r.Keep <= 0 {
		return nil
	}
	ext := filepath.Ext(r.Checkpoint)
	stem := strings.TrimSuffix(r.Checkpoint, ext)
	name := fmt.Sprintf("%s-%d%s", stem, step, ext)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(r.Checkpoint, name); err != nil {
		if err := copyFile(name, r.Checkpoint); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(filepath.Dir(r.Checkpoint))
	if err != nil {
		return err
	}
	var steps []int
	for _, e := range entries {
		text, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ext), filepath.Base(stem)+"-")
		if n, err := strconv.Atoi(text); ok && err == nil && fmt.Sprintf("%s-%d%s", filepath.Base(stem), n, ext) == e.Name() {
			steps = append(steps, n)
		}
	}
	slices.Sort(steps)
	for _, n := range steps[:max(0, len(steps)-r.Keep)] {
		if err := os.Remove(fmt.Sprintf("%s-%d%s", stem, n, ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyFile is used on file systems without links.
func copyFile(to, from string) error {
	return atomicfile.Write(to, func(w io.Writer) error {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}

func (r *run[P, B]) tree(best bool) kept[P] {
	k := kept[P]{State: r.trainer.state}
	if best {
		k.Best = []P{r.best}
	}
	return k
}

// resume continues from the checkpoint, if there is one.
func (r *run[P, B]) resume() error {
	if r.Checkpoint == "" {
		return nil
	}
	f, err := saved.Open(r.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var c course
	if err := json.Unmarshal([]byte(f.Metadata()[courseKey]), &c); err != nil || c.Format != checkpointFormat {
		return r.foreign("it is not a checkpoint of this version")
	}
	if c.Run != r.Run {
		return r.foreign(fmt.Sprintf("it belongs to another run: %q, not %q", c.Run, r.Run))
	}
	if c.Batches != 0 && c.Batches != r.Data.Batches {
		return r.foreign(fmt.Sprintf("its epochs had %d batches, now they have %d", c.Batches, r.Data.Batches))
	}
	best := slices.ContainsFunc(f.Names(), func(n string) bool { return strings.HasPrefix(n, "Best") })
	tree := r.tree(best)
	if text := f.Metadata()[shardsKey]; text != "" {
		tree, err = fillShards(f, r.Checkpoint, text, tree)
	} else {
		tree, err = saved.Fill(f, tree, saved.ReadOptions{})
	}
	if err == nil {
		err = r.trainer.Restore(tree.State)
	}
	if err != nil {
		e := tenon.AsError(err)
		what := e.Msg
		if e.Where != "" {
			what = e.Where + ": " + what
		}
		return r.foreign("it is of another model, or of other options (optimizer, Accumulate, Average, LossScale): " + what)
	}
	n := r.trainer.Steps()
	if n < 0 || n > r.steps || len(c.Record.Losses) != n || c.Since < 0 {
		return r.foreign(fmt.Sprintf("it is at step %d of %d, but records %d losses", n, r.steps, len(c.Record.Losses)))
	}
	r.record, r.score, r.since = c.Record, c.Best, c.Since
	for _, s := range r.record.Scores {
		if err := r.plateau(s.Score); err != nil {
			return err
		}
	}
	if len(tree.Best) > 0 {
		r.best = tree.Best[0]
	}
	r.from, r.written = n, n
	return nil
}

func (r *run[P, B]) foreign(why string) error {
	e := tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("%s cannot be resumed: %s", r.Checkpoint, why))
	e.Hint = "resume with the same model and options, name another file in FitOptions.Checkpoint, or remove the file to start over"
	return e
}
