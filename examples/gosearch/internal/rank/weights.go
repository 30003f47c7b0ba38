package rank

// A field is a part of a declaration that contains words.
type field int

const (
	name field = iota
	receiver
	importPath
	packageDoc
	typeDoc
	first // sentence of the comment
	body  // the rest of it
	paramName
	typeName
	example
	callers
	asked // questions of people
	numFields
)

// Weights say how much each feature counts.
type Weights struct {
	Fields     [numFields]float64
	Saturation float64 // of a word over its fields: BM25's k1
	Length     float64 // how much less a long field counts: BM25's b
	Stop       float64 // the weight of a word such as "how", relative to 1
	Compound   float64 // the weight of a word that was written as two, or of two written as one
	Alike      float64 // the weight of another word with the same meaning, outside of names

	Words, Covered, Named float64 // BM25F relative to its maximum, the covered share of the question, and that of the name
	Used                  float64 // the logarithm of uses
	Method, Deprecated    float64 // penalties, and that of a package for each element of its path
	Deep                  float64
	Cosine, File, Package float64 // of package model; how much file and package count in it, relative to 1
	Wanted                float64 // for returning what the form of the question asks for
}

// Fitted are weights that make the answers to the choosing questions likely, where the loss of a question is bounded by
// that of one with a probability of a thousandth. They are rounded, and the logarithms of those of fields are half
// of what fits best: neither makes answers worse about packages that the weights were not fitted to.
var Fitted = Weights{
	Fields: [numFields]float64{
		name: 0.86, receiver: 1.14, importPath: 1.27, packageDoc: 1.62, typeDoc: 0.83, first: 1, body: 0.84,
		paramName: 0.79, typeName: 1.4, example: 1.04, callers: 0.7, asked: 2,
	},
	Saturation: 1.35, Length: 0.4, Stop: 0.7, Compound: 0.17, Alike: 0.75,
	Words: 15.5, Covered: 5.5, Named: 1.15, Used: 2.7, Method: 1.6, Deprecated: 1.2, Deep: 1.25,
	Cosine: 5.2, File: 0.55, Package: 0.75, Wanted: 4.2,
}
