package gateway

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"

	"assay/internal/assay"
)

// User is one who may call the gateway.
type User struct {
	Name   string
	Budget *assay.Money // nil: none
	token  [sha256.Size]byte
}

// NewUser returns a user with a token. The token itself is not kept.
func NewUser(name, token string, budget *assay.Money) User {
	return User{Name: name, Budget: budget, token: sha256.Sum256([]byte(token))}
}

// leastToken is how many characters a token has at least.
const leastToken = 16

// ReadUsers reads a file of tokens: a user, their token and, if they have one, their budget on every line. Blank lines
// and those that begin with # are skipped. No error shows a token.
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
		if len(words) < 2 || len(words) > 3 {
			return nil, fmt.Errorf("line %d: want USER TOKEN [BUDGET]", no)
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

// userOf returns the user whose token a request shows; nil: none. All are compared, each in the same time.
func (s *Server) userOf(r *http.Request) *User {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	shown := sha256.Sum256([]byte(strings.TrimSpace(token)))
	var found *User
	for i := range s.Users {
		if subtle.ConstantTimeCompare(shown[:], s.Users[i].token[:]) == 1 {
			found = &s.Users[i]
		}
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
