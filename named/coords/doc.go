// Package coords gives positions along named dimensions labels: the years of a series,
// the cities of a table.
//
//	x := coords.New(t, coords.Along[City]("Oslo", "Rome"), coords.Along[Year](2020, 2021, 2022))
//	coords.Select[City](x, "Rome")                     // {Year}
//	coords.Between[Year](x, 2021, 2022)                // {City, Year}
//	ops.Sub(x, coords.Select[Year](x, 2020))           // what changed since 2020
//
// An [*Array] is a named tensor with labels along some of its dimensions. Elementwise
// operations on two Arrays match positions by label, not by number: positions whose
// label only one of them has are left out, or are filled if that is asked for with
// [Align]. It is the data model of xarray (Hoyer and Hamman, 2017), as a layer that
// code without labels never meets: package named knows nothing of it.
//
// Labels are strings, integers or floating numbers, all different along a dimension.
// They are static: part of the Spec of an Array, so a traced function can select by
// label, and is traced again for other labels.
//
// Stability: stable.
package coords
