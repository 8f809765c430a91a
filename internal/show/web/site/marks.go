package site

import (
	"net/http"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/labels"
)

// Marks hold the labels and comments that people left while reading, and those that the reader may add.
type Marks struct {
	As   string // the reader, as the last form said
	Back string // the address of the page
	On   map[string]Mark
}

// Mark holds the labels and comments on one answer.
type Mark struct {
	Picks    []labels.Pickable
	Comments []Comment
}

// Comment is a person's comment on an answer.
type Comment struct {
	No   int64     `json:"no"`
	Key  string    `json:"key"`
	By   string    `json:"by"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// PersonCookie keeps the name under which somebody last labelled.
const PersonCookie = "assay-person"

// Person returns who looks: by the form, else by the cookie that an earlier form left.
func (q *Request) Person() string {
	if name := strings.TrimPrefix(strings.TrimSpace(q.FormValue("as")), "human:"); name != "" {
		return name
	}
	if c, err := q.Cookie(PersonCookie); err == nil {
		return c.Value
	}
	return ""
}

// MayWrite reports whether the asker may give orders and labels.
func (s *Site) MayWrite(q *Request) bool { return s.Guard.FormsOf(q.Request) != "" }

// KeepPerson has the browser keep under which name somebody labels.
func KeepPerson(w http.ResponseWriter, name string) {
	http.SetCookie(w, &http.Cookie{Name: PersonCookie, Value: name, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: 30 * 24 * 3600})
}

// Comments reads what people wrote about the answers to some items, oldest first.
func (q *Request) Comments(items []string) ([]Comment, error) {
	all, err := q.Home.Pages.Comments(q.Context(), q.Run.No, items)
	out := make([]Comment, len(all))
	for i, c := range all {
		out[i] = Comment{No: c.No, Key: c.Key.String(), By: c.Person, Text: c.Text, At: c.At}
	}
	return out, err
}

// Marks returns what may be said about the answers to some items in some stages, and the comments on them. The items of a stage's input
// are found by items.
func (s *Site) Marks(q *Request, stages []string, comments []Comment, items func(input string) []assay.Item) (*Marks, error) {
	out := &Marks{As: q.Person(), Back: q.URL.RequestURI(), On: map[string]Mark{}}
	person, err := labels.Person(out.As)
	if err != nil {
		person = "" // nobody yet
	}
	for _, stage := range stages {
		panel, err := labels.Open(q.Context(), q.Home.Reader, q.Run, stage)
		if err != nil {
			return nil, err
		}
		all, err := panel.Pickable(q.Context(), q.Home.Ledger, items(panel.People.Judging.Items()), person)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			m := out.On[p.Key.String()]
			m.Picks = append(m.Picks, p)
			out.On[p.Key.String()] = m
		}
	}
	for _, c := range comments {
		m := out.On[c.Key]
		m.Comments = append(m.Comments, c)
		out.On[c.Key] = m
	}
	return out, nil
}
