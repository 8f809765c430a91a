package gateway

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store/db"
)

// User is one who may call the gateway.
type User struct {
	Name   string
	Budget *assay.Money // nil: none
	Until  time.Time    // the token counts before this moment; zero: always
	token  [sha256.Size]byte
}

// NewUser returns a user with a token. The token itself is not kept.
func NewUser(name, token string, budget *assay.Money) User {
	return User{Name: name, Budget: budget, token: sha256.Sum256([]byte(token))}
}

// leastToken is how many characters a token has at least.
const leastToken = 16

// ReadUsers reads a file of tokens: a user, their token and, if they have one, their budget and the day from which the token counts no
// more (until=2027-01-31) on every line. Blank lines and those that begin with # are skipped. No error shows a token.
func ReadUsers(text []byte) ([]User, error) {
	var users []User
	tokens := map[[sha256.Size]byte]bool{}
	in := bufio.NewScanner(bytes.NewReader(text))
	for no := 1; in.Scan(); no++ {
		line := strings.TrimSpace(in.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		until, words, err := expiry(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", no, err)
		}
		if len(words) < 2 || len(words) > 3 {
			return nil, fmt.Errorf("line %d: want USER TOKEN [BUDGET] [until=DATE]", no)
		}
		if len(words[1]) < leastToken {
			return nil, fmt.Errorf("line %d: a token has at least %d characters", no, leastToken)
		}
		var budget *assay.Money
		if len(words) == 3 {
			m, err := assay.ParseMoney(words[2])
			if err != nil {
				return nil, fmt.Errorf("line %d: the budget: %w", no, err)
			}
			budget = &m
		}
		u := NewUser(words[0], words[1], budget)
		u.Until = until
		if tokens[u.token] {
			return nil, fmt.Errorf("line %d: the token stands there twice", no)
		}
		tokens[u.token] = true
		for _, other := range users {
			if other.Name == u.Name {
				return nil, fmt.Errorf("line %d: user %s stands there twice", no, assay.Clean(u.Name, 60))
			}
		}
		users = append(users, u)
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("no line has a user and a token")
	}
	return users, nil
}

// expiry takes the day from which a token counts no more off the end of a line; zero: there is none.
func expiry(words []string) (time.Time, []string, error) {
	day, ok := strings.CutPrefix(words[len(words)-1], "until=")
	if !ok {
		return time.Time{}, words, nil
	}
	until, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return until, nil, errors.New("want until=YEAR-MONTH-DAY, such as until=2027-01-31")
	}
	return until, words[:len(words)-1], nil
}

// everyUsers is how often the users are read again.
const everyUsers = 5 * time.Second

// refresh reads the users again until the context ends: one who was taken out of the file is no user any more. A file that cannot be
// read leaves them as they are. Calls of a gateway that was killed are ended, and so is this one under a newer ledger.
func (s *Server) refresh(ctx context.Context, end context.CancelCauseFunc) {
	trouble, ended := "", time.Time{}
	for s.Home.World.Clock().Sleep(ctx, everyUsers) == nil {
		if newer, ok := errors.AsType[*db.NewerError](s.Home.Ledger.Leases.Current(ctx)); ok {
			end(newer)
			return
		}
		if now := s.now(); now.Sub(ended) > time.Minute {
			ended = now
			if _, err := s.Home.Ledger.Clients.EndLostCalls(ctx, now.Add(-2*longestLive)); err != nil && ctx.Err() == nil {
				s.Log.Error("the calls of a gateway that was killed cannot be ended", "error", err)
			}
		}
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil && err.Error() != trouble {
			trouble = err.Error()
			s.Log.Error("the users cannot be read again: they stay as they were", "error", err)
		} else if err == nil {
			trouble = ""
		}
	}
}

// Refresh reads the users again, where there is something to read.
func (s *Server) Refresh(ctx context.Context) error {
	if s.Reread == nil {
		return nil
	}
	users, err := s.Reread()
	if err != nil || slices.EqualFunc(users, *s.users.Load(), sameUser) {
		return err
	}
	s.users.Store(&users)
	return s.Home.Ledger.Clients.PutClientUsers(ctx, s.named())
}

func sameUser(a, b User) bool {
	same := a.Budget == b.Budget || a.Budget != nil && b.Budget != nil && *a.Budget == *b.Budget
	return same && a.Name == b.Name && a.token == b.token && a.Until.Equal(b.Until)
}

// userOf returns the user whose token a request shows; nil: none. All are compared, each in the same time.
func (s *Server) userOf(r *http.Request) *User {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	shown := sha256.Sum256([]byte(strings.TrimSpace(token)))
	var found *User
	users := *s.users.Load()
	for i := range users {
		if subtle.ConstantTimeCompare(shown[:], users[i].token[:]) == 1 {
			found = &users[i]
		}
	}
	if found != nil && !found.Until.IsZero() && !s.now().Before(found.Until) {
		return nil
	}
	return found
}

// Variables returns what clients of a gateway need in their environment, one on a line; without a token, the address alone.
func Variables(address, token string) string {
	text := "OPENAI_BASE_URL=http://" + address + "/v1\n"
	if token != "" {
		text += "OPENAI_API_KEY=" + token + "\n"
	}
	return text
}
