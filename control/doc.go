// Package control branches and loops over any Values.
//
// [Cond], [Switch], [While], [Scan], [Fold], [FoldSeq], [Map] and [GoFunc] take functions
// of nests of Values. On concrete values they are plain Go: the branch that is
// chosen runs, a loop loops. On symbolic values each function is traced into a
// region, a graph that is an attribute of one operation, and that operation is
// recorded. Both ways give the same results.
//
// Branches have to agree: their results merge by Spec, with declared casts
// where there are some. Loop variables keep their Spec, or widen to the merge of
// what goes in and what comes out of the body.
//
// Stability: stable.
package control
