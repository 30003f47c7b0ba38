// Package store keeps a trained model in a folder:
//
//	config.json           what the model is and how it was made
//	vocabulary.json       the tokens
//	weights.safetensors   the parameters, with their Specs
//	index.safetensors     the vector of each declaration, where its line starts, and the words' index
//	declarations.jsonl    the declarations, one JSON object a line
//
// and other files, such as a report. [Write] writes the folder atomically; [Open] does not trust its
// contents.
package store
