package rank

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
	"github.com/tenonml/tenon/examples/gosearch/internal/token"
)

func function(path, doc string, uses int64) decl.Decl {
	at := strings.LastIndexByte(path, '.')
	pkg := path[:at]
	return decl.Decl{Package: pkg, PackageName: pkg[strings.LastIndexByte(pkg, '/')+1:], Name: path[at+1:], Kind: "func", Doc: doc, Uses: uses}
}

var few = []decl.Decl{
	function("strings.ToUpper", "ToUpper maps all letters.", 300),
	function("unicode.ToUpper", "ToUpper maps the rune.", 3),
	function("os.ReadFile", "ReadFile reads a file.", 90),
	function("ioutil.ReadFile", "ReadFile reads a file.\n\nDeprecated: Use os.ReadFile.", 90),
	function("a/internal/b.ReadFile", "ReadFile reads the file.", 900),
	function("os.rename", "rename gives a filename.", 0),
}

// best is the declaration with the greatest score.
func best(x *Index, question string) string {
	var t token.Tokenizer
	scores := x.Scores(t.Ask(question, x.Known), Fitted)
	for i, public := range x.Public {
		if !public {
			scores[i] = -100
		}
	}
	at := slices.Index(scores, slices.Max(scores))
	return few[at].Package + "." + few[at].Name
}

func TestScores(t *testing.T) {
	x := New(few, Fitted)
	kept, err := Open(x.Kept(), len(few))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ question, want string }{
		{"how do I convert to upper letters", "strings.ToUpper"}, // what is used more
		{"unicode rune to upper", "unicode.ToUpper"},
		{"read a file", "os.ReadFile"}, // neither internal nor deprecated
		{"readfile", "os.ReadFile"},    // one word for two
		{"uppercase", "strings.ToUpper"},
		{"load a document", "os.ReadFile"}, // as others say it
		{"", "strings.ToUpper"},            // nothing but use
	} {
		if got := best(x, c.question); got != c.want {
			t.Errorf("%q: %s, want %s", c.question, got, c.want)
		}
		if got := best(kept, c.question); got != c.want {
			t.Errorf("%q, asked of what was kept: %s, want %s", c.question, got, c.want)
		}
	}
	if got, want := x.Public, []bool{true, true, true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("public %v, want %v", got, want)
	}
}

// A frequent word counts as a frequent one also if it stands for a rare one.
func TestAlikeIsAsFrequentAsItIs(t *testing.T) {
	x := New(few, Fitted)
	only := Weights{Words: 1, Alike: 1, Saturation: Fitted.Saturation}
	score := func(asked token.Asked) float32 {
		return x.Scores([]token.Asked{{Stem: "unicod"}, asked}, only)[2] // os.ReadFile
	}
	literal, alike := score(token.Asked{Stem: "file"}), score(token.Asked{Stem: "parchment", Alike: []string{"file"}})
	if !(0 < alike && alike < literal) {
		t.Errorf("a word that stands for another counts %v, itself %v; want less, and more than 0", alike, literal)
	}
}

// The form of a question tells what is to be returned.
func TestWants(t *testing.T) {
	decls := []decl.Decl{function("unicode.ToLetter", "ToLetter is about a letter.", 9), function("unicode.Letter", "Letter is about a letter.", 1)}
	decls[1].Results = []decl.Param{{Type: "bool"}}
	decls = append(decls, decls[1])
	decls[2].Name, decls[2].Results = "Letters", []decl.Param{{Name: "n", Type: "int"}}
	x := New(decls, Fitted)
	var tokens token.Tokenizer
	for question, want := range map[string][]int{"is it a letter": {1}, "how many letters": {2}, "letter": nil, "how are letters made": nil, "is": nil} {
		with, without := Fitted, Fitted
		without.Wanted = 0
		asked := tokens.Ask(question, x.Known)
		a, b := x.Scores(asked, with), x.Scores(asked, without)
		for i := range decls {
			if more := a[i] > b[i]; more != slices.Contains(want, i) {
				t.Errorf("%q: %s counts more: %v", question, decls[i].Name, more)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, damage := range map[string]func(x *Index){
		"another number":  func(x *Index) { x.Public = x.Public[1:] },
		"no rarity":       func(x *Index) { x.Rarity = nil },
		"no splits":       func(x *Index) { x.Splits = nil },
		"splits go back":  func(x *Index) { x.Splits[1] = x.Splits[2] + 1 },
		"a long split":    func(x *Index) { x.Splits[len(x.Splits)-1]++ },
		"no declaration":  func(x *Index) { x.Documents[0] = 99 },
		"minus one":       func(x *Index) { x.Documents[0] = -1 },
		"no results":      func(x *Index) { x.Gives = nil },
		"fewer strengths": func(x *Index) { x.Strength = x.Strength[1:] },
	} {
		x := New(few, Fitted)
		damage(x)
		if _, err := Open(x.Kept(), len(few)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
