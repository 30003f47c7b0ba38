// Package files makes datasets of files and folders as people have them, numbered wherever the
// format allows it: shuffled over all elements, resumed by a number, and read by blocks, so that
// they may be larger than memory.
//
//	f, err := parquetio.Open("events-*.parquet", parquetio.ReadOptions{Columns: []string{"jets.pt"}})
//	defer f.Close()
//	data := files.Parquet(f, dataset.BlockOptions{}).ShuffleBlocks(8, seed).Batch(256, ragged)
//
// # Formats
//
//   - [Parquet]: the rows of row groups; [Arrow]: those of record batches, of Arrow IPC files and
//     Feather version 2, which are the same
//   - [NPY], [NPZ]: the rows of NumPy's arrays; weights.WriteNPY and WriteNPZ write them
//   - [Lines]: text by line, compressed or not
//   - [Images]: PNG and JPEG images of a folder, with labels by folder
//   - [IDX]: the arrays of MNIST and what goes by its form
//
// # Data sets
//
// Loaders read the folders in which well-known data sets come. Nothing is downloaded.
//
//   - [MNIST]: the four files of MNIST, Fashion-MNIST, KMNIST, EMNIST
//   - [ScikitLearn]: the tables that scikit-learn brings along
//   - [HuggingFace]: a folder of the Hugging Face hub, Parquet files and a README
//
// # Errors
//
// Errors name the file, and the line, row group or image in it. What a file says about its size is
// never believed before there are bytes for it.
//
// Stability: experimental.
package files
