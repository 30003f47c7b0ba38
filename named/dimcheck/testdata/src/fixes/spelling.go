package fixes

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

type InputReps struct{ named.Dim[InputReps] }

func spelling(in AttnIn) *named.Tensor {
	return named.Sum[InputReps](in) // want `did you mean InputRep\?`
}
