package fixes // want package:"programs"

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

type Copied struct{ named.Dim[Seq] } // want `Copied embeds the named.Dim of .*Seq`
