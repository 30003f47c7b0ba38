//go:build 386 || arm || mips || mipsle

package dtype

// Sizes and positions are ints, and tensors may have more elements than 32 bits count: on a
// platform whose int has 32 bits the module does not build, and this says so.
const _ = tenon_needs_a_platform_with_64_bit_addresses
