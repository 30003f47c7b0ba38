package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A manifest lists the shards of a checkpoint: files next to it, each with the blocks of one rank. Tensors are
// numbered in the order of package nest.
type manifest struct {
	Step    int           `json:"step"`
	Shards  []shard       `json:"shards"`
	Tensors []dividedPart `json:"tensors"`
}

// A shard is one file; size and digest tell whether it is intact.
type shard struct {
	File   string      `json:"file"`
	Bytes  int64       `json:"bytes"`
	SHA256 string      `json:"sha256"`
	Blocks []blockPart `json:"blocks"`
}

// A blockPart gives the position of a block in a tensor, and its sizes.
type blockPart struct {
	Tensor int   `json:"tensor"`
	Begin  []int `json:"begin"`
	Size   []int `json:"size"`
}

// A dividedPart is a tensor whose elements are all in shards.
type dividedPart struct {
	Tensor int    `json:"tensor"`
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
}

const shardsKey = "train.shards"

// shardName returns the file name of a shard.
func shardName(checkpoint string, step, rank, ranks int) string {
	ext := filepath.Ext(checkpoint)
	return fmt.Sprintf("%s-%d.shard-%d-of-%d%s", strings.TrimSuffix(checkpoint, ext), step, rank, ranks, ext)
}

// inShards reports whether each rank writes its own parts.
func (r *run[P, B]) inShards() bool {
	return r.Ranks.active() && r.Ranks.Shards && r.trainer.divided && r.trainer.layout.Divided()
}

// checkpointShards writes the blocks of each rank to a file of its own. When all are complete, it writes the
// checkpoint, which lists them and holds the undivided tensors. Until then the previous checkpoint is valid.
func (r *run[P, B]) checkpointShards(n int, text string) error {
	ctx, c := context.Background(), r.Ranks.Mesh.Comm()
	r.trainer.share()
	own, tensors, err := r.writeShard(n)
	var line []byte
	if err == nil {
		line, err = json.Marshal(own)
	}
	if err != nil {
		return r.Ranks.fail(err)
	}
	all, err := dist.GatherValues(ctx, c, tensor.Scalar(string(line)))
	if err != nil {
		return err
	}
	if r.Ranks.Leads() {
		m := manifest{Step: n, Tensors: tensors}
		for _, x := range all {
			var s shard
			if err := json.Unmarshal([]byte(tensor.Item[string](x)), &s); err != nil {
				return r.Ranks.fail(err)
			}
			m.Shards = append(m.Shards, s)
		}
		if err := r.writeManifest(n, text, m); err != nil {
			return r.Ranks.fail(err)
		}
	}
	r.written = n
	return c.Agree(ctx, "checkpoint", fmt.Sprint("step ", n))
}

// writeShard writes this rank's blocks of divided tensors, except those that an earlier rank
// has.
func (r *run[P, B]) writeShard(n int) (s shard, divided []dividedPart, err error) {
	c, layout := r.Ranks.Mesh.Comm(), r.trainer.layout
	leaves, err := nest.Flatten(r.trainer.state, nest.Options{Expand: true})
	if err != nil {
		return s, nil, err
	}
	parts, i := map[string]tensor.Tensor{}, 0
	for _, l := range leaves {
		t, ok := l.(tensor.Tensor)
		if !ok {
			continue
		}
		if of := layout.At(i); of.Divided() {
			b, err := of.Block(0)
			if err != nil {
				return s, nil, err
			}
			divided = append(divided, dividedPart{i, t.DType().String(), of.Sizes(0)})
			if b.First {
				parts[blockName(i)] = t
				s.Blocks = append(s.Blocks, blockPart{i, b.Begin, b.Size})
			}
		}
		i++
	}
	name := shardName(r.Checkpoint, n, c.Rank(), c.Size())
	if err := saved.Write(name, parts); err != nil {
		return s, nil, err
	}
	s.File = filepath.Base(name)
	s.Bytes, s.SHA256, err = digestOf(name)
	return s, divided, err
}

