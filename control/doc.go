// Package control branches and loops over any Values.
//
// [Cond], [Switch], [While], [Scan], [Fold], [FoldSeq], [Map] and [GoFunc] take
// functions of nests of Values. With concrete values they are plain Go: only the
// chosen branch runs, and a loop is a Go loop. With symbolic values, each
// function is traced into a region, which is a graph stored as an attribute of one
// operation, and that operation is recorded. Both ways give the same results.
//
// Branches must agree: their results are merged by Spec, with declared casts if
// there are any. A loop variable keeps its Spec, or widens to the merge of its
// Specs before and after the body.
//
// Stability: stable.
package control
