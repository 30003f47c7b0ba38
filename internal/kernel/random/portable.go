package random

import "math"

// mad returns a·b + c with both operations rounded.
func mad(a, b, c float64) float64 { return float64(a*b) + c }

// log returns the natural logarithm of a normal number x > 0, to about one ulp. It uses the method
// of FreeBSD's e_log.c: x = 2^k·(1+f) with 1+f near 1, and log(1+f) = f - f²/2 + s·(f²/2 + R(s²))
// with s = f/(2+f).
func log(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
		l1    = 6.666666666666735130e-01
		l2    = 3.999999999940941908e-01
		l3    = 2.857142874366239149e-01
		l4    = 2.222219843214978396e-01
		l5    = 1.818357216161805012e-01
		l6    = 1.531383769920937332e-01
		l7    = 1.479819860511658591e-01
	)
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	f := m - 1
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	even := float64(w * mad(w, mad(w, l6, l4), l2))
	odd := float64(z * mad(w, mad(w, mad(w, l7, l5), l3), l1))
	half := float64(float64(0.5*f) * f)
	e := float64(k)
	return float64(e*ln2Hi) - ((half - (float64(s*(half+(even+odd))) + float64(e*ln2Lo))) - f)
}

// quantile returns the x that a standard normal variable is below with probability
// p, 0 < p < 1, by algorithm AS 241, PPND16, of M. J. Wichura (Applied Statistics 37, 1988).
func quantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(q*horner(r, &centralNum)) / horner(r, &centralDen)
	}
	tail := p
	if q > 0 {
		tail = 1 - p
	}
	r := math.Sqrt(-log(tail))
	var x float64
	if r <= 5 {
		r -= 1.6
		x = horner(r, &middleNum) / horner(r, &middleDen)
	} else {
		r -= 5
		x = horner(r, &farNum) / horner(r, &farDen)
	}
	if q < 0 {
		return -x
	}
	return x
}

func horner(r float64, c *[8]float64) float64 {
	return mad(mad(mad(mad(mad(mad(mad(c[7], r, c[6]), r, c[5]), r, c[4]), r, c[3]), r, c[2]), r, c[1]), r, c[0])
}

var (
	centralNum = [8]float64{3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3}
	centralDen = [8]float64{1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
		2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}
	middleNum = [8]float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	middleDen = [8]float64{1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	farNum = [8]float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	farDen = [8]float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)
