// Package inputs makes the inputs of the benchmarks and the checksums of their
// answers, the same in every language.
//
// Random numbers come from splitmix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast
// splittable pseudorandom number generators", 2014), addressed by the number of
// a workload and of a stream in it. A checksum is the number of elements n, the
// sum of x[i]*w[i] and that of |x[i]|*w[i] with w[i] = 1 + i mod 31.
package inputs
