package hooks

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"
)

// Tokens verifies notices that carry a token (JWT, signed by RS256) in the place of a signature.
type Tokens struct {
	Audience string                                    // whom a token has to be made for
	Keys     func(ctx context.Context) ([]byte, error) // the provider's public keys, as a JSON Web Key Set

	mu      sync.Mutex
	known   map[string]*rsa.PublicKey
	asked   time.Time     // when the keys were last read, or were to be
	asking  chan struct{} // closed when the keys that are being read have come; nil: none are
	waiting int           // notices that wait for them
}

const (
	// keysLast is how long keys are believed, and keysRest how long none are asked for after they were: forged tokens name any key.
	keysLast, keysRest = time.Hour, time.Minute
	// longestToken is how many bytes a token may have, and weakestKey how many bits a key must have.
	longestToken, weakestKey = 8 << 10, 2048
	// mostWaiting is how many notices with an unknown key wait for keys; more are refused, and their provider sends them again.
	mostWaiting = 100
)

// isToken reports whether a signature is a token.
func isToken(signature string) bool {
	return strings.Count(signature, ".") == 2 && !strings.ContainsAny(signature, ", ")
}

// verify checks a token's form, key, signature, audience and time.
func (t *Tokens) verify(ctx context.Context, token string, now time.Time) judgement {
	parts := strings.Split(token, ".")
	var head struct{ Alg, Kid string }
	if len(token) > longestToken || len(parts) != 3 || !decode(parts[0], &head) || head.Alg != "RS256" || head.Kid == "" {
		return forged
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	key := t.key(ctx, head.Kid, now)
	if err != nil || key == nil {
		return forged
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) != nil {
		return forged
	}
	var claims struct {
		Audience  audience `json:"aud"`
		Expires   float64  `json:"exp"`
		NotBefore float64  `json:"nbf"`
		Issued    float64  `json:"iat"`
	}
	if !decode(parts[1], &claims) || !slices.Contains(claims.Audience, t.Audience) || claims.Expires == 0 {
		return forged
	}
	soon := float64(now.Add(skew).Unix())
	if claims.Expires < float64(now.Add(-skew).Unix()) || claims.NotBefore > soon || claims.Issued > soon {
		return stale
	}
	return good
}

// key finds a public key by its id. One that is not known is asked for, now and then, by one call at a time. Notices whose key is known
// do not wait for it.
func (t *Tokens) key(ctx context.Context, id string, now time.Time) *rsa.PublicKey {
	t.mu.Lock()
	key, age := t.known[id], now.Sub(t.asked)
	if t.asking == nil && (key == nil && age >= keysRest || age >= keysLast) {
		t.asked, t.asking = now, make(chan struct{})
		go t.ask(context.WithoutCancel(ctx), t.asking) // who sent the notice may go away
	} else if key != nil {
		t.mu.Unlock()
		return key
	}
	asking := t.asking
	if asking == nil || t.waiting == mostWaiting {
		t.mu.Unlock()
		return key
	}
	t.waiting++
	t.mu.Unlock()
	select {
	case <-asking:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
	return t.known[id]
}

// ask reads the keys. Where they cannot be read, those that are known stay.
func (t *Tokens) ask(ctx context.Context, done chan struct{}) {
	defer close(done)
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	text, err := t.Keys(ctx)
	var keys map[string]*rsa.PublicKey
	if err == nil {
		keys, err = ParseKeys(text)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asking = nil; err == nil {
		t.known = keys
	}
}

// ParseKeys reads the RSA keys of a JSON Web Key Set. Others are left out.
func ParseKeys(text []byte) (map[string]*rsa.PublicKey, error) {
	var set struct {
		Keys []struct{ Kty, Kid, Use, Alg, N, E string }
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("read a JSON Web Key Set: %w", err)
	}
	keys := map[string]*rsa.PublicKey{}
	for _, k := range set.Keys {
		n, errN := base64.RawURLEncoding.DecodeString(k.N)
		e, errE := base64.RawURLEncoding.DecodeString(k.E)
		exponent := new(big.Int).SetBytes(e)
		if k.Kty != "RSA" || k.Kid == "" || k.Use != "" && k.Use != "sig" || errN != nil || errE != nil || len(e) > 4 ||
			8*len(n) < weakestKey || exponent.Int64() < 3 {
			continue
		}
		keys[k.Kid] = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("a JSON Web Key Set holds no RSA key of %d bits or more with an id", weakestKey)
	}
	return keys, nil
}

// audience is one text or a list.
type audience []string

// UnmarshalJSON reads either.
func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

func decode(part string, into any) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(b, into) == nil
}
