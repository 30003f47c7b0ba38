// Package tokens divides texts into the tokens of language models, and puts texts together of them, by the byte-pair
// encodings that tiktoken has: "r50k_base" of GPT-2 and GPT-3, "p50k_base" and "p50k_edit" of Codex, "cl100k_base" of GPT-3.5 and GPT-4,
// and "o200k_base" of GPT-4o and later.
//
//	t, err := tokens.New("cl100k_base")
//	ids := t.Encode(tensor.Of([]string{"Hello, world", ""})) // int64[2, (tokens)]
//	texts := t.Decode(ids)                                   // the same texts
//
// The vocabularies are part of the program, which is about 10 MB larger for them; nothing is fetched. The work is
// done by github.com/tiktoken-go/tokenizer.
//
// [Read] takes the tokenizer.json of a model, as Hugging Face has it:
//
//	f, err := os.Open("tokenizer.json")
//	t, err := tokens.Read(f)
//
// For words and categories of one's own there is nn.Vocabulary.
//
// Stability: experimental.
package tokens