// blockName is the name in a shard of its block of a tensor.
func blockName(tensor int) string { return fmt.Sprint("tensor", tensor) }

// digestOf returns the size of a file and the SHA-256 of its bytes.
func digestOf(name string) (int64, string, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// writeManifest writes the checkpoint, and removes shards that no checkpoint lists any more.
func (r *run[P, B]) writeManifest(n int, text string, m manifest) error {
	list, err := json.Marshal(m)
	if err != nil {
		return err
	}
	tree := r.tree(r.score.Step > 0)
	if tree.State, err = withoutDivided(tree.State, m.Tensors); err != nil {
		return err
	}
	if err := saved.Write(r.Checkpoint, tree, saved.WriteOptions{Metadata: map[string]string{courseKey: text, shardsKey: string(list)}}); err != nil {
		return err
	}
	if err := r.keep(n); err != nil {
		return err
	}
	return removeShards(r.Checkpoint, n)
}

// removeShards removes the shards of all steps except the given one and those of checkpoints
// that are kept.
func removeShards(checkpoint string, step int) error {
	ext := filepath.Ext(checkpoint)
	stem := strings.TrimSuffix(checkpoint, ext)
	entries, err := os.ReadDir(filepath.Dir(checkpoint))
	if err != nil {
		return err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(stem)+"-")
		number, _, is := strings.Cut(rest, ".shard-")
		n, err := strconv.Atoi(number)
		if !ok || !is || err != nil || n == step || !strings.HasSuffix(rest, ext) {
			continue
		}
		if _, err := os.Stat(fmt.Sprintf("%s-%d%s", stem, n, ext)); err == nil {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(checkpoint), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// withoutDivided returns a state in which divided tensors are replaced by empty ones of the same
// rank.
func withoutDivided[P any](s State[P], divided []dividedPart) (State[P], error) {
	return replaced(s, divided, func(d dividedPart, t tensor.Tensor) (tensor.Tensor, error) {
		return tensor.NewDense(t.DType(), shape.Of(make([]int, t.Shape().Rank())...)), nil
	})
}

// replaced returns a state in which divided tensors are replaced by the results of with.
func replaced[P any](s State[P], divided []dividedPart, with func(d dividedPart, t tensor.Tensor) (tensor.Tensor, error)) (State[P], error) {
	leaves, err := nest.Flatten(s, nest.Options{Expand: true})
	if err != nil {
		return s, err
	}
	i, found := 0, 0
	for k, l := range leaves {
		t, ok := l.(tensor.Tensor)
		if !ok {
			continue
		}
		if j := slices.IndexFunc(divided, func(d dividedPart) bool { return d.Tensor == i }); j >= 0 {
			if leaves[k], err = with(divided[j], t); err != nil {
				return s, err
			}
			found++
		}
		i++
	}
	if found != len(divided) {
		return s, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("it lists %d divided tensors, of which the state has %d", len(divided), found))
	}
	return nest.Pack(s, leaves, nest.Options{Expand: true})
}

// fillShards reads a checkpoint with shards into a whole, undivided tree, for any number of ranks.
func fillShards[P any](f *saved.File, checkpoint, text string, tree kept[P]) (kept[P], error) {
	var m manifest
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return tree, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("its list of shards cannot be read: %v", err))
	}
	whole := tree.State
	var err error
	if tree.State, err = withoutDivided(whole, m.Tensors); err != nil {
		return tree, err
	}
	if tree, err = saved.Fill(f, tree, saved.ReadOptions{}); err != nil {
		return tree, err
	}
	parts := map[int]*joinedTensor{}
	state, err := replaced(whole, m.Tensors, func(d dividedPart, t tensor.Tensor) (tensor.Tensor, error) {
		if t.DType().String() != d.DType || !t.Shape().Equal(shape.Of(d.Shape...)) {
			return nil, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("tensor %d is %s%v, and here %v", d.Tensor, d.DType, d.Shape, t.Spec()))
		}
		p := &joinedTensor{to: tensor.NewDense(t.DType(), t.Shape()), left: t.Shape().Size()}
		parts[d.Tensor] = p
		return p.to, nil
	})
	if err != nil {
		return tree, err
	}
	for _, s := range m.Shards {
		if err := s.read(filepath.Dir(checkpoint), parts); err != nil {
			return tree, fmt.Errorf("shard %s: %w", s.File, err)
		}
	}
	for i, p := range parts {
		if p.left != 0 {
			return tree, tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf("its shards lack %d elements of tensor %d", p.left, i))
		}
	}
	// Tensors that are not divided come from the checkpoint itself.
	from, err := nest.Flatten(state, nest.Options{Expand: true})
	if err != nil {
		return tree, err
	}
	var all []tensor.Tensor
	for _, l := range from {
		if t, ok := l.(tensor.Tensor); ok {
			all = append(all, t)
		}
	}
	tree.State, err = replaced(tree.State, m.Tensors, func(d dividedPart, _ tensor.Tensor) (tensor.Tensor, error) { return all[d.Tensor], nil })
	return tree, err
}

