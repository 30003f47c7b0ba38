// Package weights reads tensors from the files of other systems, and
// writes those of NumPy.
//
//	f, err := weights.Open("model.gguf")
//	defer f.Close()
//	for _, name := range f.Names() {
//		fmt.Println(name, f.Spec(name))
//	}
//	w, err := f.Read("blk.0.attn_q.weight")
//
// Opening a file reads the description of its tensors; their elements are read on
// demand. [Load] reads all of them at once.
//
// # Formats
//
//   - safetensors, one file or shards with an index (model.safetensors.index.json)
//   - NumPy's .npy and .npz, versions 1 to 3, in either byte order, row-major or column-major
//   - PyTorch's archives (.pt, .pth, .bin since 1.6). A restricted interpreter reads the pickle
//     in them: it supports only dictionaries, lists and tensors, never runs code of the
//     file, and returns an error if the file needs more
//   - GGUF versions 2 and 3; blocks of quantised numbers (Q4_0 to Q8_0, Q2_K to Q8_K)
//     become float32
//   - TensorFlow's checkpoints (tensor bundles), opened by the common prefix of their
//     .index and .data files
//
// Tensors keep their names. For dictionaries and lists inside a
// PyTorch archive, keys are joined by dots: model.layers.0.weight.
//
// # Safety
//
// Files are not trusted. Every length, offset and size is checked against
// the available bytes before memory is allocated, and a malformed file is an error
// of kind tenon.ErrInvalid. Contents that are recognised but not supported, such as records or
// objects of classes, are tenon.ErrUnsupported; a missing file is tenon.ErrNotFound.
//
// Stability: stable.
package weights
