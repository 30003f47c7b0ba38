package main

import (
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/learn/metric"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

func init() {
	cases.Handle(map[string]cases.Func{
		"learn.accuracy": func(c *cases.Case) (any, error) {
			m, err := confusion(c, 0)
			if err != nil {
				return nil, err
			}
			return tensor.Scalar(m.Accuracy()), nil
		},
		"learn.confusion_matrix": func(c *cases.Case) (any, error) {
			m, err := confusion(c, c.AttrInt("classes", 0))
			if err != nil {
				return nil, err
			}
			return m.Matrix(), nil
		},
		"learn.precision": ofClasses((*metric.Confusion).Precision, func(p, _, _ []float64) []float64 { return p }),
		"learn.recall":    ofClasses((*metric.Confusion).Recall, func(_, r, _ []float64) []float64 { return r }),
		"learn.f1":        ofClasses((*metric.Confusion).F1, func(_, _, f []float64) []float64 { return f }),
		"learn.f_beta": func(c *cases.Case) (any, error) {
			m, err := confusion(c, c.AttrInt("classes", 0))
			if err != nil {
				return nil, err
			}
			return scalar(m.FBeta(c.AttrFloat("beta", 1), metric.Average(c.AttrStr("average", ""))))
		},
		"learn.balanced_accuracy": ofConfusion((*metric.Confusion).BalancedAccuracy),
		"learn.matthews":          ofConfusion((*metric.Confusion).Matthews),
		"learn.kappa":             ofConfusion((*metric.Confusion).Kappa),
		"learn.log_loss":          three(metric.LogLoss),
		"learn.top_k_accuracy": func(c *cases.Case) (any, error) {
			return scalar(metric.TopK(c.Tensor(0), c.Tensor(1), third(c), c.AttrInt("k", 1)))
		},
		"learn.roc_auc_multiclass": func(c *cases.Case) (any, error) {
			return scalar(metric.AUCOfClasses(c.Tensor(0), c.Tensor(1), nil, c.AttrStr("multi", "") == "ovo"))
		},
		"learn.roc_auc":           ofCurve((*metric.Curve).AUC),
		"learn.average_precision": ofCurve(func(k *metric.Curve) (float64, error) { return k.AveragePrecision(), nil }),
		"learn.pr_auc":            ofCurve(func(k *metric.Curve) (float64, error) { return k.PRAUC(), nil }),
		"learn.roc_curve": func(c *cases.Case) (any, error) {
			k, err := metric.NewCurve(c.Tensor(0), c.Tensor(1), nil)
			if err != nil {
				return nil, err
			}
			x, y, t, err := k.ROC()
			return []any{tensor.Of(x), tensor.Of(y), tensor.Of(t)}, err
		},
		"learn.brier": three(metric.Brier),
		"learn.calibration_error": func(c *cases.Case) (any, error) {
			return scalar(metric.CalibrationError(c.Tensor(0), c.Tensor(1), nil, c.AttrInt("bins", 10)))
		},
		"learn.r2":                             three(metric.R2),
		"learn.explained_variance":             three(metric.ExplainedVariance),
		"learn.mean_squared_error":             three(metric.MeanSquaredError),
		"learn.mean_absolute_error":            three(metric.MeanAbsoluteError),
		"learn.root_mean_squared_error":        three(metric.RootMeanSquaredError),
		"learn.mean_absolute_percentage_error": three(metric.MeanAbsolutePercentageError),
		"learn.median_absolute_error":          three(metric.MedianAbsoluteError),
		"learn.max_error":                      two(metric.MaxError),
		"learn.pinball": func(c *cases.Case) (any, error) {
			return scalar(metric.Pinball(c.Tensor(0), c.Tensor(1), third(c), c.AttrFloat("quantile", 0.5)))
		},
		"learn.hamming": three(metric.Hamming),
		"learn.jaccard": three(metric.Jaccard),
		"learn.dcg": byRow(func(c *cases.Case, r, s *ragged.Tensor) ([]float64, error) {
			return metric.DCG(r, s, c.AttrInt("k", 0))
		}),
		"learn.ndcg": byRow(func(c *cases.Case, r, s *ragged.Tensor) ([]float64, error) {
			return metric.NDCG(r, s, c.AttrInt("k", 0))
		}),
		"learn.reciprocal_rank": byRow(func(_ *cases.Case, r, s *ragged.Tensor) ([]float64, error) {
			return metric.ReciprocalRank(r, s)
		}),
		"learn.mean_average_precision": byRow(func(_ *cases.Case, r, s *ragged.Tensor) ([]float64, error) {
			return metric.AveragePrecision(r, s)
		}),
		"learn.perplexity": func(c *cases.Case) (any, error) { return scalar(metric.Perplexity(c.Tensor(0), nil)) },
	})
}

// third returns the third argument, or nil where there is none.
func third(c *cases.Case) tensor.Tensor {
	if len(c.Args) < 3 || c.Args[2] == nil {
		return nil
	}
	return c.Tensor(2)
}

func scalar(x float64, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return tensor.Scalar(x), nil
}

func two(f func(a, b tensor.Tensor) (float64, error)) cases.Func {
	return func(c *cases.Case) (any, error) { return scalar(f(c.Tensor(0), c.Tensor(1))) }
}

func three(f func(a, b, w tensor.Tensor) (float64, error)) cases.Func {
	return func(c *cases.Case) (any, error) { return scalar(f(c.Tensor(0), c.Tensor(1), third(c))) }
}

// confusion counts the items of a case; 0 classes are as many as there are labels.
func confusion(c *cases.Case, classes int) (*metric.Confusion, error) {
	if classes == 0 {
		for i := range 2 {
			for _, x := range tensor.Data[int64](c.Tensor(i)) {
				classes = max(classes, int(x)+1)
			}
		}
	}
	m, err := metric.NewConfusion(classes)
	if err != nil {
		return nil, err
	}
	return m, m.Update(c.Tensor(0), c.Tensor(1), third(c))
}

func ofConfusion(f func(*metric.Confusion) float64) cases.Func {
	return func(c *cases.Case) (any, error) {
		m, err := confusion(c, c.AttrInt("classes", 0))
		if err != nil {
			return nil, err
		}
		return tensor.Scalar(f(m)), nil
	}
}

func ofClasses(f func(*metric.Confusion, metric.Average) (float64, error), each func(p, r, f []float64) []float64) cases.Func {
	return func(c *cases.Case) (any, error) {
		m, err := confusion(c, c.AttrInt("classes", 0))
		if err != nil {
			return nil, err
		}
		if c.AttrStr("average", "") == "none" {
			return tensor.Of(each(m.PerClass())), nil
		}
		return scalar(f(m, metric.Average(c.AttrStr("average", ""))))
	}
}

func ofCurve(f func(*metric.Curve) (float64, error)) cases.Func {
	return func(c *cases.Case) (any, error) {
		k, err := metric.NewCurve(c.Tensor(0), c.Tensor(1), third(c))
		if err != nil {
			return nil, err
		}
		return scalar(f(k))
	}
}

func byRow(f func(c *cases.Case, relevance, score *ragged.Tensor) ([]float64, error)) cases.Func {
	return func(c *cases.Case) (any, error) {
		x, err := f(c, cases.As[*ragged.Tensor](c.Arg(0)), cases.As[*ragged.Tensor](c.Arg(1)))
		if err != nil {
			return nil, err
		}
		return tensor.Of(x), nil
	}
}
