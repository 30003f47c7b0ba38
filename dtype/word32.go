//go:build 386 || arm || mips || mipsle

package dtype

// Sizes and positions are ints, and a tensor may have more elements than 32 bits can count. This
// undefined identifier stops the build where int has 32 bits.
const _ = tenon_needs_a_platform_with_64_bit_addresses
