// Package saved keeps trees of Values in files, and whole models: functions over Values
// with the variables that they use (see [Model]).
//
// A tree is any structure that package nest walks: structs, maps and slices of
// variables, tensors, Values of any other type, and plain Go data such as an int
// that counts steps. Write puts one into a file, and Read gets it back:
//
//	err := saved.Write("model.safetensors", model, saved.WriteOptions{})
//	model, err = saved.Read("model.safetensors", model, saved.ReadOptions{})
//
// Read takes a template of the same structure. Variables in it are assigned to;
// other Values, and Specs that stand in place of Values, are replaced by what the file
// holds. Everything is checked before anything is assigned: that each place has its
// value in the file and each value its place, and that their Specs fit. [Open] gives
// access to single values by name without a template.
//
// # Format
//
// A file is in the safetensors format (https://github.com/huggingface/safetensors), so
// that other programs read the tensors: eight bytes with the length of a header, the
// header in JSON, which gives each tensor a name, type, shape and place, and the
// elements in row-major order, little-endian, without gaps.
//
// A value's name is its path in the tree, such as encoder.layers[0].w. A value that is
// made of components, a ragged tensor say, is stored as its tensors, with the names of
// the components behind its own: tokens.flat_values. The metadata of the header hold
// the Specs, by which Read puts values together again. A Spec whose type this program
// does not know gives a [tenon.OpaqueValue], which can be written again without loss.
// So do element types that exist in the format only, such as F8_E4M3.
//
// Types that the format lacks:
//
//   - strings are two tensors, of which name:offsets has one number more than there are
//     strings, from 0 on, and name:bytes all their bytes; a third, name:shape, gives the
//     sizes where these are not those of a vector
//   - complex numbers are pairs of floats along an axis behind the last
//
// A file from elsewhere, without Specs, holds one dense tensor for each name.
//
// # Safety
//
// Write makes a new file beside the old one, brings it to the disk and then replaces the
// old one by it: whoever reads sees the old or the new file, never a part. Reading
// trusts nothing: a header that lies about lengths, overlaps, leaves gaps or names a
// thing twice is refused, and no more memory is taken than the file has bytes (times a
// small factor for the header).
//
// Stability: stable.
package saved
