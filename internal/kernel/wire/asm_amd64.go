//go:build amd64 && !purego

package wire

import "github.com/tenonml/tenon/internal/cpu"

func init() {
	table.Add(cpu.AVX512VBMI, kernels{
		ints: intListsVBMI, floats: floatListsVBMI, strings: stringListsVBMI, note: noteListsVBMI,
		long: varintsVBMI, varints: varintsBMI2, fetch: fetchMessages,
	})
	// PEXT is slow on those AMD processors that lack AVX-512.
	table.Add(cpu.AVX512, kernels{varints: varintsBMI2, fetch: fetchMessages})
	table.Add(cpu.AVX2, kernels{fetch: fetchMessages})
}
