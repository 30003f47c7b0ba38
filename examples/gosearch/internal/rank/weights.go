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
	numFields
)

// Weights say how much each feature counts.
type Weights struct {
	Fields     [numFields]float64
	Saturation float64 // of a word over its fields: BM25's k1
	Length     float64 // how much less a long field counts: BM25's b
	Stop       float64 // the weight of a word such as "how", relative to 1
	Compound   float64 // the weight of a word that was written as two, or of two written as one
	Alike      float64 // the weight of another word with the same meaning, and of one in a name
	AlikeNamed float64

	Words, Covered, Named         float64 // BM25F relative to its maximum, the covered share of the question, and that of the name
	Used, UsedAlways, PackageUsed float64 // logarithms of uses, by how well words fit, and whether they do or not
	Method, Deprecated, New       float64 // penalties, and that of a package for each element of its path
	Deep                          float64
	Example                       float64 // for having an example
	Cosine                        float64 // of package model
	Wanted                        float64 // for returning what the form of the question asks for
	Again                         float64 // penalty, each time, for an answer whose name begins like an earlier one: see [Index.Vary]
}

// Fitted are the weights that make the answers to the choosing questions most likely. Each is kept near its initial
// value by a Gaussian prior on its logarithm, and the loss of a question is bounded by that of one with a probability
// of a thousandth.
var Fitted = Weights{
	Fields: [numFields]float64{
		name: 0.74, receiver: 1.29, importPath: 1.61, packageDoc: 2.63, typeDoc: 0.69, first: 1.01, body: 0.70,
		paramName: 0.62, typeName: 1.95, example: 1.08, callers: 0.49,
	},
	Saturation: 1.35, Length: 0.400, Stop: 0.70, Compound: 0.17, Alike: 0.75, AlikeNamed: 1.03,
	Words: 16.38, Covered: 4.73, Named: 0.95, Used: 3.44, UsedAlways: 2.36, PackageUsed: 1.43,
	Method: 1.93, Deprecated: 1.20, New: 0.42, Deep: 0.92, Example: 0.43, Cosine: 7.19, Wanted: 2.46, Again: 2,
}
