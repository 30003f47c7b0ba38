package rank

// A field is a part of a declaration that words stand in.
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

// Weights say how much each thing counts.
type Weights struct {
	Fields     [numFields]float64
	Saturation float64 // of a word's fields: BM25's k1
	Length     float64 // how much a long field counts less: BM25's b
	Stop       float64 // what a word such as "how" counts, beside 1
	Compound   float64 // what counts a word that was written as two, or two as one

	Words, Covered, Named         float64 // BM25F as a share of the most there can be, the share of the question, that of the name
	Used, UsedAlways, PackageUsed float64 // logarithms of uses, by how well words fit, and whether they do or not
	Method, Deprecated            float64 // what these count less
	Cosine                        float64 // of package model
}

// Fitted are the weights that do best on the choosing half of the questions.
var Fitted = Weights{
	Fields: [numFields]float64{
		name: 1.56, receiver: 1.42, importPath: 1.98, packageDoc: 0.3, typeDoc: 0.78, first: 0.88, body: 0.54,
		paramName: 0.49, typeName: 0.33, example: 2.26, callers: 0.59,
	},
	Saturation: 1.2, Length: 0.5, Stop: 0.46, Compound: 0.3,
	Words: 10, Covered: 2.56, Named: 0.49, Used: 4.19, UsedAlways: 3.5, PackageUsed: 1.67,
	Method: 1.45, Deprecated: 1.07, Cosine: 7.5,
}
