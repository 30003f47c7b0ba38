// Package maskedtensor is the worked example of the proposal of extension types: a
// tensor and a boolean mask that says which of its elements are valid.
package maskedtensor
