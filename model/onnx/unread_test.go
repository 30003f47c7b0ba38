package onnx

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Why operations are not read.
const (
	noOffsets = "samples an image at different offsets for each position of a kernel; Tenon has no such operation"
	noRegions = "pools regions of an image given by boxes; Tenon has no such operation"
	noTrees   = "each row takes its own path through a tree, and operations on whole tensors would take all paths; use a library for trees"
	noMaps    = "takes or returns maps, which are not tensors"
	noClassic = "a model or step of scikit-learn with labels and tables as attributes; other operations express its arithmetic in one line"
	noDecoder = "decodes images; use Go's image packages before calling a model"
	noDraws   = "draws random indices, which would differ from those of the original program"
	noSteps   = "a training step of the preview domain; learn/train trains imported models"
	noGrad    = "the gradient as an operation, of the preview domain; package grad differentiates imported models"
	noPreview = "an operation of the preview domain, which may change"
)

// unread are the operations of ONNX 1.22 that are not read, and why.
var unread = []struct {
	reason     string
	operations []string
}{
	{noOffsets, []string{"DeformConv"}},
	{noRegions, []string{"MaxRoiPool", "RoiAlign"}},
	{noTrees, []string{"ai.onnx.ml.TreeEnsemble", "ai.onnx.ml.TreeEnsembleClassifier", "ai.onnx.ml.TreeEnsembleRegressor"}},
	{noMaps, []string{"ai.onnx.ml.CastMap", "ai.onnx.ml.DictVectorizer", "ai.onnx.ml.ZipMap"}},
	{noClassic, []string{"ai.onnx.ml.CategoryMapper", "ai.onnx.ml.FeatureVectorizer", "ai.onnx.ml.Imputer", "ai.onnx.ml.LinearClassifier", "ai.onnx.ml.LinearRegressor",
		"ai.onnx.ml.Normalizer", "ai.onnx.ml.OneHotEncoder", "ai.onnx.ml.SVMClassifier", "ai.onnx.ml.SVMRegressor", "ai.onnx.ml.Scaler"}},
	{noDecoder, []string{"ImageDecoder"}},
	{noDraws, []string{"Multinomial"}},
	{noPreview, []string{"ai.onnx.preview.FlexAttention"}},
	{noSteps, []string{"ai.onnx.preview.training.Adagrad", "ai.onnx.preview.training.Adam", "ai.onnx.preview.training.Momentum"}},
	{noGrad, []string{"ai.onnx.preview.training.Gradient"}},
}

// TestUnreadOperations checks that what is said to be not read is refused.
func TestUnreadOperations(t *testing.T) {
	for _, u := range unread {
		for _, name := range u.operations {
			if slices.Contains(Operations(), name) {
				t.Errorf("%s is read, and is said not to be: %s", name, u.reason)
			}
		}
	}
}

// unreadText is the part of docs/onnx.md about them.
func unreadText() string {
	var b strings.Builder
	b.WriteString("## Unsupported operations\n\n| operations | reason |\n|---|---|\n")
	for _, u := range unread {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(u.operations, ", "), u.reason)
	}
	return b.String() + "\n"
}
