package train

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/rows"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// agree returns an error on all ranks if they disagree about the batch or the step. It reports whether any rank
// stops.
func (r *Ranks) agree(ctx context.Context, step int, batch any, stop bool) (bool, error) {
	x := []int64{0, 0, 0, int64(step), -int64(step)}
	specs := ""
	if stop {
		x[0] = 1
	} else {
		var err error
		if specs, err = specsOf(batch); err != nil {
			return false, r.fail(err)
		}
		h := fnv.New64a()
		h.Write([]byte(specs))
		x[1] = int64(h.Sum64() >> 1)
		x[2] = -x[1]
	}
	c := r.Mesh.Comm()
	most, err := c.AllReduce(ctx, tensor.Of(x), dist.Max)
	if err != nil {
		return false, err
	}
	y := tensor.Data[int64](most.(*tensor.Dense))
	if y[0] != 0 {
		return true, nil
	}
	if y[1] == -y[2] && y[3] == -y[4] {
		return false, nil
	}
	all, err := dist.GatherValues(ctx, c, tensor.Scalar(fmt.Sprintf("is at step %d with %s", step, specs)))
	if err != nil {
		return false, err
	}
	var text []string
	for k, v := range all {
		text = append(text, fmt.Sprintf("rank %d %s", k, tensor.Item[string](v)))
	}
	e := &tenon.Error{Kind: tenon.ErrInvalid, Op: "train.Ranks", Msg: "ranks disagree about the batch: " + strings.Join(text, "; ")}
	e.Hint = "the source must give all ranks the same batch at each position"
	return false, c.Fail(e)
}

// specsOf returns the Specs of the Values of a batch, and the number of rows of each.
func specsOf(batch any) (string, error) {
	paths, leaves, err := nest.FlattenWithPaths(batch, nest.Options{})
	if err != nil {
		return "", err
	}
	var text []string
	for i, l := range leaves {
		s := fmt.Sprintf("%T", l)
		if v, ok := l.(tenon.Value); ok {
			s = tenon.String(v.Spec())
			if n, err := rows.Count(v); err == nil {
				s += fmt.Sprintf(" of %d rows", n)
			}
		}
		if len(paths[i]) > 0 {
			s = paths[i].String() + " " + s
		}
		text = append(text, s)
	}
	return strings.Join(text, ", "), nil
}

// programOf returns a text that is equal for steps that compute the same from a whole batch, including constants, sizes
// and attributes.
func programOf[P, B any](s State[P], batch B, loss lossOf[P, B], o Options) (string, error) {
	o.Ranks = nil
	g, err := function.New(func(s State[P], b B) (State[P], []tensor.Tensor) { return step(s, b, loss, o, true) }).Trace(s, batch)
	if err != nil {
		return "", err
	}
	return g.Outline(), nil
}

// sick names the ranks whose loss is NaN or infinite.
func sick(losses []float64) string {
	text := ""
	for r, x := range losses {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			text += fmt.Sprintf(", %v on rank %d", x, r)
		}
	}
	return text
}
