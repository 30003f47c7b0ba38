package structured

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// waiting returns the paths of the fields that nobody has read yet.
func waiting(t *Tensor) []string {
	var out []string
	for _, c := range t.cols {
		if c.wait != nil && c.wait.from.Load() != nil {
			out = append(out, c.name)
		} else if s, ok := c.v().(*Tensor); ok {
			for _, name := range waiting(s) {
				out = append(out, c.name+"."+name)
			}
		}
	}
	return out
}

func shop(t *testing.T) *Tensor {
	t.Helper()
	var list []any
	for i := range 6 {
		var orders []any
		for k := range i % 3 {
			orders = append(orders, map[string]any{"price": float64(10*i + k), "cat": fmt.Sprint("c", k), "tags": []any{fmt.Sprint(i), fmt.Sprint(k)}[:k+1]})
		}
		r := map[string]any{"id": int64(i), "name": strings.Repeat("n", i), "geo": map[string]any{"lat": float64(i) - 2.5}, "orders": orders}
		if i%2 == 0 {
			r["age"] = int64(i * i)
		}
		list = append(list, r)
	}
	return tenon.Must(FromNested(list, NestedOptions{Missing: MissingMasked})).(*Tensor)
}

// Each way to choose records reads no field, and says what choosing at once says.
func TestFieldsWaitUntilTheyAreRead(t *testing.T) {
	all := shop(t)
	rows := func(at ...int) func(s *Tensor) *Tensor {
		return func(s *Tensor) *Tensor { return ops.Gather(s, at, 0).(*Tensor) }
	}
	other := tenon.Must(FromFields([]Field{{"id", tensor.Of([]int64{4, 1, 4})}, {"mark", tensor.Of([]string{"x", "y", "z"})}}, shape.Of(3), Options{}))
	for name, c := range map[string]struct {
		f    func(s *Tensor) *Tensor
		want []int64
	}{
		"gather":       {rows(5, 0, 0), []int64{5, 0, 0}},
		"gather twice": {func(s *Tensor) *Tensor { return rows(1, 0)(rows(4, 2, 3)(s)) }, []int64{2, 4}},
		"filter":       {func(s *Tensor) *Tensor { return s.Filter("@.geo.lat > 0") }, []int64{3, 4, 5}},
		"where":        {func(s *Tensor) *Tensor { return s.Where([]bool{true, false, true, false, false, true}) }, []int64{0, 2, 5}},
		"boolean mask": {func(s *Tensor) *Tensor {
			return ops.BooleanMask(s, []bool{true, false, true, false, false, true}, 0).(*Tensor)
		}, []int64{0, 2, 5}},
		"sort":     {func(s *Tensor) *Tensor { return tenon.Must(s.Sort(0, By{Path: []string{"id"}, Descending: true})) }, []int64{5, 4, 3, 2, 1, 0}},
		"steps":    {func(s *Tensor) *Tensor { return s.At(key.Range(nil, nil, 2)).(*Tensor) }, []int64{0, 2, 4}},
		"reverse":  {func(s *Tensor) *Tensor { return ops.Reverse(s, 0).(*Tensor) }, []int64{5, 4, 3, 2, 1, 0}},
		"path":     {func(s *Tensor) *Tensor { return s.Path("$[?@.geo.lat < 0]").(*Tensor) }, []int64{0, 1, 2}},
		"join":     {func(s *Tensor) *Tensor { return s.Join(other, JoinOptions{On: []string{"id"}}) }, []int64{1, 4, 4}},
		"shuffled": {func(s *Tensor) *Tensor { return rows(1, 0, 2)(s.At(key.From(3)).(*Tensor)) }, []int64{4, 3, 5}},
	} {
		got := c.f(all)
		if w := waiting(got); !slices.Contains(w, "orders") || !slices.Contains(w, "name") || !slices.Contains(w, "age") {
			t.Errorf("%s: fields that nobody has read are there: only %q wait", name, w)
		}
		got.Shape()
		if w := waiting(got); !slices.Contains(w, "orders") {
			t.Errorf("%s: the shape needs no fields", name)
		}
		if ids := tensor.Data[int64](got.Path("id")); !slices.Equal(ids, c.want) {
			t.Errorf("%s: got %v, want %v", name, ids, c.want)
		}
		if w := waiting(got); slices.Contains(w, "id") {
			t.Errorf("%s: id waits after it was read", name)
		}
		// Field by field the records are those chosen one by one.
		var single []tensor.Tensor
		for _, i := range c.want {
			single = append(single, all.At(int(i)))
		}
		want := ops.Stack(single, 0).(*Tensor)
		if name == "join" {
			got = got.Drop("mark")
		}
		if a, b := tenon.Must(got.ToNested()), tenon.Must(want.ToNested()); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s:\ngot  %v\nwant %v", name, a, b)
		}
	}
}

