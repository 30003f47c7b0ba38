package gather

import "github.com/tenonml/tenon/internal/cpu"

// level is the family of kernels in use; tests change it.
var level = cpu.Active()
