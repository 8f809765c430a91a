package media

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
)

// Limits bound the media of one request to a vendor's API. A number that is 0 is unknown and limits nothing.
type Limits struct {
	Images    []string `yaml:"images"`    // MIME types; none: no pictures
	Documents []string `yaml:"documents"` // none: no documents
	Sounds    []string `yaml:"sounds"`

	URLs      []assay.MediaKind `yaml:"urls"`       // what it fetches by itself
	BatchURLs bool              `yaml:"batch_urls"` // in batches it takes nothing but URLs

	ImageBytes    int64 `yaml:"image_bytes"`  // of a file
	ImageBase64   int64 `yaml:"image_base64"` // of a file as it is written in the request
	ImageSide     int   `yaml:"image_side"`   // pixels
	ImageCount    int   `yaml:"image_count"`
	Many          Many  `yaml:"many"`
	DocumentBytes int64 `yaml:"document_bytes"` // of all files together
	DocumentCount int   `yaml:"document_count"`
	DocumentPages int   `yaml:"document_pages"`
	Body          int64 `yaml:"body"` // of a request in all

	Uploads Uploads `yaml:"uploads"` // what it keeps under ids
}

// Many is a limit that holds for every picture where there are more than so many.
type Many struct {
	Over int `yaml:"over"`
	Side int `yaml:"side"`
}

// Refusal is something that a provider would not take.
type Refusal struct {
	Of   *assay.Media // nil: all together
	Why  string
	Hint string
}

// Check returns what a provider would not take of what one request shows; batch: it travels in a batch.
func (l Limits) Check(all []*assay.Media, batch bool) []Refusal {
	var out []Refusal
	for _, m := range all {
		if r, ok := l.one(m, batch); ok {
			r.Of = m
			out = append(out, r)
		}
	}
	if len(out) > 0 {
		return out
	}
	return l.together(all)
}

// one returns why one piece is refused by itself.
func (l Limits) one(m *assay.Media, batch bool) (Refusal, bool) {
	types, many := l.types(m.Kind)
	switch {
	case len(types) == 0:
		return Refusal{Why: "takes no " + many, Hint: "leave the lane out of the stage with `lanes`, or the file out of `media`"}, true
	case m.URL != "" && !slices.Contains(l.URLs, m.Kind):
		return Refusal{Why: "does not fetch " + many + " from URLs", Hint: "download the file and name it in its place"}, true
	case m.URL == "" && batch && l.BatchURLs:
		return Refusal{Why: "takes files in batches only by URL", Hint: "give a public URL, or send the lane live: mode: live"}, true
	case m.Type != "" && !slices.Contains(types, m.Type):
		return Refusal{Why: fmt.Sprintf("takes no %s", m.Type), Hint: "convert it: " + strings.Join(types, ", ")}, true
	}
	if m.Kind == assay.MediaImage {
		return l.image(m)
	}
	return Refusal{}, false
}

func (l Limits) image(m *assay.Media) (Refusal, bool) {
	encoded := int64(base64.StdEncoding.EncodedLen(int(m.Size)))
	switch side := max(m.Width, m.Height); {
	case l.ImageBytes > 0 && m.Size > l.ImageBytes:
		return Refusal{Why: fmt.Sprintf("takes pictures of at most %s, this one has %s", assay.Size(l.ImageBytes), assay.Size(m.Size)),
			Hint: "make it smaller: models see it small anyway"}, true
	case l.ImageBase64 > 0 && encoded > l.ImageBase64:
		return Refusal{
			Why:  fmt.Sprintf("takes pictures of at most %s in base64, this one has %s", assay.Size(l.ImageBase64), assay.Size(encoded)),
			Hint: "make it smaller: models see it small anyway"}, true
	case l.ImageSide > 0 && side > l.ImageSide:
		return Refusal{Why: fmt.Sprintf("takes pictures of at most %d pixels a side, this one has %d", l.ImageSide, side),
			Hint: "make it smaller: models see it small anyway"}, true
	}
	return Refusal{}, false
}

// together returns what is refused of all pieces of a request, each of which would be taken alone.
func (l Limits) together(all []*assay.Media) []Refusal {
	var out []Refusal
	images, documents, pages := 0, 0, 0
	var papers, body int64
	widest := 0
	for _, m := range all {
		if !l.Uploads.Take(m) {
			body += int64(base64.StdEncoding.EncodedLen(int(m.Size)))
		}
		switch m.Kind {
		case assay.MediaImage:
			images++
			widest = max(widest, m.Width, m.Height)
		case assay.MediaDocument:
			documents, pages, papers = documents+1, pages+m.Pages, papers+m.Size
		}
	}
	refuse := func(most, got int64, format string, args ...any) {
		if most > 0 && got > most {
			out = append(out, Refusal{Why: fmt.Sprintf(format, args...), Hint: "show fewer of them in one request"})
		}
	}
	refuse(int64(l.ImageCount), int64(images), "takes at most %d pictures in a request, there are %d", l.ImageCount, images)
	refuse(int64(l.DocumentCount), int64(documents), "takes at most %d documents in a request, there are %d", l.DocumentCount, documents)
	refuse(int64(l.DocumentPages), int64(pages), "takes documents of at most %d pages, there are %d", l.DocumentPages, pages)
	refuse(l.DocumentBytes, papers, "takes documents of at most %s, there are %s", assay.Size(l.DocumentBytes), assay.Size(papers))
	refuse(l.Body, body, "takes requests of at most %s, the files alone are %s in base64", assay.Size(l.Body), assay.Size(body))
	if l.Many.Over > 0 && images > l.Many.Over {
		refuse(int64(l.Many.Side), int64(widest), "takes pictures of at most %d pixels a side where there are more than %d, one has %d",
			l.Many.Side, l.Many.Over, widest)
	}
	return out
}

// types returns the types of a kind that are taken, and what pieces of it are called.
func (l Limits) types(k assay.MediaKind) (types []string, many string) {
	switch k {
	case assay.MediaDocument:
		return l.Documents, "documents"
	case assay.MediaAudio:
		return l.Sounds, "sounds"
	}
	return l.Images, "pictures"
}