// Fields of records below wait on their own, and each index is composed once.
func TestNestedFieldsWait(t *testing.T) {
	s := shop(t).Filter("@.geo.lat > 0")
	if got := tensor.Data[float64](ops.Reshape(tenon.Must(s.Path("orders").(*Tensor).MergeDims(0, 1)).Path("price"), []int{-1})); !slices.Equal(got, []float64{40, 50, 51}) {
		t.Errorf("got %v", got)
	}
	if got, want := waiting(s), []string{"age", "geo", "id", "name", "orders.cat", "orders.tags"}; !slices.Equal(sorted(got), want) {
		t.Errorf("%q wait, want %q", got, want)
	}
	twice := s.Where([]bool{false, true, true})
	var at []*tensor.Dense
	for _, c := range twice.cols {
		if c.wait != nil {
			if from := c.wait.from.Load(); from != nil {
				at = append(at, from.at)
			}
		}
	}
	if len(at) < 4 {
		t.Fatalf("only %d fields wait", len(at))
	}
	// Those that waited share the composed index, and what was read has the new one.
	if distinct := slices.Compact(slices.Clone(at)); len(distinct) > 3 {
		t.Errorf("%d indices for %d fields", len(distinct), len(at))
	}
	if got := tensor.Data[int64](twice.Path("id")); !slices.Equal(got, []int64{4, 5}) {
		t.Errorf("got %v", got)
	}
	if got := fmt.Sprint(twice.Path("orders.cat")); got != "[[c0] [c0 c1]]" && !strings.Contains(got, "c1") {
		t.Errorf("got %s", got)
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

func TestSelectReadsNothing(t *testing.T) {
	s := shop(t).Filter("@.geo.lat > 0").Select("id", "orders.price").Drop("id").Rename("orders", "sales").With("n", []int64{1, 2, 3})
	if got := waiting(s); !slices.Equal(got, []string{"sales.price"}) {
		t.Errorf("%q wait", got)
	}
	if !s.Equal(s.Compact()) || len(waiting(s.Compact())) != 0 {
		t.Error("the compact form differs, or waits")
	}
}

// Indices out of range are errors where records are chosen, not where they are read.
func TestWrongIndexFailsAtOnce(t *testing.T) {
	s := shop(t)
	for name, f := range map[string]func(){
		"gather":    func() { ops.Gather(s, []int{0, 6}, 0) },
		"negative":  func() { ops.Gather(s, []int{-7}, 0) },
		"chosen":    func() { ops.Gather(s.Filter("@.geo.lat > 0"), []int{3}, 0) },
		"numbers":   func() { tenon.Must(s.AtNumbers(tensor.Of([]int64{0, 6}))) },
		"below":     func() { tenon.Must(s.AtNumbers(tensor.Of([]int64{-1}))) },
		"ragged":    func() { tenon.Must(s.AtNumbers(tenon.Must(ragged.FromRowLengths([]int64{1, 9}, []int{2, 0})))) },
		"at":        func() { s.At(6) },
		"mask":      func() { s.Where([]bool{true}) },
		"too short": func() { ops.BooleanMask(s, []bool{true}, 0) },
	} {
		if _, err := tenon.Try(func() any { f(); return nil }); !errors.Is(err, tenon.ErrInvalid) && !errors.Is(err, tenon.ErrShape) && !errors.Is(err, tenon.ErrRange) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestSpecOfWhatWaits(t *testing.T) {
	s := shop(t)
	at := []int{4, 4, 0}
	a, b := ops.Gather(s, at, 0).(*Tensor), ops.Gather(s, at, 0).(*Tensor).Compact()
	if !tenon.Equal(a.Spec(), b.Spec()) || a.Spec().(*Spec).String() != b.Spec().(*Spec).String() {
		t.Errorf("got %v, want %v", a.Spec(), b.Spec())
	}
	if w := waiting(a); !slices.Contains(w, "name") {
		t.Errorf("the Spec of strings does not depend on them: only %q wait", w)
	}
	again := tenon.Must(a.Spec().Assemble(tenon.Must(a.Spec().Disassemble(a)))).(*Tensor)
	if !again.Equal(a) || len(waiting(a)) != 0 {
		t.Errorf("the parts are %v, %q wait", again, waiting(a))
	}
}

func TestReadByMany(t *testing.T) {
	s := shop(t).Filter("@.geo.lat > 0")
	var wait sync.WaitGroup
	got := make([]tensor.Tensor, 16)
	for i := range got {
		wait.Go(func() {
			if i%2 == 0 {
				s.Where([]bool{true, false, true}).Path("orders.price")
			}
			got[i] = s.Path("name")
			s.Path("orders.tags")
			s.Spec()
		})
	}
	wait.Wait()
	for _, v := range got {
		if v != got[0] {
			t.Fatal("a field was gathered more than once")
		}
	}
}

// What waits keeps its source alive; what is compact does not.
func TestCompactLetsTheSourceGo(t *testing.T) {
	gone := make(chan bool, 1)
	s := func() *Tensor {
		x := tensor.Of(make([]float64, 1<<16))
		runtime.AddCleanup(x.(*tensor.Dense), func(c chan bool) { c <- true }, gone)
		all := tenon.Must(FromFields([]Field{{"x", x}}, shape.Of(1<<16), Options{}))
		return ops.Gather(all, []int{1, 2}, 0).(*Tensor).Compact()
	}()
	for range 10 {
		runtime.GC()
		select {
		case <-gone:
			if n := s.Path("x").Shape().Dim(0); n != 2 {
				t.Errorf("%d rows", n)
			}
			return
		default:
			runtime.Gosched()
		}
	}
	t.Error("the source is still there")
}

// In graphs and on tapes nothing waits, so that results do not depend on when they are read.
func TestNothingWaitsInGraphs(t *testing.T) {
	s := shop(t)
	f := function.New(func(u tensor.Tensor) tensor.Tensor {
		v := u.(*Tensor).Filter("@.geo.lat > 0")
		if w := waiting(v); len(w) > 0 {
			t.Errorf("%q wait in a graph", w)
		}
		constant := s.Filter("@.geo.lat > 0") // of no argument: is computed while tracing
		return ops.Add(v.Path("id"), constant.Path("id"))
	})
	if got := tensor.Data[int64](f.Call(s)); !slices.Equal(got, []int64{6, 8, 10}) {
		t.Errorf("got %v", got)
	}
	var kept *Tensor
	lat := s.Path("geo.lat")
	g := grad.Of(func(x tensor.Tensor) tensor.Tensor {
		kept = s.With("geo.lat", x).Where([]bool{true, false, false, true, false, false})
		return ops.Sum(ops.Mul(kept.Path("geo.lat"), kept.Path("geo.lat")))
	})(lat)
	if got := tensor.Data[float64](g); !slices.Equal(got, []float64{-5, 0, 0, 1, 0, 0}) {
		t.Errorf("got %v", got)
	}
}
