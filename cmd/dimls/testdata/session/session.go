// Package session is what the scripted editor works on.
package session

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"

	"github.com/tenonml/tenon/cmd/dimls/testdata/weights"
)

type (
	Seq    struct{ named.Dim[Seq] }
	KeySeq struct{ named.Dim[KeySeq] }
)

func scores() *named.Tensor {
	x := named.Zeros(dtype.Float32, Seq{}.Of(8), weights.Rep{}.Of(2))
	queries := weights.Project(x)
	keys := named.Rename[Seq, KeySeq](queries)
	return named.Dot[weights.Kq](queries, keys)
}
