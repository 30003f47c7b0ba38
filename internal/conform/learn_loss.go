package main

import (
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	type of = func(l lesson) tensor.Tensor
	losses := map[string]of{
		"binary_cross_entropy": func(l lesson) tensor.Tensor {
			o := nn.BinaryOptions{}
			if p := l.tensor(2); p != nil {
				o.Positive = p
			}
			loss := nn.BinaryCrossEntropy(l.tensor(0), l.tensor(1), o)
			if w := l.tensor(3); w != nil {
				loss = nn.Weighted(loss, w)
			}
			return loss
		},
		"focal": func(l lesson) tensor.Tensor {
			return nn.Focal(l.tensor(0), l.tensor(1), l.AttrFloat("gamma", 2), nn.FocalOptions{Alpha: l.AttrFloat("alpha", 0)})
		},
		"focal_classes": func(l lesson) tensor.Tensor { return nn.Focal(l.tensor(0), l.tensor(1), l.AttrFloat("gamma", 2)) },
		"huber":         func(l lesson) tensor.Tensor { return nn.Huber(l.tensor(0), l.tensor(1), l.AttrFloat("delta", 1)) },
		"smooth_l1":     func(l lesson) tensor.Tensor { return nn.SmoothL1(l.tensor(0), l.tensor(1), l.AttrFloat("beta", 1)) },
		"mse":           pair(nn.SquaredError),
		"mae":           pair(nn.AbsoluteError),
		"poisson":       pair(nn.Poisson),
		"gaussian_nll": func(l lesson) tensor.Tensor {
			return nn.Gaussian(l.tensor(0), l.tensor(1), l.tensor(2), nn.GaussianOptions{Epsilon: l.AttrFloat("epsilon", 0), Full: l.AttrBool("full", false)})
		},
		"hinge":         pair(nn.Hinge),
		"squared_hinge": pair(nn.SquaredHinge),
		"multi_margin": func(l lesson) tensor.Tensor {
			return nn.MultiMargin(l.tensor(0), l.tensor(1), l.AttrFloat("margin", 1))
		},
		"margin_ranking": func(l lesson) tensor.Tensor {
			return nn.MarginRanking(l.tensor(0), l.tensor(1), l.tensor(2), l.AttrFloat("margin", 0))
		},
		"cosine_embedding": func(l lesson) tensor.Tensor {
			return nn.CosineEmbedding(l.tensor(0), l.tensor(1), l.tensor(2), nn.VectorOptions{Margin: l.AttrFloat("margin", 0)})
		},
		"triplet": func(l lesson) tensor.Tensor {
			return nn.Triplet(l.tensor(0), l.tensor(1), l.tensor(2), nn.VectorOptions{Margin: l.AttrFloat("margin", 1)})
		},
		"pairwise_logistic": pair(nn.PairwiseLogistic),
		"listnet":           pair(nn.ListNet),
		"bpr":               pair(nn.BPR),
		"contrastive": func(l lesson) tensor.Tensor {
			return nn.Contrastive(l.tensor(0), l.tensor(1), nn.ContrastiveOptions{Temperature: l.AttrFloat("temperature", 1)})
		},
		"ctc": func(l lesson) tensor.Tensor { return nn.CTC(l.tensor(0), l.tensor(1), l.AttrInt("blank", 0)) },
	}
	for name, f := range losses {
		cases.Handle(map[string]cases.Func{"learn." + name: learned(func(l lesson) []tensor.Tensor {
			return []tensor.Tensor{reduction(l).Of(f(l), nil)}
		})})
	}
	cases.Handle(map[string]cases.Func{
		"learn.cross_entropy": learned(func(l lesson) []tensor.Tensor {
			o := nn.CrossEntropyOptions{Smoothing: l.AttrFloat("smoothing", 0), Weights: l.tensor(2), Reduction: reduction(l)}
			if l.Has("ignore") {
				o.Ignore = []int64{int64(l.AttrInt("ignore", 0))}
			}
			if l.AttrStr("rows", "") == "mean" {
				o.Reduction = nn.RowMeans
			}
			return []tensor.Tensor{nn.SoftmaxCrossEntropy(l.tensor(0), l.tensor(1), o)}
		}),
		"learn.kl_divergence": learned(func(l lesson) []tensor.Tensor {
			f := nn.KLDivergence
			if l.AttrBool("log_target", false) {
				f = nn.LogKLDivergence
			}
			terms := f(l.tensor(0), l.tensor(1))
			if r := reduction(l); r != nn.EachLoss {
				terms = r.Of(ops.Sum(terms, -1), nil)
			}
			return []tensor.Tensor{terms}
		}),
	})
}

func pair(f func(x, y tensor.Tensor) tensor.Tensor) func(l lesson) tensor.Tensor {
	return func(l lesson) tensor.Tensor { return f(l.tensor(0), l.tensor(1)) }
}

func reduction(l lesson) nn.Reduction {
	r := l.AttrStr("reduction", "none")
	if r == "none" {
		return nn.EachLoss
	}
	return nn.Reduction(r)
}
