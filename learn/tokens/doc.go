// Package tokens splits texts into the tokens of language models and joins tokens into texts. It has the byte-pair
// encodings of tiktoken: "r50k_base" of GPT-2 and GPT-3, "p50k_base" and "p50k_edit" of Codex, "cl100k_base" of GPT-3.5
// and GPT-4, and "o200k_base" of GPT-4o and later.
//
//	t, err := tokens.New("cl100k_base")
//	ids := t.Encode(tensor.Of([]string{"Hello, world", ""})) // int64[2, (tokens)]
//	texts := t.Decode(ids)                                   // the same texts
//
// The vocabularies are linked into the program, which grows by about 10 MB; nothing is downloaded.
// The encoding is done by github.com/tiktoken-go/tokenizer.
//
// [Read] reads the tokenizer.json of a Hugging Face model:
//
//	f, err := os.Open("tokenizer.json")
//	t, err := tokens.Read(f)
//
// For a vocabulary of your own words or categories, use nn.Vocabulary.
//
// Stability: experimental.
package tokens
