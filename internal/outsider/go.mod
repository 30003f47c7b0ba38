module example.com/outsider

go 1.26.0

require github.com/tenonml/tenon v0.0.0

require golang.org/x/sys v0.49.0 // indirect

replace github.com/tenonml/tenon => ../..
