package document

import (
	"bytes"
	"context"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/show/report"
	"assay/internal/show/thumb"
)

// What a report shows of pictures: it is a file to mail.
const (
	pictureSide  = 120
	pictureBytes = 160_000 // of all pictures together; further files are named alone
)

// addPictures adds what requests about the items and the examples of a report show.
func addPictures(ctx context.Context, r *results.Reader, run store.Run, d *report.Document) error {
	small := map[assay.Sum][]byte{}
	room := pictureBytes
	of := func(item string) ([]report.Picture, error) {
		files, err := rows.Files(ctx, r, run, item)
		var out []report.Picture
		for i := range files {
			f := &files[i]
			p := report.Picture{Label: f.Label(), Note: f.About()}
			if !f.Remote() && thumb.Makes(f.Type, f.Width, f.Height) {
				if _, made := small[f.Sum]; !made {
					small[f.Sum] = smallPicture(ctx, r, f)
				}
				if b := small[f.Sum]; len(b) > 0 && len(b) <= room {
					room -= len(b)
					p.Small = slices.Clone(b)
					p.Width, p.Height = thumb.Size(f.Width, f.Height, pictureSide)
				}
			}
			out = append(out, p)
		}
		return out, err
	}
	var err error
	for i := range d.Examples {
		if d.Examples[i].Shown, err = of(d.Examples[i].Item); err != nil {
			return err
		}
	}
	for i := range d.Items {
		if d.Items[i].Shown, err = of(d.Items[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// smallPicture returns a small picture of a file; nothing where it cannot be read or is none: a report names it all the same.
func smallPicture(ctx context.Context, r *results.Reader, f *assay.File) []byte {
	file, err := r.Scripts.Files.Open(ctx, artifacts.Shown, f.Sum.String())
	if err != nil {
		return nil
	}
	defer file.Close()
	var b bytes.Buffer
	if thumb.JPEG(&b, file, f.Type, pictureSide) != nil {
		return nil
	}
	return b.Bytes()
}
