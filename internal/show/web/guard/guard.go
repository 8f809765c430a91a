// Package guard lets those in who know the token of a dashboard, and keeps other sites and other names out.
package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Guard keeps strangers out: other hosts' names, other sites' pages, callers without the token.
type Guard struct {
	token, cookie, csrf string
	look, lookCookie    string // of those who may look and do nothing else
	hosts               []string
	doors               Doors
	crossOrigin         *http.CrossOriginProtection
}

// Doors are the answers to those who are not let in.
type Doors struct {
	SignIn func(w http.ResponseWriter, r *http.Request, why string) // no token, or a wrong one
	Forbid func(w http.ResponseWriter, r *http.Request, err error)  // a token that does not allow it
}

// New returns the guard of a dashboard with a token.
func New(token string, hosts []string, d Doors) *Guard {
	look := LookToken(token)
	return &Guard{
		doors: d,
		token: token, cookie: derived(token, "cookie"), csrf: derived(token, "form"), hosts: hosts, look: look,
		lookCookie: derived(look, "cookie"), crossOrigin: http.NewCrossOriginProtection(),
	}
}

// derived returns a secret made from the token, so that neither a cookie nor a form gives the token away.
func derived(token, use string) string {
	h := hmac.New(sha256.New, []byte(token))
	h.Write([]byte(use))
	return hex.EncodeToString(h.Sum(nil))
}

func Same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// policy lets a page load what this server serves, and nothing else; no page has inline scripts or styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// Protect sets the rules for browsers on every answer, and refuses names that are not ours: a page of another site
// whose name suddenly points here (DNS rebinding) still calls us by its own name.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cache-Control", "no-store")
		if !g.knows(r.Host) {
			http.Error(w, "this dashboard is not called by that name: use the address that `assay view` printed, or allow the "+
				"name with --host", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knows reports whether a Host header is an address, localhost, or a name that was allowed.
func (g *Guard) knows(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" || slices.Contains(g.hosts, name)
}

// Admit lets those in who know the token: by the address that was printed, by the cookie it left, or by a header.
func (g *Guard) Admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cookie := g.cookieOf(r.URL.Query().Get("token")); cookie != "" && r.Method == http.MethodGet {
			g.welcome(w, r, cookie, WithoutToken(r.URL))
			return
		}
		if r.Method == http.MethodPost && r.URL.Path == signInPath {
			g.signIn(w, r)
			return
		}
		may := g.rights(r)
		if may == mayNothing {
			g.doors.SignIn(w, r, "")
			return
		}
		if err := g.crossOrigin.Check(r); err != nil {
			http.Error(w, "this came from another site: refused", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodPost && r.URL.Path == signOutPath {
			signOut(w, r)
			return
		}
		if may == mayLook && r.Method != http.MethodGet && r.Method != http.MethodHead {
			g.doors.Forbid(w, r, ErrLookOnly)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ErrLookOnly is the error of an order from one who may only look.
var ErrLookOnly = errors.New("your address is for looking: orders and verdicts need the one that `assay view` printed first")

// signInPath takes the token from the page that asks for it.
const signInPath = "/token"

// signIn lets a reader in who typed the token.
func (g *Guard) signIn(w http.ResponseWriter, r *http.Request) {
	if err := g.crossOrigin.Check(r); err != nil {
		http.Error(w, "this came from another site: refused", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxSignIn)
	cookie := g.cookieOf(strings.TrimSpace(r.PostFormValue("token")))
	if cookie == "" {
		g.doors.SignIn(w, r, "That is not the token of this dashboard.")
		return
	}
	to, err := url.Parse(r.PostFormValue("to"))
	if err != nil {
		to = &url.URL{Path: "/"}
	}
	g.welcome(w, r, cookie, WithoutToken(to))
}

// maxSignIn is as long as a form with a token may be.
const maxSignIn = 16 << 10

// welcome sets a cookie in place of the token. It comes along when a link in a mail or a chat is followed (Lax),
// and never with a form of another site.
func (g *Guard) welcome(w http.ResponseWriter, r *http.Request, cookie, to string) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r.Host), Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// cookieName has the port in it: browsers share cookies between ports, and two dashboards may run on one machine.
func cookieName(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		port = "80"
	}
	return "assay-" + port
}

// WithoutToken returns the same address on this server, fit to be seen in a history.
func WithoutToken(u *url.URL) string {
	q := u.Query()
	q.Del("token")
	to := url.URL{Path: "/" + strings.TrimLeft(u.Path, "/\\"), RawQuery: q.Encode()}
	return to.String()
}
