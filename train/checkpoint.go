package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/saved"
)

// kept is the tree in a checkpoint.
type kept[P any] struct {
	State State[P]
	Best  []P // with validation
}

// course is what a checkpoint keeps beside the tensors.
type course struct {
	Format int    `json:"format"`
	Run    string `json:"run"`
	Record Record `json:"record"`
	Best   Score  `json:"best"`
	Since  int    `json:"since"`
}

const (
	checkpointFormat = 1
	courseKey        = "train.course"
)

// checkpoint writes everything to the file, in one step, unless it is there.
func (r *run[P, B]) checkpoint() error {
	n := r.trainer.Steps()
	if r.Checkpoint == "" || r.written == n {
		return nil
	}
	text, err := json.Marshal(course{checkpointFormat, r.Run, r.record, r.score, r.since})
	if err != nil {
		return err
	}
	// Nothing of the state outlives the call, so its memory need not be kept.
	tree := r.tree()
	if err := saved.Write(r.Checkpoint, tree, saved.WriteOptions{Metadata: map[string]string{courseKey: string(text)}}); err != nil {
		return err
	}
	r.written = n
	return nil
}

func (r *run[P, B]) tree() kept[P] {
	k := kept[P]{State: r.trainer.state}
	if r.Validate != nil {
		k.Best = []P{r.best}
	}
	return k
}

// resume goes on from the checkpoint, if there is one.
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
		return r.foreign("it is no checkpoint of this version")
	}
	if c.Run != r.Run {
		return r.foreign(fmt.Sprintf("it is of another run: %q, not %q", c.Run, r.Run))
	}
	tree, err := saved.Fill(f, r.tree(), saved.ReadOptions{})
	if err != nil {
		return err
	}
	if err := r.trainer.Restore(tree.State); err != nil {
		return err
	}
	n := r.trainer.Steps()
	if n < 0 || n > r.steps || len(c.Record.Losses) != n || c.Since < 0 {
		return r.foreign(fmt.Sprintf("it has seen %d batches of %d, and tells of %d", n, r.steps, len(c.Record.Losses)))
	}
	r.record, r.score, r.since = c.Record, c.Best, c.Since
	if len(tree.Best) > 0 {
		r.best = tree.Best[0]
	}
	r.from, r.written = n, n
	return nil
}

func (r *run[P, B]) foreign(why string) error {
	e := tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("%s cannot be resumed: %s", r.Checkpoint, why))
	e.Hint = "remove the file to start anew"
	return e
}
