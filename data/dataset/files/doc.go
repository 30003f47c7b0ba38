// Package files makes datasets of files and folders. They are numbered if the format allows
// it: a numbered dataset can be shuffled over all elements and resumed by position, and it
// is read in blocks, so it may be larger than memory.
//
//	f, err := parquetio.Open("events-*.parquet", parquetio.ReadOptions{Columns: []string{"jets.pt"}})
//	defer f.Close()
//	data := files.Parquet(f, dataset.BlockOptions{}).ShuffleBlocks(8, seed).Batch(256, ragged)
//
// # Formats
//
//   - [Parquet]: the rows of row groups
//   - [Arrow]: the rows of record batches in Arrow IPC files, which are the same as
//     Feather version 2
//   - [NPY], [NPZ]: the rows of NumPy arrays; weights.WriteNPY and WriteNPZ write them
//   - [Lines]: lines of text, compressed or not
//   - [Images]: PNG and JPEG images of a folder, labelled by subfolder
//   - [IDX]: arrays in the format of MNIST
//
// # Data sets
//
// Loaders read well-known data sets from local folders. They download nothing.
//
//   - [MNIST]: the four files of MNIST, Fashion-MNIST, KMNIST or EMNIST
//   - [ScikitLearn]: the tables included in scikit-learn
//   - [HuggingFace]: a data set folder of the Hugging Face hub, with Parquet files and a README
//
// # Errors
//
// Errors name the file, and the line, row group or image in it. The package never trusts a
// size in a file before it has seen as many bytes.
//
// Stability: experimental.
package files
