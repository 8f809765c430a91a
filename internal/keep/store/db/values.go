package db

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"assay/internal/assay"
)

// Null stores a zero value as NULL.
func Null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// NullBytes stores no bytes as NULL.
func NullBytes(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// NullKey stores the zero key as NULL.
func NullKey(k assay.Key) any {
	if k == (assay.Key{}) {
		return nil
	}
	return k[:]
}

// Nanos stores money, and no money as NULL.
func Nanos(m *assay.Money) any {
	if m == nil {
		return nil
	}
	return int64(*m)
}

// Flag stores a yes as 1.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Millis stores a moment, and the zero time as NULL.
func Millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// FromMillis reads what Millis stored.
func FromMillis(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

// Has returns the condition that a column has words, letters of ASCII in any case; pattern is the placeholder of what Pattern returns.
func (s *DB) Has(column, pattern string) string { return s.engine.has(column, pattern) }

// Pattern returns what the conditions of Has are given for words.
func Pattern(words string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(string(assay.LowerASCII(words))) + "%"
}

// Clean makes foreign text storable in both databases: valid UTF-8 without NUL. The raw bytes are in the artifact.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// KeyBlock is how many keys a query takes at a time.
const KeyBlock = 500

// KeyList returns placeholders for keys after the given first arguments, and all arguments.
func KeyList(keys []assay.Key, first ...any) (string, []any) {
	args := first
	for i := range keys {
		args = append(args, keys[i][:])
	}
	return Placeholders(len(first)+1, len(args)), args
}

// Placeholders returns those from one number to another, for a list.
func Placeholders(from, to int) string {
	b := make([]byte, 0, 5*(to-from+1))
	for i := from; i <= to; i++ {
		if i > from {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '$'), int64(i), 10)
	}
	return string(b)
}

// Numbers lists numbers as SQL: they are ours, never a person's text.
func Numbers(all []int64) string {
	text := make([]string, len(all))
	for i, n := range all {
		text[i] = fmt.Sprint(n)
	}
	return strings.Join(text, ", ")
}

// InStates returns the condition that a row is in one of these states, which are constants of ours; none: any.
func InStates[S ~string](states []S) string {
	if len(states) == 0 {
		return ""
	}
	quoted := make([]string, len(states))
	for i, st := range states {
		quoted[i] = "'" + string(st) + "'"
	}
	return " AND state IN (" + strings.Join(quoted, ", ") + ")"
}

// Answered returns the condition that the request of an attempt has an answer that stands. It goes by the request's attempts: an index of
// answers by key would be entered in random order.
func Answered(attempt string) string {
	return `EXISTS (SELECT 1 FROM attempts tried JOIN outcomes had ON had.segment_no = tried.segment_no AND had.ord = tried.ord
		WHERE ` + SameRequest("tried", attempt) + ` AND had.stands = 1)`
}

// SameRequest returns the condition that two attempts are of one request.
func SameRequest(one, other string) string {
	return one + `.run_no = ` + other + `.run_no AND ` + one + `.item = ` + other + `.item AND ` + one + `.key = ` + other + `.key`
}

// Asked returns the condition that an attempt is of one of these requests of a run, which is $1, and all arguments.
func (s *DB) Asked(attempt string, run int64, refs []assay.Ref) (string, []any) {
	return s.engine.asked(attempt, run, refs)
}