// A joinedTensor is assembled from blocks.
type joinedTensor struct {
	to   *tensor.Dense
	left int // elements that are in no block yet
}

// read copies the blocks of a shard to their places.
func (s shard) read(folder string, parts map[int]*joinedTensor) error {
	fail := func(format string, args ...any) error {
		return tenon.NewError(tenon.ErrInvalid, "train.Fit", fmt.Sprintf(format, args...))
	}
	if s.File == "" || s.File != filepath.Base(s.File) {
		return fail("its name is not that of a file next to the checkpoint")
	}
	name := filepath.Join(folder, s.File)
	size, digest, err := digestOf(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail("the file is missing")
	case err != nil:
		return err
	case size != s.Bytes:
		return fail("it has %d bytes, want %d", size, s.Bytes)
	case digest != s.SHA256:
		return fail("it is damaged: its digest differs")
	}
	f, err := saved.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, b := range s.Blocks {
		p := parts[b.Tensor]
		if p == nil {
			return fail("it has a block of tensor %d, which is not divided", b.Tensor)
		}
		v, err := f.Value(blockName(b.Tensor))
		if err != nil {
			return err
		}
		x, ok := v.(*tensor.Dense)
		if !ok || x.DType() != p.to.DType() || !x.Shape().Equal(shape.Of(b.Size...)) {
			return fail("its block of tensor %d is %s, want %v%v", b.Tensor, tenon.String(v.Spec()), p.to.DType(), b.Size)
		}
		if err := p.put(x, b.Begin); err != nil {
			return fail("its block of tensor %d: %v", b.Tensor, err)
		}
	}
	return nil
}

// put copies a block.
func (p *joinedTensor) put(x *tensor.Dense, begin []int) error {
	s, of := x.Shape(), p.to.Shape()
	if len(begin) != s.Rank() || s.Rank() != of.Rank() {
		return fmt.Errorf("it has rank %d, want %d", s.Rank(), of.Rank())
	}
	for a, lo := range begin {
		if lo < 0 || lo > of.Dim(a) || s.Dim(a) > of.Dim(a)-lo {
			return fmt.Errorf("it starts at %d on axis %d with size %d, but the size of the axis is %d", lo, a, s.Dim(a), of.Dim(a))
		}
	}
	if p.left -= s.Size(); p.left < 0 {
		return errors.New("there are more elements than the tensor has")
	}
	if s.Size() == 0 {
		return nil
	}
	width, rank := x.DType().Size(), s.Rank()
	run := s.Dim(rank-1) * width
	from, to := tensor.Contiguous(x).Bytes(), p.to.Bytes()
	at := make([]int, rank) // start of a run of contiguous elements in the block
	for k := 0; k*run < len(from); k++ {
		place, rest := 0, k
		for a := rank - 2; a >= 0; a-- {
			at[a] = rest % s.Dim(a)
			rest /= s.Dim(a)
		}
		for a := range rank {
			place = place*of.Dim(a) + begin[a] + at[a]
		}
		copy(to[place*width:place*width+run], from[k*run:])
	}
	return nil
}
