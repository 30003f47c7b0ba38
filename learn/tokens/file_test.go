package tokens_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/tokens"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func read(t testing.TB, name string) *tokens.Tokenizer {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tok, err := tokens.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// Ids and texts are those of Hugging Face's library, which has written cases.json.
func TestReadFiles(t *testing.T) {
	var golden struct {
		Cases map[string][]struct {
			Text, Back string
			IDs        []int64
		}
	}
	if err := json.Unmarshal(tenon.Must(os.ReadFile("testdata/cases.json")), &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) != 5 {
		t.Fatalf("%d files", len(golden.Cases))
	}
	for name, cases := range golden.Cases {
		tok := read(t, name)
		var texts []string
		for _, c := range cases {
			texts = append(texts, c.Text)
		}
		ids := tok.Encode(tensor.Of(texts)).(*ragged.Tensor)
		back := tensor.Data[string](tok.Decode(ids))
		for i, got := range tenon.Must(ragged.Slices[int64](ids)) {
			if c := cases[i]; !slices.Equal(got, c.IDs) || back[i] != c.Back {
				t.Errorf("%s: %q is %v and comes back as %q, want %v and %q", name, c.Text, got, back[i], c.IDs, c.Back)
			}
		}
	}
}

const small = `{"added_tokens":[{"id":7,"content":"<s>","rstrip":true}],"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},{"type":"Replace","pattern":{"String":" "},"content":"▁"}]},
"decoder":{"type":"Fuse"},"model":{"vocab":{"<unk>":0,"▁":1,"a":2,"b":3,"▁a":4,"<0xC3>":5,"<0xA9>":6},"merges":["▁ a"],"unk_token":"<unk>","fuse_unk":true,"byte_fallback":true}}`

// Characters that have no token are bytes, if these have, and otherwise unknown; files of old have no type of model.
func TestUnknownCharacters(t *testing.T) {
	tok := tenon.Must(tokens.Read(strings.NewReader(small)))
	for text, want := range map[string][]int64{"a ab": {4, 4, 3}, "aé": {4, 5, 6}, "xyb": {1, 0, 3}, "<s>  a": {7, 4}, "": {}} {
		if got := tensor.Data[int64](tok.Encode(tensor.Scalar(text))); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	// A word of many letters is merged in one go.
	if n := tok.Encode(tensor.Scalar(strings.Repeat(" a", 1<<16))).Shape().Dim(0); n != 1<<16+1 {
		t.Errorf("%d tokens", n)
	}
}

func TestReadRefuses(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(small, old, new, 1) }
	for name, c := range map[string]struct {
		file string
		kind error
		text string
	}{
		"no file":            {"", tenon.ErrInvalid, "not a tokenizer.json"},
		"no model":           {"{}", tenon.ErrInvalid, "no model"},
		"another model":      {`{"model":{"type":"WordLevel"}}`, tenon.ErrUnsupported, "WordLevel"},
		"another decoder":    {with("Fuse", "CTC"), tenon.ErrUnsupported, "CTC"},
		"another normalizer": {with(`"type":"Prepend"`, `"type":"Nmt"`), tenon.ErrUnsupported, "Nmt"},
		"no unknown piece":   {`{"model":{"type":"Unigram","vocab":[["a",-1]]}}`, tenon.ErrInvalid, "unk_id"},
		"a piece twice":      {`{"model":{"type":"Unigram","unk_id":0,"vocab":[["a",-1],["a",-2]]}}`, tenon.ErrInvalid, "two pieces"},
		"no score":           {`{"model":{"type":"Unigram","unk_id":0,"vocab":[["a"]]}}`, tenon.ErrInvalid, "piece 0"},
		"charsmap":           {with(`"type":"Prepend"`, `"type":"Precompiled","precompiled_charsmap":"/////w=="`), tenon.ErrInvalid, "4294967295"},
		"prepend scheme":     {with(`{"type":"Fuse"}`, `{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"}`), tenon.ErrUnsupported, "first"},
		"ids":                {with(`"b":3`, `"b":2`), tenon.ErrInvalid, "two tokens"},
		"merges":             {with("▁ a", "▁ c"), tenon.ErrInvalid, "merge 0"},
		"unknown":            {with(`"unk_token":"<unk>"`, `"unk_token":"?"`), tenon.ErrInvalid, `"?"`},
		"added":              {with(`"id":7`, `"id":2`), tenon.ErrInvalid, "<s>"},
		"dropout":            {with(`"fuse_unk":true`, `"dropout":0.1`), tenon.ErrUnsupported, "drops out"},
		"pattern":            {with(`"decoder"`, `"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"},"decoder"`), tenon.ErrInvalid, "pattern"},
	} {
		if _, err := tokens.Read(strings.NewReader(c.file)); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(small), "a é<s>x")
	f.Add([]byte(`{"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},"model":{"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##","max_input_chars_per_word":9,"vocab":{"?":0,"a":1,"##b":2,".":3}}}`), "Äb 大.")
	f.Add([]byte(`{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"ByteLevel"}]},"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"Ġ":1,"Ġa":2},"merges":[["Ġ","a"]]}}`), "a a1")
	f.Add([]byte(`{"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled","precompiled_charsmap":"CAAAAAAEAAAAAAAAYQBiAA=="},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}]},"pre_tokenizer":{"type":"Metaspace","replacement":"▁"},"decoder":{"type":"Metaspace","replacement":"▁"},"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["?",0],["▁a",-1],["a",-2],["<0x62>",-3]]}}`), "a  ab é")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		tok, err := tokens.Read(strings.NewReader(string(file)))
		if err != nil {
			return
		}
		ids, err := tenon.Try(func() tensor.Tensor { return tok.Encode(tensor.Scalar(text)) })
		if err == nil {
			tok.Decode(ids) // knows what it has given
		}
	})
}
