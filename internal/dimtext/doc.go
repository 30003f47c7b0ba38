// Package dimtext words errors about the dimensions of named tensors. Package named throws these
// texts at run time, and the analyzer dimcheck reports the same texts at compile time, without
// sizes that it does not know.
package dimtext
