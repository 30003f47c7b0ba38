// Package rowwise decides whether a function answers each row by itself, by the statements of
// its operations.
//
// A function whose arguments are rows answers each by itself where, for all arguments a and b,
// what it says to their joined rows is what it says to a followed by what it says to b. [Of] goes
// over the graph of a function once and finds out of each value how that of a joined call is
// made of those of the calls: it is alike in all of them, its entries along one axis follow one
// another, it counts these, or divides them. Elements of indices may be positions in what is
// joined, so that those of the second call come behind the entries of the first. What an
// operation makes of all this follows from its [op.Statement]; only operations of which
// a statement does not say enough, most of which make indices, sizes and splits, are named here,
// and regions are gone over as the graph itself.
//
// What cannot be told is told so, and is not taken to be rows.
package rowwise
