// Package maskedtensor is the worked example of the proposal for extension types: a
// tensor with a boolean mask that marks its valid elements.
package maskedtensor
