package declare

import "github.com/tenonml/tenon/named"

type (
	Seq struct{ named.Dim[Seq] }
	Key struct{ named.Dim[Seq] } // want `^Key embeds the named.Dim of Seq: declare it as struct{ named.Dim\[Key\] }$`
	Row struct{ named.Dim[Row] }
)

type Both struct { // want `^Both embeds the named.Set of Other: declare it as struct{ named.Set\[Both\] }$`
	named.Set[Other]
	Seq
	Row
}

type Other struct {
	named.Set[Other]
	Seq
	Row
}
