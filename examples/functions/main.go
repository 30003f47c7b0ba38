// Command functions predicts whether a Go function returns an error from a record about it: its package and
// receiver, its size, a list of its parameters, and a list of the functions that it calls. A schema turns such
// records into vectors.
//
//	go run ./examples/functions -picture functions.svg
package main

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/types"
	"log"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/internal/draw"
	"github.com/tenonml/tenon/examples/internal/source"
	"github.com/tenonml/tenon/learn/features"
	"github.com/tenonml/tenon/learn/metric"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/learn/train"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
)

// Function is the record of a function.
type Function struct {
	Package    string
	Receiver   *string // nil for functions that are not methods
	Exported   bool
	Bytes      int
	Parameters []Parameter
	Calls      []string
	Fails      bool // it returns an error
}

// Parameter is a parameter of a function.
type Parameter struct{ Type string }

var packages = strings.Fields(`archive/tar archive/zip bufio bytes compress/flate crypto/tls crypto/x509 database/sql debug/elf encoding/asn1
	encoding/csv encoding/gob encoding/json encoding/xml go/printer go/types html/template image/png io io/fs log/slog math/big mime/multipart
	net net/http net/netip net/textproto net/url os os/exec sort strconv strings text/template time`)

func record(path string, f *ast.FuncDecl) (r Function) {
	r = Function{Package: path, Exported: f.Name.IsExported(), Bytes: int(f.End() - f.Pos()), Parameters: []Parameter{}, Calls: []string{}}
	if f.Recv != nil {
		r.Receiver = new(types.ExprString(f.Recv.List[0].Type))
	}
	for _, p := range f.Type.Params.List {
		r.Parameters = append(r.Parameters, slices.Repeat([]Parameter{{types.ExprString(p.Type)}}, max(1, len(p.Names)))...)
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			r.Calls = append(r.Calls, types.ExprString(c.Fun))
		}
		return true
	})
	if res := f.Type.Results; res != nil {
		r.Fails = types.ExprString(res.List[len(res.List)-1].Type) == "error"
	}
	return r
}

// Model turns records into vectors, and these into logits of returning an error.
type Model struct {
	Vectors features.Encoder
	Out     nn.MLP
}

// Logits returns a logit for each record.
func (m Model) Logits(records *structured.Tensor) tensor.Tensor {
	return ops.Squeeze(m.Out.Apply(m.Vectors.Apply(records)), -1)
}

// run returns the share of held-out functions that are classified correctly, and the area under the ROC curve.
func run(ctx context.Context, epochs int, picture string) (accuracy, auc float64, err error) {
	defer tenon.Catch(&err)
	all := []Function{}
	for path, f := range source.Functions(packages...) {
		all = append(all, record(path, f))
	}
	parts := dataset.FromRows(tenon.Must(gostruct.From(all))).Shuffle(1).Split(0.8, 0.2)
	whole := func(d *dataset.Dataset[*structured.Tensor]) *structured.Tensor {
		return tenon.Must(d.Batch(1<<20, dataset.BatchOptions{Kind: dataset.Ragged}).At(0))
	}
	seen, test, k := whole(parts[0]), whole(parts[1]), ops.RandomKeys(ops.RandomKey(1), 2)
	enc := tenon.Must(features.Fit(k[0], seen, features.Options{
		Features: 8, Hidden: 16, Words: nn.VocabularyOptions{Least: 2}, Columns: map[string]features.Column{"Fails": {Kind: features.Skip}, "Calls": {Features: 32}},
	}))
	model := Model{enc, nn.NewMLP(k[1], []int{enc.Width(), 32, 1})}
	loss := func(m Model, b *structured.Tensor, _ tensor.Tensor) tensor.Tensor {
		return ops.Mean(nn.BinaryCrossEntropy(m.Logits(b), b.Path("Fails")))
	}
	fit := tenon.Must(train.Fit(ctx, model, loss, train.FitOptions[Model, *structured.Tensor]{
		Options: train.Options{Optimizer: train.AdamW(0.005)}, Epochs: epochs,
		Data: tenon.Must(train.FromDataset(parts[0].Shuffle(2).Batch(64, dataset.BatchOptions{Kind: dataset.Ragged}))),
	}))
	logits, truth := fit.Params.Logits(test), ops.Cast(test.Path("Fails"), dtype.Int64)
	curve := tenon.Must(metric.NewCurve(truth, logits, nil))
	accuracy, err = draw.Confusion(picture, truth, ops.Cast(ops.Greater(logits, 0.0), dtype.Int64), "no error", "error")
	return accuracy, tenon.Must(curve.AUC()), err
}

func main() {
	epochs := flag.Int("epochs", 3, "passes over the data")
	picture := flag.String("picture", "", "write the confusion matrix to this `file`, an SVG")
	flag.Parse()
	accuracy, auc, err := run(context.Background(), *epochs, *picture)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("for %.1f %% of the functions, the prediction whether they return an error is correct; the area under the ROC curve is %.3f\n", 100*accuracy, auc)
}
