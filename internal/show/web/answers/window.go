package answers

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// A page of an item has so many answers at most, and so many bytes of them; what does not fit is a link away.
const (
	cellsOnPage  = 120
	placesOnPage = 4 // at least, however many lanes there are
	bytesOnPage  = 300_000
)

// window is the part of the questions about an item that a page shows. A turn with its branch, template and draw is one place.
type window struct {
	From, To, All int // places, counted from 1
	Prev, Next    string
	Jumps         []jump
}

// jump leads to the page that has a place.
type jump struct {
	Place, To string
	Here      bool
}

// Folded reports whether a page shows less than all.
func (w window) Folded() bool { return w.To-w.From+1 < w.All }

// cut keeps the answers of the places on the page that is asked for, of all lanes, and returns which these are.
func cut(q *site.Request, all []store.Answer) ([]store.Answer, window) {
	places, lanes := placesOf(all)
	at := map[assay.Coordinates]int{}
	for i, p := range places {
		at[p] = i
	}
	size := make([]int, len(places))
	for _, a := range all {
		size[at[placeOf(a.At)]] += min(len(a.Outcome.Text), site.MaxShown)
	}
	from, _ := strconv.Atoi(q.FormValue("from"))
	from = min(max(from, 1), len(places))
	w := window{All: len(places)}
	begins := append(pages(size, max(placesOnPage, cellsOnPage/max(lanes, 1))), len(places))
	for i, begin := range begins[:len(begins)-1] {
		end := begins[i+1]
		here := from > begin && from <= end
		if here {
			w.From, w.To = begin+1, end
			if i > 0 {
				w.Prev = pageAt(q, begins[i-1])
			}
			if end < len(places) {
				w.Next = pageAt(q, end)
			}
		}
		for _, p := range places[begin:end] {
			w.Jumps = append(w.Jumps, jump{named(p), pageAt(q, begin), here})
		}
	}
	return slices.DeleteFunc(all, func(a store.Answer) bool {
		i := at[placeOf(a.At)] + 1
		return i < w.From || i > w.To
	}), w
}

// pageAt returns the address of the same page that begins at a place, counted from 0.
func pageAt(q *site.Request, place int) string {
	to := url.Values{}
	for _, name := range []string{"id", "stage", "lane", "grid"} {
		if v := q.FormValue(name); v != "" {
			to.Set(name, v)
		}
	}
	if place > 0 {
		to.Set("from", strconv.Itoa(place+1))
	}
	return "/runs/" + q.Run.ID + "/item?" + to.Encode()
}

// pages returns with which place each page begins: as many as fit are on it, and one at least.
func pages(size []int, most int) (begins []int) {
	n, bytes := most, 0
	for i, s := range size {
		if n == most || bytes+s > bytesOnPage {
			begins = append(begins, i)
			n, bytes = 0, 0
		}
		n, bytes = n+1, bytes+s
	}
	return begins
}

// placesOf returns the places of answers in the order of the conversation, and how many lanes were asked.
func placesOf(all []store.Answer) (places []assay.Coordinates, lanes int) {
	asked, known := map[string]bool{}, map[assay.Coordinates]bool{}
	for _, a := range all {
		asked[a.Lane] = true
		if p := placeOf(a.At); !known[p] {
			known[p] = true
			places = append(places, p)
		}
	}
	slices.SortStableFunc(places, func(a, b assay.Coordinates) int {
		return cmp.Or(cmp.Compare(a.Template, b.Template), cmp.Compare(a.Draw, b.Draw), cmp.Compare(a.Turn, b.Turn),
			cmp.Compare(a.Branch, b.Branch))
	})
	return places, len(asked)
}

// placeOf returns which question it was, whichever lane was asked.
func placeOf(at assay.Coordinates) assay.Coordinates {
	if at.Judge == "" {
		at.Lane = ""
	} else {
		at.Judge, at.By = "", ""
	}
	return at
}

// named returns a place in words.
func named(p assay.Coordinates) string {
	var a answerRow
	a.Turn, a.Branch, a.Template, a.Draw, a.Judge = int64(p.Turn), p.Branch, p.Template, int64(p.Draw), p.Judge
	return a.Place()
}
