// Package weights reads tensors from the files that other systems write, and
// writes NumPy's.
//
//	f, err := weights.Open("model.gguf")
//	defer f.Close()
//	for _, name := range f.Names() {
//		fmt.Println(name, f.Spec(name))
//	}
//	w, err := f.Read("blk.0.attn_q.weight")
//
// Opening a file reads what it says about its tensors; their elements are read when
// they are asked for. [Load] reads all of them at once.
//
// # Formats
//
//   - safetensors, one file or shards with an index (model.safetensors.index.json)
//   - NumPy's .npy and .npz, versions 1 to 3, either byte order, rows or columns first
//   - PyTorch's archives (.pt, .pth, .bin since 1.6). The pickle in them is read by a
//     machine that knows dictionaries, lists and tensors and nothing else: no code of the
//     file is ever run, and what would need it is an error
//   - GGUF versions 2 and 3; blocks of quantised numbers (Q4_0 to Q8_0, Q2_K to Q8_K)
//     become float32
//   - TensorFlow's checkpoints (tensor bundles), opened by the beginning that their
//     .index and .data files share
//
// Tensors have the names that the file gives them. Dictionaries and lists inside a
// PyTorch archive join their keys with points: model.layers.0.weight.
//
// # Safety
//
// Files are not trusted. A length, offset or size that a file states is compared with
// the bytes that are there before memory is taken for it, and what is wrong is an error
// of kind tenon.ErrInvalid. What is understood but not read, such as records or objects
// of classes, is tenon.ErrUnsupported; a file that is not there is tenon.ErrNotFound.
//
// Stability: stable.
package weights
