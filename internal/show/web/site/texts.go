package site

import (
	"net/http"
)

// Texts of conversations are rendered unless a reader asks for them as they were sent: texts=sent in an address, which a
// cookie keeps for the pages that follow.
const (
	textsName     = "texts"
	textsSent     = "sent"
	textsRendered = "rendered"
)

// asSent reports whether a reader wants texts as they were sent.
func asSent(r *http.Request) bool {
	switch r.URL.Query().Get(textsName) {
	case textsSent:
		return true
	case textsRendered:
		return false
	}
	c, err := r.Cookie(textsName)
	return err == nil && c.Value == textsSent
}

// otherTexts returns the address of the same page with texts shown the other way.
func otherTexts(r *http.Request, sent bool) string {
	q := r.URL.Query()
	q.Set(textsName, textsSent)
	if sent {
		q.Set(textsName, textsRendered)
	}
	return r.URL.Path + "?" + q.Encode()
}

// rememberTexts keeps what an address asks for.
func rememberTexts(w http.ResponseWriter, r *http.Request) {
	if v := r.URL.Query().Get(textsName); v == textsSent || v == textsRendered {
		http.SetCookie(w, &http.Cookie{Name: textsName, Value: v, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	}
}
