package invoices

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// page is an answer of an admin API, or one bucket of it.
type page struct {
	Data    []bucket `json:"data"`
	HasMore bool     `json:"has_more"`
	bucket
}

// bucket is a span of time: OpenAI counts it in seconds, Anthropic writes it out.
type bucket struct {
	Start   *int64   `json:"start_time"`
	Begins  string   `json:"starting_at"`
	Results []result `json:"results"`
}

// result is one line of a bucket, of any of the four reports.
type result struct {
	Amount      json.RawMessage `json:"amount"`
	Currency    string          `json:"currency"`
	LineItem    string          `json:"line_item"`
	Model       string          `json:"model"`
	Description string          `json:"description"`

	Input  *int64 `json:"input_tokens"`
	Output int64  `json:"output_tokens"`

	Fresh    *int64           `json:"uncached_input_tokens"`
	Read     int64            `json:"cache_read_input_tokens"`
	Creation map[string]int64 `json:"cache_creation"`
}

func readJSON(data []byte) (Report, error) {
	var out Report
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		switch err := dec.Decode(&raw); {
		case errors.Is(err, io.EOF):
			if out.Provider == "" {
				return out, ErrForm
			}
			return out, nil
		case err != nil:
			return out, fmt.Errorf("%w: %w", err, ErrForm)
		}
		if err := out.pages(raw); err != nil {
			return out, err
		}
	}
}

// pages takes in a page, a bucket, or a list of them.
func (r *Report) pages(raw json.RawMessage) error {
	var list []page
	if raw[0] != '[' {
		raw = append(append([]byte("["), raw...), ']')
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("%w: %w", err, ErrForm)
	}
	for _, p := range list {
		if len(p.Data) == 0 {
			p.Data = []bucket{p.bucket}
		}
		r.More = p.HasMore
		for _, b := range p.Data {
			if err := r.bucket(b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Report) bucket(b bucket) error {
	provider, day := "openai", ""
	switch {
	case b.Start != nil:
		day = dayOf(*b.Start)
	case b.Begins != "":
		var err error
		if day, err = dayAt(b.Begins); err != nil {
			return err
		}
		provider = "anthropic"
	default:
		return ErrForm
	}
	if r.Provider != "" && r.Provider != provider {
		return fmt.Errorf("pages of %s and of %s in one file", r.Provider, provider)
	}
	r.Provider = provider
	r.cover(day)
	for _, res := range b.Results {
		l, isMoney, err := res.line(provider)
		if err != nil {
			return fmt.Errorf("%s: %w", day, err)
		}
		if len(r.Lines) > 0 && r.Money != isMoney {
			return errors.New("a cost report and a usage report in one file")
		}
		l.Day, r.Money = day, isMoney
		r.add(l)
	}
	return nil
}

func (s result) line(provider string) (l Line, isMoney bool, err error) {
	l.Model = s.Model
	switch {
	case provider == "openai" && len(s.Amount) > 0:
		var amount struct {
			Value    json.RawMessage `json:"value"` // a number, or the text of one
			Currency string          `json:"currency"`
		}
		if err = json.Unmarshal(s.Amount, &amount); err == nil {
			l.Model = modelOf(s.LineItem)
			l.Cost, err = money(bare(amount.Value), amount.Currency, false)
		}
		return l, true, err
	case len(s.Amount) > 0: // in cents
		if l.Model == "" {
			l.Model = s.Description
		}
		l.Cost, err = money(bare(s.Amount), s.Currency, true)
		return l, true, err
	case s.Input != nil:
		l.Input, l.Output = *s.Input, s.Output
		return l, false, nil
	case s.Fresh != nil:
		l.Input, l.Output = *s.Fresh+s.Read, s.Output
		for _, n := range s.Creation {
			l.Input += n
		}
		return l, false, nil
	}
	return l, false, ErrForm
}

// bare returns a number that may stand in quotes.
func bare(raw json.RawMessage) string { return string(bytes.Trim(raw, `"`)) }
