// Package coords labels the positions along named dimensions: the years of a series,
// the cities of a table.
//
//	x := coords.New(t, coords.Along[City]("Oslo", "Rome"), coords.Along[Year](2020, 2021, 2022))
//	coords.Select[City](x, "Rome")                     // {Year}
//	coords.Between[Year](x, 2021, 2022)                // {City, Year}
//	ops.Sub(x, coords.Select[Year](x, 2020))           // what changed since 2020
//
// An [*Array] is a named tensor with labels along some of its dimensions. Elementwise
// operations on two Arrays match positions by label, not by number. Positions with a
// label that only one of them has are dropped, or filled if you ask for it with
// [Align]. This is the data model of xarray (Hoyer and Hamman, 2017), in a separate layer:
// package named knows nothing of it, and code without labels never meets it.
//
// Labels are strings, integers or floating-point numbers, all different along a dimension.
// They are static, as part of the Spec of an Array. A traced function can therefore select by
// label, and is traced again for other labels.
//
// Stability: stable.
package coords
