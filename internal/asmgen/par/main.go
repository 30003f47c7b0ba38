// Command par generates the spin-wait hint of internal/par.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

func main() {
	ConstraintExpr("amd64,!purego")
	TEXT("pauses", NOSPLIT, "func(n int)")
	Doc("pauses executes n spin-wait hints.")
	n := Load(Param("n"), GP64())
	Label("next")
	PAUSE()
	DECQ(n)
	JNZ(LabelRef("next"))
	RET()
	Generate()
}
