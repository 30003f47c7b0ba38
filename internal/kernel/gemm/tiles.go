//go:build amd64 && !purego

package gemm

// The tile kernels that internal/asmgen/gemm writes, for the look-up by variant and rows.

var tilesF32AVX512 = kernelTable{
	full: {
		1: full1F32AVX512, 2: full2F32AVX512, 3: full3F32AVX512, 4: full4F32AVX512,
		5: full5F32AVX512, 6: full6F32AVX512, 7: full7F32AVX512, 8: full8F32AVX512,
		9: full9F32AVX512, 10: full10F32AVX512, 11: full11F32AVX512, 12: full12F32AVX512,
		13: full13F32AVX512, 14: full14F32AVX512,
	},
	edge: {
		1: edge1F32AVX512, 2: edge2F32AVX512, 3: edge3F32AVX512, 4: edge4F32AVX512,
		5: edge5F32AVX512, 6: edge6F32AVX512, 7: edge7F32AVX512, 8: edge8F32AVX512,
		9: edge9F32AVX512, 10: edge10F32AVX512, 11: edge11F32AVX512, 12: edge12F32AVX512,
		13: edge13F32AVX512, 14: edge14F32AVX512,
	},
	narrow: {
		1: narrow1F32AVX512, 2: narrow2F32AVX512, 3: narrow3F32AVX512, 4: narrow4F32AVX512,
		5: narrow5F32AVX512, 6: narrow6F32AVX512, 7: narrow7F32AVX512, 8: narrow8F32AVX512,
		9: narrow9F32AVX512, 10: narrow10F32AVX512, 11: narrow11F32AVX512, 12: narrow12F32AVX512,
		13: narrow13F32AVX512, 14: narrow14F32AVX512,
	},
	packing: {
		8: pack8F32AVX512, 9: pack9F32AVX512, 10: pack10F32AVX512, 11: pack11F32AVX512,
		12: pack12F32AVX512, 13: pack13F32AVX512, 14: pack14F32AVX512,
	},
	carrying: {
		8: carry8F32AVX512, 9: carry9F32AVX512, 10: carry10F32AVX512, 11: carry11F32AVX512,
		12: carry12F32AVX512, 13: carry13F32AVX512, 14: carry14F32AVX512,
	},
	powers: {
		1: exp1F32AVX512, 2: exp2F32AVX512, 3: exp3F32AVX512, 4: exp4F32AVX512,
		5: exp5F32AVX512, 6: exp6F32AVX512, 7: exp7F32AVX512, 8: exp8F32AVX512,
		9: exp9F32AVX512, 10: exp10F32AVX512, 11: exp11F32AVX512, 12: exp12F32AVX512,
		13: exp13F32AVX512, 14: exp14F32AVX512,
	},
	powersEdge: {
		1: expEdge1F32AVX512, 2: expEdge2F32AVX512, 3: expEdge3F32AVX512, 4: expEdge4F32AVX512,
		5: expEdge5F32AVX512, 6: expEdge6F32AVX512, 7: expEdge7F32AVX512, 8: expEdge8F32AVX512,
		9: expEdge9F32AVX512, 10: expEdge10F32AVX512, 11: expEdge11F32AVX512, 12: expEdge12F32AVX512,
		13: expEdge13F32AVX512, 14: expEdge14F32AVX512,
	},
}

var tilesF32AVX2 = kernelTable{
	full: {
		1: full1F32AVX2, 2: full2F32AVX2, 3: full3F32AVX2, 4: full4F32AVX2,
		5: full5F32AVX2, 6: full6F32AVX2,
	},
	edge: {
		1: edge1F32AVX2, 2: edge2F32AVX2, 3: edge3F32AVX2, 4: edge4F32AVX2,
		5: edge5F32AVX2, 6: edge6F32AVX2,
	},
	narrow: {
		1: narrow1F32AVX2, 2: narrow2F32AVX2, 3: narrow3F32AVX2, 4: narrow4F32AVX2,
		5: narrow5F32AVX2, 6: narrow6F32AVX2, 7: narrow7F32AVX2, 8: narrow8F32AVX2,
	},
	packing: {
		4: pack4F32AVX2, 5: pack5F32AVX2, 6: pack6F32AVX2,
	},
	carrying: {
		4: carry4F32AVX2, 5: carry5F32AVX2, 6: carry6F32AVX2,
	},
}

var tilesF64AVX512 = kernelTable{
	full: {
		1: full1F64AVX512, 2: full2F64AVX512, 3: full3F64AVX512, 4: full4F64AVX512,
		5: full5F64AVX512, 6: full6F64AVX512, 7: full7F64AVX512, 8: full8F64AVX512,
		9: full9F64AVX512, 10: full10F64AVX512, 11: full11F64AVX512, 12: full12F64AVX512,
		13: full13F64AVX512, 14: full14F64AVX512,
	},
	edge: {
		1: edge1F64AVX512, 2: edge2F64AVX512, 3: edge3F64AVX512, 4: edge4F64AVX512,
		5: edge5F64AVX512, 6: edge6F64AVX512, 7: edge7F64AVX512, 8: edge8F64AVX512,
		9: edge9F64AVX512, 10: edge10F64AVX512, 11: edge11F64AVX512, 12: edge12F64AVX512,
		13: edge13F64AVX512, 14: edge14F64AVX512,
	},
	narrow: {
		1: narrow1F64AVX512, 2: narrow2F64AVX512, 3: narrow3F64AVX512, 4: narrow4F64AVX512,
		5: narrow5F64AVX512, 6: narrow6F64AVX512, 7: narrow7F64AVX512, 8: narrow8F64AVX512,
		9: narrow9F64AVX512, 10: narrow10F64AVX512, 11: narrow11F64AVX512, 12: narrow12F64AVX512,
		13: narrow13F64AVX512, 14: narrow14F64AVX512,
	},
	packing: {
		8: pack8F64AVX512, 9: pack9F64AVX512, 10: pack10F64AVX512, 11: pack11F64AVX512,
		12: pack12F64AVX512, 13: pack13F64AVX512, 14: pack14F64AVX512,
	},
	carrying: {
		8: carry8F64AVX512, 9: carry9F64AVX512, 10: carry10F64AVX512, 11: carry11F64AVX512,
		12: carry12F64AVX512, 13: carry13F64AVX512, 14: carry14F64AVX512,
	},
}

var tilesF64AVX2 = kernelTable{
	full: {
		1: full1F64AVX2, 2: full2F64AVX2, 3: full3F64AVX2, 4: full4F64AVX2,
		5: full5F64AVX2, 6: full6F64AVX2,
	},
	edge: {
		1: edge1F64AVX2, 2: edge2F64AVX2, 3: edge3F64AVX2, 4: edge4F64AVX2,
		5: edge5F64AVX2, 6: edge6F64AVX2,
	},
	narrow: {
		1: narrow1F64AVX2, 2: narrow2F64AVX2, 3: narrow3F64AVX2, 4: narrow4F64AVX2,
		5: narrow5F64AVX2, 6: narrow6F64AVX2, 7: narrow7F64AVX2, 8: narrow8F64AVX2,
	},
	packing: {
		4: pack4F64AVX2, 5: pack5F64AVX2, 6: pack6F64AVX2,
	},
	carrying: {
		4: carry4F64AVX2, 5: carry5F64AVX2, 6: carry6F64AVX2,
	},
}
