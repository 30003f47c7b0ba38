package shop_test

import (
	"fmt"

	"example.com/shop"
)

// helper is no declaration of the package.
func helper() {}

func ExampleOpen() {
	// At noon.
	s, _ := shop.Open("12 High St.")
	if s == nil {
		fmt.Println("closed")
	}
	// Output: closed
}

func ExampleShop_Sell_many() {
	var s shop.Shop
	s.Sell(100, 7, nil)
}
