package fixes

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

func rename(in AttnIn) {
	keys := named.Zeros(dtype.Float32, KeySeq{}.Of(8), KqRep{}.Of(3))
	other := named.Zeros(dtype.Float32, Foo{}.Of(3), ValueRep{}.Of(4))
	_ = named.Dot[KqRep](keys, other) // want `did you mean named.Rename\[Foo, KqRep\]\(right\)\?`
}
