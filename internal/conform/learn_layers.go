package main

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/conform/cases"
	"github.com/tenonml/tenon/learn/nn"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// single is a layer that gives one result.
func single(f func(l lesson) tensor.Tensor) cases.Func {
	return learned(func(l lesson) []tensor.Tensor { return []tensor.Tensor{f(l)} })
}

func init() {
	epsilon := func(l lesson) float64 { return l.AttrFloat("epsilon", 1e-5) }
	cases.Handle(map[string]cases.Func{
		"learn.batch_norm": learned(func(l lesson) []tensor.Tensor {
			n := nn.BatchNorm{Scale: l.tensor(1), Offset: l.tensor(2), Momentum: l.AttrFloat("momentum", 0), Epsilon: epsilon(l)}
			r := nn.Running{Mean: l.tensor(3), Variance: l.tensor(4)}
			if !l.AttrBool("training", false) {
				return []tensor.Tensor{n.Apply(l.tensor(0), r)}
			}
			y, r := n.Train(l.tensor(0), r)
			return []tensor.Tensor{y, r.Mean, r.Variance}[:l.AttrInt("results", 3)]
		}),
		"learn.layer_norm": single(func(l lesson) tensor.Tensor {
			return nn.LayerNorm{Scale: l.tensor(1), Offset: l.tensor(2), Epsilon: epsilon(l)}.Apply(l.tensor(0))
		}),
		"learn.rms_norm": single(func(l lesson) tensor.Tensor {
			return nn.RMSNorm{Scale: l.tensor(1), Epsilon: epsilon(l)}.Apply(l.tensor(0))
		}),
		"learn.group_norm": single(func(l lesson) tensor.Tensor {
			return nn.GroupNorm{Scale: l.tensor(1), Offset: l.tensor(2), Groups: l.AttrInt("groups", 1), Epsilon: epsilon(l)}.Apply(l.tensor(0))
		}),
		"learn.instance_norm": single(func(l lesson) tensor.Tensor {
			x := l.tensor(0)
			return nn.GroupNorm{Scale: l.tensor(1), Offset: l.tensor(2), Groups: x.Shape().Dim(-1), Epsilon: epsilon(l)}.Apply(x)
		}),
		"learn.embedding": single(func(l lesson) tensor.Tensor {
			e := nn.Embedding{Table: l.tensor(0)}
			if l.Has("padding_id") {
				e.Padding = []int64{int64(l.AttrInt("padding_id", 0))}
			}
			return e.Apply(l.tensor(1))
		}),
		"learn.embedding_bag": single(func(l lesson) tensor.Tensor {
			c := nn.Combiner(l.AttrStr("combiner", "sum"))
			if c == "sum" {
				c = nn.BagSum
			}
			return nn.Embedding{Table: l.tensor(0)}.Bag(cases.As[*ragged.Tensor](l.args[1]), l.tensor(2), c)
		}),
		"learn.rnn": recurrent(1, func(l lesson, w, u, b tensor.Tensor, reverse bool) nn.RNN {
			return nn.RNN{Kernel: w, Recurrent: u, Bias: b, Reverse: reverse, Activation: nn.Activation(l.AttrStr("activation", "tanh"))}
		}),
		"learn.gru": recurrent(1, func(l lesson, w, u, b tensor.Tensor, reverse bool) nn.GRU {
			return nn.GRU{Kernel: w, Recurrent: u, Bias: b, Reverse: reverse}
		}),
		"learn.lstm": recurrent(2, func(l lesson, w, u, b tensor.Tensor, reverse bool) nn.LSTM {
			return nn.LSTM{Kernel: w, Recurrent: u, Bias: b, Reverse: reverse}
		}),
	})
}

func init() {
	windows := func(l lesson) nn.Windows {
		w := nn.Windows{Stride: l.AttrInts("stride"), Dilation: l.AttrInts("dilation")}
		switch p := l.Attrs["padding"].(type) {
		case string:
			if w.Padding = nn.Padding(p); p == "valid" {
				w.Padding = nn.Valid
			}
		case []any:
			for _, x := range p {
				pair := cases.List[any](x)
				w.Pads = append(w.Pads, [2]int{cases.As[int](pair[0]), cases.As[int](pair[1])})
			}
		}
		return w
	}
	cases.Handle(map[string]cases.Func{
		"learn.conv": single(func(l lesson) tensor.Tensor {
			return nn.Conv{Kernel: l.tensor(1), Bias: l.tensor(2), Windows: windows(l), Groups: l.AttrInt("groups", 0)}.Apply(l.tensor(0))
		}),
		"learn.conv_transpose": single(func(l lesson) tensor.Tensor {
			return nn.ConvTranspose{Kernel: l.tensor(1), Bias: l.tensor(2), Windows: windows(l), Groups: l.AttrInt("groups", 0), Extra: l.AttrInts("output_padding")}.Apply(l.tensor(0))
		}),
		"learn.depthwise_conv": single(func(l lesson) tensor.Tensor {
			return nn.DepthwiseConv{Kernel: l.tensor(1), Bias: l.tensor(2), Windows: windows(l)}.Apply(l.tensor(0))
		}),
		"learn.pool": single(func(l lesson) tensor.Tensor {
			return nn.Pool{Kind: nn.Pooling(l.AttrStr("kind", "")), Size: l.AttrInts("window"), Windows: windows(l), Padded: l.AttrBool("include_padding", false)}.Apply(l.tensor(0))
		}),
		"learn.global_pool": single(func(l lesson) tensor.Tensor {
			return nn.GlobalPool{Kind: nn.Pooling(l.AttrStr("kind", ""))}.Apply(l.tensor(0))
		}),
		"learn.adaptive_pool": single(func(l lesson) tensor.Tensor {
			return nn.AdaptivePool{Kind: nn.Pooling(l.AttrStr("kind", "")), Size: l.AttrInts("size")}.Apply(l.tensor(0))
		}),
	})
}

