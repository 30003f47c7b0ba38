// Package dimtext words what is wrong with the dimensions of named tensors. Package
// named throws its texts at run time, and the analyzer dimcheck reports the same ones
// while one types, there without the sizes that it does not know.
package dimtext
