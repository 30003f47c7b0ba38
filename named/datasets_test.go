package named_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/tensor"
)

func TestDataSetsKeepNames(t *testing.T) {
	rows := func(n int) T { return wave(named.Rows{}.Of(n), Val{}.Of(2)) }
	lengths := func(ns ...int) []T {
		var out []T
		for _, n := range ns {
			out = append(out, wave(Seq{}.Of(n), Val{}.Of(2)))
		}
		return out
	}
	for _, tt := range []struct {
		name string
		d    *dataset.Dataset[T]
		want string // the Specs of the elements
	}{
		{"rows in order", dataset.FromRows(rows(5)).Batch(2, dataset.BatchOptions{}), "float64{Rows:2 Val:2} float64{Rows:2 Val:2} float64{Rows:1 Val:2}"},
		{"rows shuffled", dataset.FromRows(rows(4)).Shuffle(1).Batch(2, dataset.BatchOptions{}), "float64{Rows:2 Val:2} float64{Rows:2 Val:2}"},
		{"rows one by one", dataset.FromRows(rows(2)), "float64{Val:2} float64{Val:2}"},
		{"of one size", dataset.FromSlice(lengths(3, 3)).Batch(2, dataset.BatchOptions{}), "float64{Rows:2 Seq:3 Val:2}"},
		{"of lengths that differ", dataset.FromSlice(lengths(2, 3)).Batch(2, dataset.BatchOptions{Kind: dataset.Ragged}), "float64{Rows:2 Seq~ Val:2}"},
		{"padded", dataset.FromSlice(lengths(2, 3)).Batch(2, dataset.BatchOptions{Kind: dataset.Padded}), "float64{Rows:2 Seq:3 Val:2}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for x, err := range tt.d.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, tenon.String(x.Spec()))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
}

func TestVariablesOfAModelKeepNames(t *testing.T) {
	type model struct{ W T }
	x := wave(Seq{}.Of(2), Rep{}.Of(3))
	m, err := nn.Variables(model{x})
	if err != nil {
		t.Fatal(err)
	}
	if err := nn.Assign(m, model{named.Mul(x, 2)}); err != nil {
		t.Fatal(err)
	}
	frozen, err := nn.Frozen(m)
	if err != nil || !named.Equal(frozen.W, named.Mul(x, 2), tensor.EqualOptions{}) {
		t.Errorf("got %v, %v", frozen.W, err)
	}
	if got := named.Sum[Rep](m.W); !named.Equal(got, named.Sum[Rep](named.Mul(x, 2)), tensor.EqualOptions{}) {
		t.Errorf("a sum of a variable: %v", got)
	}
}
