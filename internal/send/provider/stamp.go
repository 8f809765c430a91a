package provider

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
)

// Stamp marks a job as ours: in its metadata, display name, label or file name, whatever the provider keeps.
type Stamp struct {
	Run     string
	Segment string
	Attempt int    // number of the create call of the segment that made it, from 1; 0: unknown
	SHA256  string // of the batch input's bytes, lower-case hex
}

// Same reports whether two stamps are of the same segment and bytes, whichever attempt each is.
func (s Stamp) Same(other Stamp) bool {
	s.Attempt, other.Attempt = 0, 0
	return s.Name() == other.Name() // a name holds only the beginning of a hash
}

// Attempts returns the stamps of this attempt and those before it, the newest first. The walk is bounded: what is older by far
// is history.
func (s Stamp) Attempts() []Stamp {
	const most = 10
	all := []Stamp{s}
	for n := s.Attempt - 1; n > 0 && len(all) < most; n-- {
		s.Attempt = n
		all = append(all, s)
	}
	return all
}

const (
	stampPrefix = "assay"
	stampSum    = 12 // characters of the hash in a name
	stampWord   = 19 // longest run or segment id that a name spells out
)

// Name returns the stamp in at most 63 characters of [a-z0-9-]: legal as a file name, display name, label and resource id.
func (s Stamp) Name() string {
	return strings.Join([]string{stampPrefix, nameWord(s.Run), nameWord(s.Segment), strconv.Itoa(s.Attempt), nameSum(s.SHA256)}, "-")
}

// Short returns the stamp in 32 characters, for ids that have to be shorter than a name.
func (s Stamp) Short() string { return stampPrefix + "-" + hash32(s.Name()) }

// Matches reports whether a name at the provider is this stamp's, of any attempt. It is compared as a whole, never by its
// beginning.
func (s Stamp) Matches(name string) bool {
	named, ok := ParseName(name)
	s.Attempt = named.Attempt
	return ok && s.Name() == name
}

// ParseName reads a name back as far as it goes: of the hash only the beginning, of long ids only a hash. The second
// result is false for names that are not ours.
func ParseName(name string) (Stamp, bool) {
	f := strings.Split(name, "-")
	if len(f) != 5 || f[0] != stampPrefix || f[1] == "" || f[2] == "" || f[4] == "" {
		return Stamp{}, false
	}
	attempt, err := strconv.Atoi(f[3])
	if err != nil || attempt < 0 {
		return Stamp{}, false
	}
	return Stamp{Run: f[1], Segment: f[2], Attempt: attempt, SHA256: f[4]}, true
}

// nameWord returns the id itself if it is short and plain, else a hash of it.
func nameWord(id string) string {
	if id != "" && len(id) <= stampWord && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
		return id
	}
	return hash32(id)[:stampWord]
}

func nameSum(sum string) string {
	if len(sum) < stampSum {
		return hash32(sum)[:stampSum]
	}
	return sum[:stampSum]
}

func hash32(s string) string {
	sum := sha256.Sum256([]byte(s))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}
