package dataset_test

import (
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon/ops/key"
)

var cmpEmpty = cmp.Options{cmpopts.EquateEmpty()}

func sliceOf(lo, hi int) key.Key { return key.Range(lo, hi, nil) }
func strided(lo int) key.Key     { return key.Range(lo, nil, 2) }
