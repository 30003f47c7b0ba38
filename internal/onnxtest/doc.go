// Package onnxtest checks models that are written as ONNX: read again they have to give what the
// function gives. Where TENON_ONNX_OUT names a folder, the models and what goes in and comes out are
// kept there in the layout of ONNX's own cases, for runtime.py, which runs them by other programs.
package onnxtest
