package token

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rows is four rows: read is in three, file in two, lone in one.
var rows = [][]Token{
	{{"read", Lead}, {"file", Early}, {"read", Name}, {"package:os", InPackage}},
	{{"read", Lead}, {"lone", Name}},
	{{"read", Name}, {"file", Name}, {"package:os", InPackage}},
	{{"other", Name}, {"other", Body}},
}

func TestVocabulary(t *testing.T) {
	v := BuildVocabulary(rows, VocabularyOptions{})
	if v.Size() != 3 || v.Text(0) != "read" || v.Text(1) != "file" || v.Text(2) != "package:os" || v.Text(3) != "" {
		t.Errorf("tokens %q, want read, file, package:os", v.texts)
	}
	for id, want := range []float64{math.Log(1+4.0/3) / 3, math.Log(1+4.0/2) / 3, 1} {
		if got := v.Weight(int32(id)); math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("weight of %q is %v, want %v", v.Text(int32(id)), got, want)
		}
	}
	if _, ok := v.ID("lone"); ok {
		t.Error("a token of one row is known")
	}
	if all := BuildVocabulary(rows, VocabularyOptions{MinRows: 1}); all.Size() != 5 || all.Text(3) != "lone" {
		t.Errorf("with MinRows 1: %q", all.texts)
	}
}

func TestEncode(t *testing.T) {
	v := BuildVocabulary(rows, VocabularyOptions{})
	ids, fields := v.Encode([]int32{9}, []Field{Tail}, []Token{
		{"read", Lead}, {"read", Lead}, {"lone", Early}, // a question's words all count, unknown ones drop
		{"read", Name}, {"read", Name}, {"read", Body}, // once a field
		{"package:os", InPackage}, {"package:none", InPackage},
	})
	if diff := cmp.Diff([]int32{9, 0, 0, 0, 0, 2}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Field{Tail, Lead, Lead, Name, Body, InPackage}, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestEncodeUnknownWords(t *testing.T) {
	v := BuildVocabulary(rows, VocabularyOptions{Buckets: 1000})
	if v.Size() != 1003 {
		t.Fatalf("size %d, want 1003", v.Size())
	}
	encode := func(word string) []int32 {
		ids, fields := v.Encode(nil, nil, []Token{{word, Early}, {"package:none", InPackage}})
		for i, id := range ids {
			if id < 3 || int(id) >= v.Size() || fields[i] != Early {
				t.Errorf("%q has id %d in field %v", word, id, fields[i])
			}
		}
		return ids
	}
	a, b := encode("compress"), encode("compres")
	if len(a) != 8 || len(b) != 7 { // trigrams of ^compress$ and of ^compres$
		t.Errorf("%d and %d trigrams, want 8 and 7", len(a), len(b))
	}
	if diff := cmp.Diff(a[:6], b[:6]); diff != "" {
		t.Errorf("words that begin alike differ there:\n%s", diff)
	}
	if n := len(encode("x")); n != 1 {
		t.Errorf("a word of one letter has %d trigrams, want 1", n)
	}
	if got, want := v.Weight(500), float32(math.Log(1+4/1.5)/3); got != want {
		t.Errorf("a bucket weighs %v, want %v", got, want)
	}
}

func TestVocabularyJSON(t *testing.T) {
	v := BuildVocabulary(rows, VocabularyOptions{Buckets: 7})
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got Vocabulary
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, &got, cmp.AllowUnexported(Vocabulary{})); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestVocabularyJSONErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"lengths", `{"rows":3,"tokens":["a","b"],"counts":[2]}`, "2 tokens but 1 counts"},
		{"twice", `{"rows":3,"tokens":["a","a"],"counts":[2,2]}`, "listed twice"},
		{"count", `{"rows":3,"tokens":["a"],"counts":[4]}`, `"a" is in 4 of 3 rows`},
		{"buckets", `{"rows":3,"buckets":99999999999,"tokens":["a"],"counts":[3]}`, "99999999999 buckets"},
		{"negative", `{"rows":3,"buckets":-1,"tokens":["a"],"counts":[3]}`, "-1 buckets"},
		{"empty", `{}`, "vocabulary: empty"},
		{"foreign", `{"tokens":7}`, "vocabulary: json"},
	} {
		var v Vocabulary
		if err := json.Unmarshal([]byte(c.text), &v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzVocabularyJSON(f *testing.F) {
	f.Add([]byte(`{"rows":3,"buckets":2,"tokens":["a","b:c"],"counts":[2,3]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v Vocabulary
		if v.UnmarshalJSON(data) != nil {
			return
		}
		ids, fields := v.Encode(nil, nil, []Token{{"a", Lead}, {"wordy", Name}})
		if len(ids) != len(fields) {
			t.Fatalf("%d ids, %d fields", len(ids), len(fields))
		}
		for _, id := range ids {
			if id < 0 || int(id) >= v.Size() {
				t.Errorf("id %d of %d", id, v.Size())
			}
			v.Weight(id)
		}
	})
}
