package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Secret is the key with which a provider signs its notices.
type Secret []byte

// ParseSecrets reads secrets that are parted by spaces or lines: while one is replaced, two are good. One that begins with whsec_ is
// base64 behind it, as the Standard Webhooks have it; any other is taken as it is.
func ParseSecrets(text string) ([]Secret, error) {
	var all []Secret
	for _, word := range strings.Fields(text) {
		coded, is := strings.CutPrefix(word, "whsec_")
		if !is {
			all = append(all, Secret(word))
			continue
		}
		key, err := base64.StdEncoding.DecodeString(coded)
		if err != nil || len(key) == 0 {
			return nil, fmt.Errorf("what follows whsec_ is no base64") // without its text
		}
		all = append(all, key)
	}
	return all, nil
}

// Sign returns the signature of a notice: the value of its header webhook-signature.
func (s Secret) Sign(id string, at time.Time, body []byte) string {
	return "v1," + base64.StdEncoding.EncodeToString(s.sum(id, strconv.FormatInt(at.Unix(), 10), body))
}

func (s Secret) sum(id, at string, body []byte) []byte {
	m := hmac.New(sha256.New, s)
	m.Write([]byte(id + "." + at + "."))
	m.Write(body)
	return m.Sum(nil)
}

// judgement is the result of checking a notice's signature.
type judgement int

const (
	forged judgement = iota
	stale
	good
)

// verify checks a notice against all secrets; any of its signatures may match any of them.
func verify(secrets []Secret, id, at, signatures string, body []byte, now time.Time) judgement {
	seconds, err := strconv.ParseInt(at, 10, 64)
	if id == "" || len(id) > 256 || err != nil || !signed(secrets, id, at, signatures, body) {
		return forged
	}
	if d := now.Unix() - seconds; d > int64(skew/time.Second) || d < -int64(skew/time.Second) {
		return stale
	}
	return good
}

func signed(secrets []Secret, id, at, signatures string, body []byte) bool {
	sums := make([][]byte, len(secrets))
	for i, s := range secrets {
		sums[i] = s.sum(id, at, body)
	}
	matches := false
	for _, word := range strings.Fields(signatures) {
		coded, is := strings.CutPrefix(word, "v1,")
		got, err := base64.StdEncoding.DecodeString(coded)
		if !is || err != nil {
			continue
		}
		for _, want := range sums {
			matches = hmac.Equal(got, want) || matches
		}
	}
	return matches
}
