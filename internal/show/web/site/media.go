package site

import (
	"net/url"
	"strconv"

	"assay/internal/assay"
	"assay/internal/show/thumb"
)

// Picture is a file that requests about an item show, as a page shows it: a small picture, or a card.
type Picture struct {
	Label         string `json:"label"`
	Type          string `json:"type,omitempty"`
	Size          int64  `json:"bytes,omitempty"`
	SHA256        string `json:"sha256,omitempty"`
	Note          string `json:"-"` // what is known of it
	Small         string `json:"-"` // address of the small picture; empty: there is none
	Width, Height int    `json:"-"` // of the small picture
}

// Pictures returns the files of an item of a run, as pages show them.
func Pictures(run, item string, files []assay.File) []Picture {
	var out []Picture
	for i := range files {
		f := &files[i]
		p := Picture{Label: f.Label(), Type: f.Type, Size: f.Size, Note: f.About()}
		if !f.Remote() {
			p.SHA256 = f.Sum.String()
		}
		if thumb.Makes(f.Type, f.Width, f.Height) {
			p.Small = "/runs/" + run + "/media?" + url.Values{"id": {item}, "n": {strconv.Itoa(i)}}.Encode()
			p.Width, p.Height = thumb.Size(f.Width, f.Height, thumb.Side)
		}
		out = append(out, p)
	}
	return out
}
