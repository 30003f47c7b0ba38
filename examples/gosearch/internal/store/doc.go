// Package store keeps a trained model in a folder:
//
//	config.json           what the model is and how it was made
//	vocabulary.json       the tokens
//	weights.safetensors   the parameters, with their Specs
//	index.safetensors     the vector of each declaration, where its line starts, and the words' index
//	declarations.jsonl    the declarations, one JSON object a line
//
// beside whatever else is to be kept there, such as a report. [Write] makes the folder
// whole or not at all; [Open] trusts nothing that it finds.
package store
