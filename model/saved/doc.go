// Package saved stores trees of Values in files, and whole models: functions over Values
// with the variables that they use (see [Model]).
//
// A tree is any structure that package nest walks: structs, maps and slices of
// variables, tensors, Values of any other type, and plain Go data such as an int
// that counts steps. Write writes a tree to a file, and Read reads it back:
//
//	err := saved.Write("model.safetensors", model, saved.WriteOptions{})
//	model, err = saved.Read("model.safetensors", model, saved.ReadOptions{})
//
// Read takes a template of the same structure. It assigns to variables in the template, and
// replaces other Values, and Specs in place of Values, by the contents of the
// file. Before it assigns anything, it checks that each place has a value in the file, that each
// value has a place, and that their Specs match. [Open] reads single values by name without a
// template.
//
// # Format
//
// Files are in the safetensors format (https://github.com/huggingface/safetensors), so
// other programs can read the tensors: eight bytes with the length of a header; the
// header in JSON, which gives each tensor a name, type, shape and offsets; and the
// elements in row-major order, little-endian, without gaps.
//
// The name of a value is its path in the tree, such as encoder.layers[0].w. A value with
// components, such as a ragged tensor, is stored as its tensors, with the names of
// the components appended to its own: tokens.flat_values. The metadata of the header holds
// the Specs that Read needs to assemble values. A Spec of an unknown type
// gives a [tenon.OpaqueValue], which can be written again without loss.
// So do element types that only the format has, such as F8_E4M3.
//
// Types that the format lacks are stored as follows:
//
//   - strings are two tensors: name:offsets, which starts at 0 and has one more number than
//     there are strings, and name:bytes, with all their bytes; a third one, name:shape, holds the
//     sizes unless they are those of a vector
//   - complex numbers are pairs of floats along an additional last axis
//
// A file from another program, without Specs, holds one dense tensor for each name.
//
// # Safety
//
// Write writes a new file next to the old one, syncs it to disk and then renames it over the
// old one: readers see the old or the new file, never a part. Reading does not trust the file.
// A header with wrong lengths, overlaps, gaps or duplicate names is an error, and reading
// allocates no more memory than the size of the file (times a
// small factor for the header).
//
// Stability: stable.
package saved
