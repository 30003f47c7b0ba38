package sizes // want package:"programs"

import (
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

const width = 4

var table = named.Zeros(dtype.Float32, Vocab{}.Of(50), InputRep{}.Of(2*width))

func sizes(n int) {
	x := named.Zeros(dtype.Float32, Seq{}.Of(n), InputRep{}.Of(width))
	_ = named.Dot[InputRep](table, x) // want `^named.Dot over InputRep: InputRep has the sizes 8 and 4\n  left   {Vocab:50 InputRep:8}  from sizes.go:11\n  right  {Seq InputRep:4}       from sizes.go:14$`
	y := named.Concat[InputRep](x, x)
	_ = named.Dot[InputRep](table, y)
	_ = named.Add(x, named.Ones(dtype.Float32, InputRep{}.Of(5))) // want `named.Add: InputRep has the sizes 4 and 5`
	_ = named.Split[InputRep](x, Head{}.Of(3), KqRep{}.Of(2))     // want `named.Split over InputRep: 4 elements do not fill the sizes \[3 2\]`
	z := named.Split[InputRep](x, Head{}.Of(2), KqRep{}.Of(-1))
	_ = named.Dot[KqRep](z, named.Ones(dtype.Float32, KqRep{}.Of(3)))                // want `named.Dot over KqRep: KqRep has the sizes 2 and 3`
	_ = named.Squeeze[InputRep](x)                                                   // want `named.Squeeze over InputRep: InputRep has size 4, not 1`
	_ = named.BroadcastTo(x, Batch{}.Of(3), Seq{}.Of(n), InputRep{}.Of(6))           // want `named.BroadcastTo: InputRep has the size 4, not 6`
	_ = named.Add(x, named.Ones(dtype.Float32, InputRep{}.Of(x.Size(InputRep{})+1))) // want `InputRep has the sizes 4 and 5`
	_ = named.Add(x, named.Ones(dtype.Float32, Seq{}.Of(9)))
	values, _ := named.TopK[InputRep](x, 3)
	_ = named.Add(values, x)                                           // want `InputRep has the sizes 3 and 4`
	_ = named.Add(named.Pad[InputRep](x, 1, 2, named.PadOptions{}), x) // want `InputRep has the sizes 7 and 4`
}
