package guard

import (
	"net/http"
	"strings"
)

// rights are the permissions of a caller.
type rights int

const (
	mayNothing rights = iota
	mayLook
	mayAll // looks, judges, and gives orders, which may cost money
)

// LookToken returns the read-only token. It is derived from the other one, and does not reveal it.
func LookToken(token string) string { return derived(token, "look")[:32] }

// cookieOf returns the cookie for a token; empty where it is none of ours.
func (g *Guard) cookieOf(token string) string {
	switch {
	case token == "":
	case Same(token, g.token):
		return g.cookie
	case Same(token, g.look):
		return g.lookCookie
	}
	return ""
}

// rights reads what a caller may do from the header, or from the cookie.
func (g *Guard) rights(r *http.Request) rights {
	shown := ""
	if scheme, bearer, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		shown = g.cookieOf(bearer)
	} else if c, err := r.Cookie(cookieName(r.Host)); err == nil {
		shown = c.Value
	}
	switch {
	case Same(shown, g.cookie):
		return mayAll
	case Same(shown, g.lookCookie):
		return mayLook
	}
	return mayNothing
}

// FormsOf returns the secret of our forms, for those who may send any; without it, a page shows none.
func (g *Guard) FormsOf(r *http.Request) string {
	if g.rights(r) == mayAll {
		return g.csrf
	}
	return ""
}

// OwnForm reports whether a form was made by this dashboard.
func (g *Guard) OwnForm(r *http.Request) bool { return Same(r.PostFormValue("csrf"), g.csrf) }

// Proof returns a secret that only this dashboard can make of a text; proves checks one that came back.
func (g *Guard) Proof(text string) string { return derived(g.token, text) }

// signOutPath takes a reader's cookie away.
const signOutPath = "/signout"

func signOut(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r.Host), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
