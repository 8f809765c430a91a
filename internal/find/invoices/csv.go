package invoices

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"assay/internal/assay/csvtext"
)

// csvForm is one of the tables that consoles export: the columns it is known by, and how a row of it is read.
type csvForm struct {
	provider string
	money    bool
	known    []string
	read     func(cells) (Line, bool, error)
}

var csvForms = []csvForm{
	{"openai", true, []string{"start_time", "amount_value"}, openAICost},
	{"openai", false, []string{"start_time", "input_tokens", "num_model_requests"}, openAIUsage},
	{"anthropic", true, []string{"usage_date_utc", "cost_usd"}, claudeCost},
	{"anthropic", false, []string{"usage_date_utc", "usage_output_tokens"}, claudeUsage},
}

// cells are the cells of a row by their column.
type cells map[string]string

func (c cells) has(columns []string) bool {
	for _, name := range columns {
		if _, ok := c[name]; !ok {
			return false
		}
	}
	return true
}

// sum adds up cells that hold counts. One that is empty or not there counts nothing.
func (c cells) sum(columns ...string) (int64, error) {
	var all int64
	for _, name := range columns {
		if c[name] == "" {
			continue
		}
		n, err := number(c[name])
		if err != nil {
			return 0, fmt.Errorf("column %s: %w", name, err)
		}
		all += int64(n)
	}
	return all, nil
}

func number(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= -1e15 && n <= 1e15) {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return n, nil
}

func readCSV(data []byte) (Report, error) {
	begin := csvtext.NewReader(bytes.NewReader(data))
	in := csvtext.NewScanner(begin, csvtext.Separator(begin))
	if !in.Scan() {
		return Report{}, ErrForm
	}
	head := make([]string, in.Fields())
	row := cells{}
	for i := range head {
		head[i] = strings.ToLower(strings.TrimSpace(string(in.Field(i))))
		row[head[i]] = ""
	}
	for _, form := range csvForms {
		if row.has(form.known) {
			return form.rows(in, head)
		}
	}
	return Report{}, ErrForm
}

func (f csvForm) rows(in *csvtext.Scanner, head []string) (Report, error) {
	out := Report{Provider: f.provider, Money: f.money}
	for in.Scan() {
		row := cells{}
		for i, name := range head {
			if i < in.Fields() {
				row[name] = strings.TrimSpace(string(in.Field(i)))
			}
		}
		l, billed, err := f.read(row)
		if err != nil {
			return Report{}, fmt.Errorf("line %d: %w", in.Line(), err)
		}
		if billed {
			out.add(l)
			continue
		}
		out.cover(l.Day)
	}
	return out, in.Err()
}

// openAICost reads a row of OpenAI's cost export. A day on which nothing was billed has no amount.
func openAICost(c cells) (l Line, billed bool, err error) {
	if l.Day, err = c.openAIDay(); err != nil || c["amount_value"] == "" {
		return l, false, err
	}
	l.Model = modelOf(c["line_item"])
	l.Cost, err = money(c["amount_value"], c["amount_currency"], false)
	return l, true, err
}

func openAIUsage(c cells) (l Line, billed bool, err error) {
	if l.Day, err = c.openAIDay(); err != nil || c["num_model_requests"] == "" {
		return l, false, err
	}
	l.Model = c["model"]
	if l.Input, err = c.sum("input_tokens"); err == nil {
		l.Output, err = c.sum("output_tokens")
	}
	return l, true, err
}

func (c cells) openAIDay() (string, error) {
	if seconds, err := strconv.ParseInt(c["start_time"], 10, 64); err == nil {
		return dayOf(seconds), nil
	}
	return dayAt(c["start_time"])
}

func claudeCost(c cells) (l Line, billed bool, err error) {
	if l.Day, err = dayAt(c["usage_date_utc"]); err != nil {
		return l, false, err
	}
	l.Model = c["model"]
	if l.Model == "" {
		l.Model = c["cost_type"]
	}
	l.Cost, err = money(c["cost_usd"], "usd", false)
	return l, true, err
}

func claudeUsage(c cells) (l Line, billed bool, err error) {
	if l.Day, err = dayAt(c["usage_date_utc"]); err != nil {
		return l, false, err
	}
	l.Model = c["model_version"]
	l.Input, err = c.sum("usage_input_tokens_no_cache", "usage_input_tokens_cache_write_5m", "usage_input_tokens_cache_write_1h",
		"usage_input_tokens_cache_read")
	if err == nil {
		l.Output, err = c.sum("usage_output_tokens")
	}
	return l, true, err
}
