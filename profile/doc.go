// Package profile holds measurements of function runs: the time and memory of
// each step.
//
//	var p profile.Profile
//	ctx := function.WithOptions(ctx, function.RunOptions{Profile: &p})
//	out, err := f.CallContext(ctx, x)
//	fmt.Println(p.Peak())
//	err = p.WriteTrace(file) // for chrome://tracing or ui.perfetto.dev
//
// Stability: experimental.
package profile
