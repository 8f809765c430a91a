// Package catalog holds dated data about vendors and models: what they take, how it goes to the wire, what it costs.
//
// The data are rows in data/*.yaml, each with a date and a source; the code only interprets them. What no row says is
// unknown: an unknown limit is no problem, an unknown price is never 0.
package catalog

import (
	"embed"
	"sync"
)

// Catalog is the data, read and checked. It never changes; With makes another one.
type Catalog struct {
	vendors  []Vendor
	apis     map[string]api
	families []Family
	models   []Model
	names    map[modelKey]int // rows of models, by name and by alias
	rows     []PriceRow
	prices   map[modelKey]Price
	guesses  guesses
}

//go:embed data
var data embed.FS

var builtIn = sync.OnceValues(func() (*Catalog, error) { return Load(data) })

// Default is the catalogue that is built in.
func Default() *Catalog {
	c, err := builtIn()
	if err != nil {
		panic(err) // the embedded rows are read by every test of this package
	}
	return c
}