func init() {
	sight := func(l lesson) nn.Sight {
		return nn.Sight{Causal: l.AttrBool("causal", false), Window: l.AttrInt("window", 0), ALiBi: l.AttrBool("alibi", false), Scale: l.AttrFloat("scale", 0)}
	}
	heads := func(l lesson, at int) nn.MultiHeadAttention {
		d := func(i int) nn.Dense { return nn.Dense{Kernel: l.tensor(at + 2*i), Bias: l.tensor(at + 2*i + 1)} }
		return nn.MultiHeadAttention{
			Query: d(0), Key: d(1), Value: d(2), Out: d(3), Heads: l.AttrInt("heads", 1), KeyHeads: l.AttrInt("kv_heads", 0),
			Sight: sight(l), Rotary: l.AttrFloat("rotary_base", 0),
		}
	}
	cases.Handle(map[string]cases.Func{
		"learn.attention": single(func(l lesson) tensor.Tensor {
			return nn.Attend(l.tensor(0), l.tensor(1), l.tensor(2), nn.AttendOptions{Sight: sight(l), Mask: l.tensor(3)})
		}),
		"learn.rotary": single(func(l lesson) tensor.Tensor {
			return nn.Rotary(l.tensor(0), l.tensor(1), nn.RotaryOptions{Base: l.AttrFloat("base", 0), Interleaved: l.AttrStr("style", "half") == "interleaved"})
		}),
		"learn.sinusoidal": single(func(l lesson) tensor.Tensor {
			return nn.Sinusoidal(l.AttrInt("positions", 0), l.AttrInt("width", 0), cases.DType(cases.As[cases.Object](l.Want)["dtype"]))
		}),
		"learn.multi_head_attention": single(func(l lesson) tensor.Tensor {
			z := l.tensor(1)
			if z == nil {
				z = l.tensor(0)
			}
			return heads(l, 2).ApplyTo(l.tensor(0), z, nil)
		}),
		"learn.transformer_encoder_layer": single(func(l lesson) tensor.Tensor {
			epsilon := l.AttrFloat("epsilon", 1e-5)
			return nn.EncoderBlock{
				Attention: heads(l, 1),
				Norm1:     nn.LayerNorm{Scale: l.tensor(9), Offset: l.tensor(10), Epsilon: epsilon}, Norm2: nn.LayerNorm{Scale: l.tensor(11), Offset: l.tensor(12), Epsilon: epsilon},
				Forward: nn.FeedForward{
					Up:   nn.Dense{Kernel: l.tensor(13), Bias: l.tensor(14), Activation: nn.Activation(l.AttrStr("activation", ""))},
					Down: nn.Dense{Kernel: l.tensor(15), Bias: l.tensor(16)},
				},
				NormLast: !l.AttrBool("norm_first", false),
			}.Apply(l.tensor(0))
		}),
		"learn.moe": single(func(l lesson) tensor.Tensor {
			return nn.Experts{Gate: l.tensor(1), Up: l.tensor(2), Down: l.tensor(3), Top: l.AttrInt("top", 1)}.Apply(l.tensor(0))
		}),
	})
}

// recurrent runs a stack of cells: x, the first states, and then the tensors of each cell.
func recurrent[C nn.Cell](states int, of func(l lesson, w, u, b tensor.Tensor, reverse bool) C) cases.Func {
	return learned(func(l lesson) []tensor.Tensor {
		both, biased := l.AttrBool("bidirectional", false), l.AttrBool("bias", true)
		s := nn.Stack[C]{}
		at := 3
		for range l.AttrInt("layers", 1) {
			directions := 1
			if both {
				directions = 2
			}
			var layer []C
			for d := range directions {
				var b tensor.Tensor
				w, u := l.tensor(at), l.tensor(at+1)
				if at += 2; biased {
					b = l.tensor(at)
					at++
				}
				layer = append(layer, of(l, w, u, b, d == 1 || l.AttrBool("reverse", false)))
			}
			s.Layers = append(s.Layers, layer)
		}
		var start []tensor.Tensor
		if l.tensor(1) != nil {
			for i := range states {
				if start = append(start, l.tensor(1+i)); start[i] == nil {
					start[i] = ops.ZerosLike(start[0])
				}
			}
		} else if states == 2 && l.tensor(2) != nil {
			start = []tensor.Tensor{ops.ZerosLike(l.tensor(2)), l.tensor(2)}
		}
		y, last := s.ApplyFrom(l.tensor(0), nil, start)
		if s.Layers == nil {
			tenon.Throw(cases.ErrUnknown)
		}
		return append([]tensor.Tensor{y}, last...)
	})
}
