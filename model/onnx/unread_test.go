package onnx

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Why operations are not read.
const (
	noOffsets = "samples an image at other offsets for each place of a kernel, which no operation of Tenon does"
	noRegions = "pools regions of an image that boxes tell, which no operation of Tenon does"
	noTrees   = "each row takes its own way through a tree, where operations on whole tensors would take all of them: a library of trees does it better"
	noMaps    = "takes or makes maps, which are no tensors"
	noClassic = "a model or a step of scikit-learn with labels and tables as attributes; its arithmetic is a line of other operations"
	noDecoder = "decodes pictures, which Go's packages do before a model is called"
	noDraws   = "draws indices, which are others than those of the program that the model comes from"
	noSteps   = "a step of training of the preview domain: learn/train trains what was imported"
	noGrad    = "the gradient as an operation, of the preview domain: package grad differentiates what was imported"
	noPreview = "an operation of the preview domain, whose meaning may change"
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
	b.WriteString("## Operations that are not read\n\n| operations | reason |\n|---|---|\n")
	for _, u := range unread {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(u.operations, ", "), u.reason)
	}
	return b.String() + "\n"
}
