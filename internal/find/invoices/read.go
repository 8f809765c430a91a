// Package invoices reads what providers say they billed, and holds sums of ours against it.
package invoices

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
)

// Report is a usage or cost report of a provider.
type Report struct {
	Provider    string
	Money       bool   // it counts dollars; else tokens
	First, Last string // the days that it covers, in UTC, such as 2026-11-15
	More        bool   // it ends with a page that has a next one
	Lines       []Line
}

// Line is the bill for one model on one day.
type Line struct {
	Day           string // in UTC
	Model         string // empty: the report does not tell models apart
	Cost          assay.Cost
	Input, Output int64 // tokens
	Mute          int64 // answers without a count of tokens
}

// Known are the providers whose reports are read.
const Known = "OpenAI or Anthropic"

// ErrForm is the error for a file that is no report of a provider.
var ErrForm = errors.New("no usage or cost report of " + Known)

// Read reads a report: CSV as the consoles of OpenAI and Anthropic export it, or JSON as their admin APIs answer, pages one after
// the other. Columns and fields that it does not know are passed over.
func Read(data []byte) (Report, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return Report{}, fmt.Errorf("the file is empty: %w", ErrForm)
	}
	read := readCSV
	if data[0] == '{' || data[0] == '[' {
		read = readJSON
	}
	r, err := read(data)
	if err == nil && len(r.Lines) == 0 {
		err = errors.New("the report has no lines")
	}
	return r, err
}

// add takes a line in, and its day.
func (r *Report) add(l Line) {
	r.cover(l.Day)
	r.Lines = append(r.Lines, l)
}

func (r *Report) cover(day string) {
	if r.First == "" || day < r.First {
		r.First = day
	}
	r.Last = max(r.Last, day)
}

// modelOf returns the model of a line item such as "gpt-4.1-mini-2025-04-14, input".
func modelOf(item string) string {
	model, _, _ := strings.Cut(item, ", ")
	return strings.TrimSpace(model)
}

// money reads an amount of dollars.
func money(amount, currency string, cents bool) (assay.Cost, error) {
	if !strings.EqualFold(cmp.Or(currency, "usd"), "usd") {
		return assay.Cost{}, fmt.Errorf("an amount in %s: dollars are wanted", currency)
	}
	d, err := number(amount)
	if err != nil {
		return assay.Cost{}, err
	}
	if cents {
		d /= 100
	}
	return assay.Cost{Sum: assay.Dollars(d), Priced: 1}, nil
}

// dayOf returns the day of a time in seconds since 1970.
func dayOf(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.DateOnly) }

// dayAt returns the day that a text begins with.
func dayAt(text string) (string, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC().Format(time.DateOnly), nil
	}
	if len(text) >= len(time.DateOnly) {
		if at, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)]); err == nil {
			return at.Format(time.DateOnly), nil
		}
	}
	return "", fmt.Errorf("%q is no day", text)
}
