package catalog

import "time"

// Date is a day as YYYY-MM-DD; empty means unknown.
type Date string

// Before reports whether a day comes before another. An unknown day comes before none, and none before it.
func (d Date) Before(e Date) bool { return d != "" && e != "" && d < e }

// Reached reports whether a day is known and has come by the day `on`.
func (d Date) Reached(on Date) bool { return d != "" && on != "" && !on.Before(d) }

// DateOf returns the day of a moment, in UTC.
func DateOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }

// valid reports whether the text is a day.
func (d Date) valid() bool {
	_, err := time.Parse(time.DateOnly, string(d))
	return err == nil
}
