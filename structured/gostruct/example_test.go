package gostruct_test

import (
	"fmt"

	"github.com/tenonml/tenon/structured/gostruct"
)

func ExampleFrom() {
	type Hit struct {
		Energy float64 `json:"energy"`
		Layer  *int    `json:"layer"`
	}
	type Event struct {
		ID   int64  `json:"id"`
		Hits []Hit  `json:"hits"`
		Note string `json:"-"`
	}
	layer := 3
	s, _ := gostruct.From([]Event{
		{ID: 1, Hits: []Hit{{Energy: 1.5, Layer: &layer}, {Energy: 2}}},
		{ID: 2},
	})
	fmt.Println(s)
	hits, _ := gostruct.To[Event](s)
	fmt.Println(hits[0].Hits[0].Energy, *hits[0].Hits[0].Layer, hits[0].Hits[1].Layer)
	// Output:
	// 2 * {id: int64, hits: var * {energy: float64, layer: ?int64}}
	//    id     hits
	//    int64  var * {energy: float64, layer: ?int64}
	// 0  1      [{energy: 1.5, layer: 3}, {energy: 2.0,…
	// 1  2      []
	// 1.5 3 <nil>
}

func ExampleBuilder() {
	type Point struct{ X, Y float32 }
	b, _ := gostruct.NewBuilder[Point]()
	for i := range 3 {
		if err := b.Append(Point{float32(i), float32(i * i)}); err != nil {
			fmt.Println(err)
		}
	}
	s, _ := b.Build()
	fmt.Println(s)
	// Output:
	// 3 * {X: float32, Y: float32}
	//    X        Y
	//    float32  float32
	// 0  0.0      0.0
	// 1  1.0      1.0
	// 2  2.0      4.0
}
