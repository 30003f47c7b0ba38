//go:build amd64 && !purego

package segment

import "github.com/tenonml/tenon/internal/cpu"

// The kernels that internal/asmgen/segment writes.

func init() {
	table.Add(cpu.AVX512, kernelSet{
		f32: &floatKernels[float32]{
			rowKernels: rowKernels[float32]{
				reducers: [reductions]reducer[float32, float32]{
					reduceSum:     {sumF32AVX512, 16, 32},
					reduceMean:    {meanF32AVX512, 16, 32},
					reduceMax:     {maxF32AVX512, 16, 32},
					reduceMin:     {minF32AVX512, 16, 32},
					reduceProd:    {prodF32AVX512, 16, 32},
					reduceInverse: {inverseF32AVX512, 16, 32},
				},
				args:      [2]reducer[int64, float32]{{argMinF32AVX512, 16, 32}, {argMaxF32AVX512, 16, 32}},
				nonzero:   reducer[int64, float32]{countNonzeroF32AVX512, 1, 32},
				folds:     [...]folder[float32, float32]{FoldSum: {sumDownF32AVX512, 32}, FoldProd: {prodDownF32AVX512, 32}, FoldMax: {maxDownF32AVX512, 32}, FoldMin: {minDownF32AVX512, 32}},
				longSum:   folder[float64, float32]{longSumDownF32AVX512, 24},
				distances: reducer[float64, float32]{distancesF32AVX512, 8, 24},
			},
			expNear: expNearF32AVX512, exp: expF32AVX512, log: logF32AVX512,
			mul: rowwise[float32]{spread: mulRowsF32AVX512, spreadPast: mulRowsPastF32AVX512},
			sub: rowwise[float32]{spread: subRowsF32AVX512, spreadPast: subRowsPastF32AVX512},

			inverseMark: inverseMarkF32AVX512, scaleAhead: scaleAheadF32AVX512, scaleAheadPast: scaleAheadPastF32AVX512,
		},
		f64: &floatKernels[float64]{
			rowKernels: rowKernels[float64]{
				reducers: [reductions]reducer[float64, float64]{
					reduceSum:     {sumF64AVX512, 8, 24},
					reduceMean:    {meanF64AVX512, 8, 24},
					reduceMax:     {maxF64AVX512, 8, 24},
					reduceMin:     {minF64AVX512, 8, 24},
					reduceProd:    {prodF64AVX512, 8, 24},
					reduceInverse: {inverseF64AVX512, 8, 24},
				},
				args:      [2]reducer[int64, float64]{{argMinF64AVX512, 8, 24}, {argMaxF64AVX512, 8, 24}},
				nonzero:   reducer[int64, float64]{countNonzeroF64AVX512, 1, 24},
				folds:     [...]folder[float64, float64]{FoldSum: {sumDownF64AVX512, 24}, FoldProd: {prodDownF64AVX512, 24}, FoldMax: {maxDownF64AVX512, 24}, FoldMin: {minDownF64AVX512, 24}},
				distances: reducer[float64, float64]{distancesF64AVX512, 8, 24},
			},
			expNear: expNearF64AVX512, exp: expF64AVX512, log: logF64AVX512,
			mul: rowwise[float64]{spread: mulRowsF64AVX512, spreadPast: mulRowsPastF64AVX512},
			sub: rowwise[float64]{spread: subRowsF64AVX512, spreadPast: subRowsPastF64AVX512},

			inverseMark: inverseMarkF64AVX512, scaleAhead: scaleAheadF64AVX512, scaleAheadPast: scaleAheadPastF64AVX512,
		},
		i32: &rowKernels[int32]{
			reducers: [reductions]reducer[int32, int32]{
				reduceSum:  {sumI32AVX512, 16, 32},
				reduceMax:  {maxI32AVX512, 16, 32},
				reduceMin:  {minI32AVX512, 16, 32},
				reduceProd: {prodI32AVX512, 16, 32},
			},
			args:      [2]reducer[int64, int32]{{argMinI32AVX512, 16, 32}, {argMaxI32AVX512, 16, 32}},
			nonzero:   reducer[int64, int32]{countNonzeroI32AVX512, 1, 32},
			folds:     [...]folder[int32, int32]{FoldSum: {sumDownI32AVX512, 32}, FoldProd: {prodDownI32AVX512, 32}, FoldMax: {maxDownI32AVX512, 32}, FoldMin: {minDownI32AVX512, 32}},
			mean:      reducer[float64, int32]{meanI32AVX512, 8, 24},
			distances: reducer[float64, int32]{distancesI32AVX512, 8, 24},
		},
		i64: &rowKernels[int64]{
			reducers: [reductions]reducer[int64, int64]{
				reduceSum:  {sumI64AVX512, 8, 24},
				reduceMax:  {maxI64AVX512, 8, 24},
				reduceMin:  {minI64AVX512, 8, 24},
				reduceProd: {prodI64AVX512, 8, 24},
			},
			args:      [2]reducer[int64, int64]{{argMinI64AVX512, 8, 24}, {argMaxI64AVX512, 8, 24}},
			nonzero:   reducer[int64, int64]{countNonzeroI64AVX512, 1, 24},
			folds:     [...]folder[int64, int64]{FoldSum: {sumDownI64AVX512, 24}, FoldProd: {prodDownI64AVX512, 24}, FoldMax: {maxDownI64AVX512, 24}, FoldMin: {minDownI64AVX512, 24}},
			mean:      reducer[float64, int64]{meanI64AVX512, 8, 24},
			distances: reducer[float64, int64]{distancesI64AVX512, 8, 24},
		},
		bytes: &byteKernels{nonzero: reducer[int64, byte]{countNonzeroI8AVX512, 1, 64}, any: reducer[byte, byte]{anyAVX512, 1, 64}, all: reducer[byte, byte]{allAVX512, 1, 64},
			anyDown: folder[byte, byte]{anyDownAVX512, 64}, allDown: folder[byte, byte]{allDownAVX512, 64}},
		movers: &movers{
			stream:    streamAVX512,
			pad:       [...]func(dst, src *byte, splits *int64, rows, item, width int, fill *byte){pad64bAVX512, pad128bAVX512},
			padPast:   [...]func(dst, src *byte, splits *int64, rows, item, width int, fill, stage *byte) int{pad64bPastAVX512, pad128bPastAVX512},
			unpad:     [...]func(dst, src *byte, splits *int64, rows, item, width int){unpad64bAVX512, unpad128bAVX512},
			unpadPast: [...]func(dst, src *byte, splits *int64, rows, item, width int, stage *byte) int{unpad64bPastAVX512, unpad128bPastAVX512},
			fillUp:    fillUpAVX512, fillUpPast: fillUpPastAVX512,
			lookUp: gatherSplits,
			gather: gatherRowsAVX512, gatherPast: gatherRowsPastAVX512,
			gatherWords: gatherWordsAVX512, gatherWordsPast: gatherWordsPastAVX512,
			zip: zipRowsAVX512, zipPast: zipRowsPastAVX512,
			strideWords: 32, stride: strideAVX512, stridePast: stridePastAVX512,
			repeat:     [...]func(dst, perRow *byte, splits *int64, rows int){repeat32AVX512, repeat64AVX512},
			repeatPast: [...]func(dst, perRow *byte, splits *int64, rows int, stage *byte) int{repeat32PastAVX512, repeat64PastAVX512},
			add:        addI64AVX512, sub: subI64AVX512, shift: shiftI64AVX512, shiftPast: shiftStreamI64AVX512, rising: risingAVX512, longest: longestAVX512, accumulate: accumulateAVX512,
			rowIDs: rowIDsAVX512, rowIDsPast: rowIDsPastAVX512,
			offsets: offsetsAVX512, offsetsPast: offsetsPastAVX512,
			fence: storeFence,
		},

		// The sorting networks need mask registers and 32 vector registers.
		sortF32: &networks[float32]{sort: sortRowsF32, argsort: argsortRowsF32},
		sortI32: &networks[int32]{sort: sortRowsI32, argsort: argsortRowsI32},
		sortF64: &networks[float64]{sort: sortRowsF64, argsort: argsortRowsF64},
		sortI64: &networks[int64]{sort: sortRowsI64, argsort: argsortRowsI64},
	})
	table.Add(cpu.AVX2, kernelSet{
		f32: &floatKernels[float32]{
			rowKernels: rowKernels[float32]{
				reducers: [reductions]reducer[float32, float32]{
					reduceSum:     {sumF32AVX2, 8, 24},
					reduceMean:    {meanF32AVX2, 8, 24},
					reduceMax:     {maxF32AVX2, 8, 24},
					reduceMin:     {minF32AVX2, 8, 24},
					reduceProd:    {prodF32AVX2, 8, 24},
					reduceInverse: {inverseF32AVX2, 8, 24},
				},
				args:      [2]reducer[int64, float32]{{argMinF32AVX2, 8, 24}, {argMaxF32AVX2, 8, 24}},
				nonzero:   reducer[int64, float32]{countNonzeroF32AVX2, 1, 24},
				folds:     [...]folder[float32, float32]{FoldSum: {sumDownF32AVX2, 24}, FoldProd: {prodDownF32AVX2, 24}, FoldMax: {maxDownF32AVX2, 24}, FoldMin: {minDownF32AVX2, 24}},
				longSum:   folder[float64, float32]{longSumDownF32AVX2, 12},
				distances: reducer[float64, float32]{distancesF32AVX2, 4, 12},
			},
			expNear: expNearF32AVX2, exp: expF32AVX2, log: logF32AVX2,
			mul: rowwise[float32]{kernel: mulRowsF32AVX2, past: mulRowsPastF32AVX2},
			sub: rowwise[float32]{kernel: subRowsF32AVX2, past: subRowsPastF32AVX2},
		},
		f64: &floatKernels[float64]{
			rowKernels: rowKernels[float64]{
				reducers: [reductions]reducer[float64, float64]{
					reduceSum:     {sumF64AVX2, 4, 12},
					reduceMean:    {meanF64AVX2, 4, 12},
					reduceMax:     {maxF64AVX2, 4, 12},
					reduceMin:     {minF64AVX2, 4, 12},
					reduceProd:    {prodF64AVX2, 4, 12},
					reduceInverse: {inverseF64AVX2, 4, 12},
				},
				args:      [2]reducer[int64, float64]{{argMinF64AVX2, 4, 12}, {argMaxF64AVX2, 4, 12}},
				nonzero:   reducer[int64, float64]{countNonzeroF64AVX2, 1, 12},
				folds:     [...]folder[float64, float64]{FoldSum: {sumDownF64AVX2, 12}, FoldProd: {prodDownF64AVX2, 12}, FoldMax: {maxDownF64AVX2, 12}, FoldMin: {minDownF64AVX2, 12}},
				distances: reducer[float64, float64]{distancesF64AVX2, 4, 12},
			},
			expNear: expNearF64AVX2, exp: expF64AVX2, log: logF64AVX2,
			mul: rowwise[float64]{kernel: mulRowsF64AVX2, past: mulRowsPastF64AVX2},
			sub: rowwise[float64]{kernel: subRowsF64AVX2, past: subRowsPastF64AVX2},
		},
		i32: &rowKernels[int32]{
			reducers: [reductions]reducer[int32, int32]{
				reduceSum:  {sumI32AVX2, 8, 24},
				reduceMax:  {maxI32AVX2, 8, 24},
				reduceMin:  {minI32AVX2, 8, 24},
				reduceProd: {prodI32AVX2, 8, 24},
			},
			args:      [2]reducer[int64, int32]{{argMinI32AVX2, 8, 24}, {argMaxI32AVX2, 8, 24}},
			nonzero:   reducer[int64, int32]{countNonzeroI32AVX2, 1, 24},
			folds:     [...]folder[int32, int32]{FoldSum: {sumDownI32AVX2, 24}, FoldProd: {prodDownI32AVX2, 24}, FoldMax: {maxDownI32AVX2, 24}, FoldMin: {minDownI32AVX2, 24}},
			mean:      reducer[float64, int32]{meanI32AVX2, 4, 12},
			distances: reducer[float64, int32]{distancesI32AVX2, 4, 12},
		},
		i64: &rowKernels[int64]{
			reducers: [reductions]reducer[int64, int64]{
				reduceSum:  {sumI64AVX2, 4, 12},
				reduceMax:  {maxI64AVX2, 4, 12},
				reduceMin:  {minI64AVX2, 4, 12},
				reduceProd: {prodI64AVX2, 4, 12},
			},
			args:    [2]reducer[int64, int64]{{argMinI64AVX2, 4, 12}, {argMaxI64AVX2, 4, 12}},
			nonzero: reducer[int64, int64]{countNonzeroI64AVX2, 1, 12},
			folds:   [...]folder[int64, int64]{FoldSum: {sumDownI64AVX2, 12}, FoldProd: {prodDownI64AVX2, 12}, FoldMax: {maxDownI64AVX2, 12}, FoldMin: {minDownI64AVX2, 12}},
		},
		bytes: &byteKernels{nonzero: reducer[int64, byte]{countNonzeroI8AVX2, 1, 32}, any: reducer[byte, byte]{anyAVX2, 1, 32}, all: reducer[byte, byte]{allAVX2, 1, 32},
			anyDown: folder[byte, byte]{anyDownAVX2, 64}, allDown: folder[byte, byte]{allDownAVX2, 64}},
		movers: &movers{
			stream:    streamAVX2,
			pad:       [...]func(dst, src *byte, splits *int64, rows, item, width int, fill *byte){pad64bAVX2, pad128bAVX2},
			padPast:   [...]func(dst, src *byte, splits *int64, rows, item, width int, fill, stage *byte) int{pad64bPastAVX2, pad128bPastAVX2},
			unpad:     [...]func(dst, src *byte, splits *int64, rows, item, width int){unpad64bAVX2, unpad128bAVX2},
			unpadPast: [...]func(dst, src *byte, splits *int64, rows, item, width int, stage *byte) int{unpad64bPastAVX2, unpad128bPastAVX2},
			fillUp:    fillUpAVX2, fillUpPast: fillUpPastAVX2,
			lookUp: gatherSplits,
			gather: gatherRowsAVX2, gatherPast: gatherRowsPastAVX2,
			zip: zipRowsAVX2, zipPast: zipRowsPastAVX2,
			strideWords: 8, stride: strideAVX2, stridePast: stridePastAVX2,
			repeat:     [...]func(dst, perRow *byte, splits *int64, rows int){repeat32AVX2, repeat64AVX2},
			repeatPast: [...]func(dst, perRow *byte, splits *int64, rows int, stage *byte) int{repeat32PastAVX2, repeat64PastAVX2},
			add:        addI64AVX2, sub: subI64AVX2, shift: shiftI64AVX2, shiftPast: shiftStreamI64AVX2, rising: risingAVX2, longest: longestAVX2, accumulate: accumulateAVX2,
			rowIDs: rowIDsAVX2, rowIDsPast: rowIDsPastAVX2,
			offsets: offsetsAVX2, offsetsPast: offsetsPastAVX2,
			fence: storeFence,
		},
	})
}
