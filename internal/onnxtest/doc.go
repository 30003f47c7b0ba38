// Package onnxtest checks models written as ONNX: read back, they must give the same results as the
// function. If TENON_ONNX_OUT names a folder, the models with their inputs and outputs are kept
// there in the layout of ONNX's own test cases, for runtime.py, which runs them with other programs.
package onnxtest
