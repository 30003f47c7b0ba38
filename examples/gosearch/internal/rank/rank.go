package rank

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
)

// An Index holds declarations. It is safe for concurrent use.
type Index struct {
	Table
	ids     map[string]int
	counted int // declarations among which the rarity of words is counted
}

// posting is a word in a declaration.
type posting struct {
	document int32
	counts   [numFields]int32
}

// New indexes declarations. The rarity of words and the average length of fields are those of
// public declarations, if there are any.
func New(decls []decl.Decl, w Weights) *Index {
	var tokenizer token.Tokenizer
	words := map[string][]posting{}
	lengths := make([][numFields]int32, len(decls))
	public := make([]bool, len(decls))
	for i := range decls {
		public[i] = decls[i].Public()
	}
	counted := public
	if !slices.Contains(public, true) {
		counted = slices.Repeat([]bool{true}, len(decls))
	}
	names := make([][]string, len(decls))
	var average [numFields]float64
	number := 0.0
	for i := range decls {
		fields := fieldsOf(&tokenizer, &decls[i])
		names[i] = fields[name]
		counts := map[string]*[numFields]int32{}
		for f, texts := range fields {
			lengths[i][f] = int32(len(texts))
			if counted[i] {
				average[f] += float64(len(texts))
			}
			for _, t := range texts {
				if counts[t] == nil {
					counts[t] = new([numFields]int32)
				}
				counts[t][f]++
			}
		}
		if counted[i] {
			number++
		}
		for t, c := range counts {
			words[t] = append(words[t], posting{int32(i), *c})
		}
	}
	x := &Index{Table: Table{Splits: []int64{0}, Public: public}}
	for _, text := range slices.Sorted(maps.Keys(words)) {
		frequency := 0.0
		for _, p := range words[text] {
			if counted[p.document] {
				frequency++
			}
		}
		x.Terms = append(x.Terms, text)
		x.Rarity = append(x.Rarity, float32(math.Log(1+(number-frequency+0.5)/(frequency+0.5))))
		for _, p := range words[text] {
			sum := 0.0
			for f, n := range p.counts {
				if n > 0 {
					relative := float64(lengths[p.document][f]) * number / max(average[f], 1)
					sum += w.Fields[f] * float64(n) / (1 - w.Length + w.Length*relative)
				}
			}
			x.Documents = append(x.Documents, p.document)
			x.Strength = append(x.Strength, float32(sum))
			x.InName = append(x.InName, p.counts[name] > 0)
		}
		x.Splits = append(x.Splits, int64(len(x.Documents)))
	}
	x.lookUp()
	for i := range decls {
		d := &decls[i]
		rarity := float32(0)
		for _, t := range names[i] {
			rarity += x.Rarity[x.ids[t]]
		}
		always := w.Used*math.Log1p(float64(d.Uses))/8 - w.Deep*float64(depth(d.Package))
		if d.Kind == "method" {
			always -= w.Method
		}
		if d.Deprecated() {
			always -= w.Deprecated
		}
		x.Names = append(x.Names, rarity)
		x.Always = append(x.Always, float32(always))
		x.Gives = append(x.Gives, gives(d))
	}
	return x
}

func (x *Index) lookUp() {
	x.ids = make(map[string]int, len(x.Terms))
	for i, t := range x.Terms {
		x.ids[t] = i
	}
	for _, p := range x.Public {
		if p {
			x.counted++
		}
	}
	if x.counted == 0 {
		x.counted = len(x.Public)
	}
}

// fieldsOf returns the stems of a declaration's words, by field.
func fieldsOf(t *token.Tokenizer, d *decl.Decl) (out [numFields][]string) {
	add := func(f field, texts ...string) {
		for _, s := range texts {
			out[f] = t.Stems(out[f], s)
		}
	}
	sentence, rest := d.Synopsis()
	add(name, d.Name)
	add(receiver, d.ReceiverType())
	add(receiver, d.Through...)
	add(importPath, d.Package)
	add(packageDoc, d.PackageDoc)
	add(typeDoc, d.TypeDoc)
	add(first, sentence)
	add(body, rest)
	for _, list := range [][]decl.Param{d.Params, d.Results} {
		for _, p := range list {
			add(paramName, p.Name)
			add(typeName, p.Type)
		}
	}
	for _, e := range d.Examples {
		add(example, e.Name, e.Code)
	}
	add(callers, d.Callers...)
	add(asked, d.Asked...)
	return out
}

// depth is how far a package is below its module's root, assuming that a path such as
// "example.com/owner/module/package" has a root of three parts.
func depth(path string) int {
	n := strings.Count(path, "/")
	if host, _, _ := strings.Cut(path, "/"); strings.Contains(host, ".") {
		n = max(0, n-2)
	}
	return n
}

// Known reports whether a stem occurs in a declaration.
func (x *Index) Known(stem string) bool {
	_, ok := x.ids[stem]
	return ok
}

// Scores gives the score of each declaration for a question.
func (x *Index) Scores(question []token.Asked, w Weights) []float32 {
	n := len(x.Names)
	match, covered, named := make([]float32, n), make([]float32, n), make([]float32, n)
	best, inName := make([]float32, n), make([]float32, n) // of one word of the question
	var touched []int32
	total := float32(1e-9)
	for _, a := range question {
		weight := float32(math.Log(2 * float64(x.counted+1))) // of a word that occurs nowhere
		id, ok := x.ids[a.Stem]
		if ok {
			weight = x.Rarity[id]
		}
		switch {
		case a.Compound:
			weight *= float32(w.Compound)
		case a.Stop:
			weight *= float32(w.Stop)
			total += weight
		default:
			total += weight
		}
		look := func(stem string, as float32) {
			id, ok := x.ids[stem]
			if !ok {
				return
			}
			as *= min(1, x.Rarity[id]/weight) // a frequent word does not become rare by standing for a rare one
			for i := x.Splits[id]; i < x.Splits[id+1]; i++ {
				d, strength := x.Documents[i], x.Strength[i]
				if best[d] == 0 {
					touched = append(touched, d)
				}
				best[d] = max(best[d], as*strength/(float32(w.Saturation)+strength))
				if x.InName[i] {
					inName[d] = max(inName[d], x.Rarity[id])
				}
			}
		}
		look(a.Stem, 1)
		for _, stem := range a.Alike {
			look(stem, float32(w.Alike))
		}
		for _, d := range touched {
			match[d] += weight * best[d]
			covered[d] += weight * enough(best[d])
			named[d] += inName[d]
			best[d], inName[d] = 0, 0
		}
		touched = touched[:0]
	}
	out := match
	wanted := wants(question)
	for d := range out {
		s := x.Always[d] + (float32(w.Words)*match[d]+float32(w.Covered)*covered[d])/total
		if match[d] > 0 {
			s += float32(w.Named) * min(1, named[d]/(x.Names[d]+1e-9))
		}
		if x.Gives[d]&wanted != 0 {
			s += float32(w.Wanted)
		}
		out[d] = s
	}
	return out
}

// enough returns how much of a word a declaration covers in which it has some strength, from 0
// to 1: half of it at a quarter of the maximum strength.
func enough(strength float32) float32 {
	return float32(1 / (1 + math.Exp(20*(0.25-float64(strength)))))
}
