package web

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard keeps strangers out: other hosts' names, other sites' pages, callers without the token.
type guard struct {
	token, cookie, csrf string
	look, lookCookie    string // of those who may look and do nothing else
	hosts               []string
	crossOrigin         *http.CrossOriginProtection
}

func newGuard(token string, hosts []string) *guard {
	look := LookToken(token)
	return &guard{
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

func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// policy lets a page load what this server serves, and nothing else; no page has inline scripts or styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// protect sets the rules for browsers on every answer, and refuses names that are not ours: a page of another site
// whose name suddenly points here (DNS rebinding) still calls us by its own name.
func (g *guard) protect(next http.Handler) http.Handler {
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
func (g *guard) knows(host string) bool {
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

// admit lets those in who know the token: by the address that was printed, by the cookie it left, or by a header.
func (g *guard) admit(next http.Handler, s *Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cookie := g.cookieOf(r.URL.Query().Get("token")); cookie != "" && r.Method == http.MethodGet {
			g.welcome(w, r, cookie, withoutToken(r.URL))
			return
		}
		if r.Method == http.MethodPost && r.URL.Path == signInPath {
			g.signIn(w, r, s)
			return
		}
		may := g.rights(r)
		if may == mayNothing {
			s.refuse(w, r, "")
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
			s.fail(w, r, &problem{http.StatusForbidden,
				"your address is for looking: orders and verdicts need the one that `assay view` printed first"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// signInPath takes the token from the page that asks for it.
const signInPath = "/token"

// signIn lets a reader in who typed the token.
func (g *guard) signIn(w http.ResponseWriter, r *http.Request, s *Server) {
	if err := g.crossOrigin.Check(r); err != nil {
		http.Error(w, "this came from another site: refused", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxSignIn)
	cookie := g.cookieOf(strings.TrimSpace(r.PostFormValue("token")))
	if cookie == "" {
		s.refuse(w, r, "That is not the token of this dashboard.")
		return
	}
	to, err := url.Parse(r.PostFormValue("to"))
	if err != nil {
		to = &url.URL{Path: "/"}
	}
	g.welcome(w, r, cookie, withoutToken(to))
}

// maxSignIn is as long as a form with a token may be.
const maxSignIn = 16 << 10

// welcome sets a cookie in place of the token. It comes along when a link in a mail or a chat is followed (Lax),
// and never with a form of another site.
func (g *guard) welcome(w http.ResponseWriter, r *http.Request, cookie, to string) {
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

// withoutToken returns the same address on this server, fit to be seen in a history.
func withoutToken(u *url.URL) string {
	q := u.Query()
	q.Del("token")
	to := url.URL{Path: "/" + strings.TrimLeft(u.Path, "/\\"), RawQuery: q.Encode()}
	return to.String()
}

// refuse answers with how to sign in: a program by a header, a reader by typing the token.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, why string) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="assay"`)
	if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/metrics" {
		writeJSON(w, http.StatusUnauthorized,
			map[string]string{"error": "no token: send Authorization: Bearer TOKEN, as `assay view` printed it"})
		return
	}
	to := r.PostFormValue("to")
	if r.Method == http.MethodGet {
		to = withoutToken(r.URL)
	}
	var b bytes.Buffer
	if err := s.pages.signIn(&b, signInData{why, to}); err != nil {
		http.Error(w, "no token: open the address that `assay view` printed", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	w.Write(b.Bytes())
}

// signInData is the data of the sign-in page.
type signInData struct{ Why, To string }
