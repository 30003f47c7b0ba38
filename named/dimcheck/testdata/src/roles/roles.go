package roles // want package:"programs"

import (
	"github.com/tenonml/tenon/named"
	. "github.com/tenonml/tenon/named/dimcheck/testdata/src/names"
)

// The attention of the proposal: only the keys are renamed, and what is summed over are
// the positions of the queries.
func proposal(in AttnIn, queryM, keyM KqMatrix, valueM ValueMatrix) AttnOut {
	inputKeys := named.Rename[Seq, KeySeq](in.InputRep.Dot(keyM.InputRep))
	inputQueries := in.InputRep.Dot(queryM.InputRep)
	attention := named.Dot[KqRep](inputKeys, inputQueries)
	values := in.InputRep.Dot(valueM.InputRep)
	attended := named.Dot[Seq](values, attention)
	return named.Bind[AttnOut](named.Rename[KeySeq, Seq](attended)) // want `^named.Rename KeySeq→Seq: the positions of the queries, Seq, have been summed over, and those of the keys, KeySeq, get their name: queries and keys have exchanged their roles\n  tensor  {ValueRep KeySeq}\n  rename the values as well, named.Rename\[Seq, KeySeq\]\(values\), and contract over KeySeq$`
}

// The same with a softmax.
func successor(in AttnIn, queryM, keyM KqMatrix, valueM ValueMatrix) AttnOut {
	keys := named.Rename[Seq, KeySeq](in.InputRep.Dot(keyM.InputRep))
	queries := in.InputRep.Dot(queryM.InputRep)
	attention := named.Softmax[Seq](named.Dot[KqRep](keys, queries)) // want `^named.Softmax over Seq: Seq are the positions of the queries: the weights of a query do not add up to 1 over those of the keys, KeySeq\n  tensor  {KeySeq Seq}\n  did you mean named.Softmax\[KeySeq\]\?$`
	values := in.InputRep.Dot(valueM.InputRep)
	return named.Bind[AttnOut](named.Rename[KeySeq, Seq](named.Dot[Seq](values, attention)))
}

// The queries may be what is renamed.
type Query struct{ named.Dim[Query] }

func queriesRenamed(in AttnIn, queryM, keyM KqMatrix, valueM ValueMatrix) AttnOut {
	keys := in.InputRep.Dot(keyM.InputRep)
	queries := named.Rename[Seq, Query](in.InputRep.Dot(queryM.InputRep))
	attention := named.Softmax[Seq](named.Dot[KqRep](keys, queries))
	values := in.InputRep.Dot(valueM.InputRep)
	return named.Bind[AttnOut](named.Rename[Query, Seq](named.Dot[Seq](values, attention)))
}

func right(in AttnIn, queryM, keyM KqMatrix, valueM ValueMatrix) AttnOut {
	keys := named.Rename[Seq, KeySeq](in.InputRep.Dot(keyM.InputRep))
	queries := in.InputRep.Dot(queryM.InputRep)
	attention := named.Softmax[KeySeq](named.Dot[KqRep](keys, queries))
	values := named.Rename[Seq, KeySeq](in.InputRep.Dot(valueM.InputRep))
	return named.Bind[AttnOut](named.Dot[KeySeq](values, attention))
}

// A gradient written by hand sums over the queries, and what is left are keys.
func gradient(in AttnIn, queryM, keyM KqMatrix, g AttnOut) *named.Tensor {
	keys := named.Rename[Seq, KeySeq](in.InputRep.Dot(keyM.InputRep))
	queries := in.InputRep.Dot(queryM.InputRep)
	scores := named.Dot[KqRep](keys, queries)
	return named.Dot[Seq](scores, g)
}
