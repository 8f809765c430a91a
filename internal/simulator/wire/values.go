package wire

import "time"

// rfc writes a time as Anthropic and Google do; nil for none.
func rfc(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}

func unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

const day = 24 * time.Hour
