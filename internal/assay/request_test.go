package assay_test

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"testing"

	"assay/internal/assay"
)

func TestKeysSurviveTheRoundTripWithHostileItemIDs(t *testing.T) {
	t.Parallel()
	legal := regexp.MustCompile(`^[a-z0-9_-]{1,63}$`)
	ids := []string{"", " ", "a b", "a_b", "a/b", `"`, "\x00", "\n", "🙂", "é", "EXP_1_vs_2", "../../etc/passwd",
		string(make([]byte, 1<<16))}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, rng.IntN(40))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		ids = append(ids, string(b))
	}
	seen := map[assay.Key]string{}
	for _, id := range ids {
		k := assay.Coordinates{Stage: "s", Item: id, Lane: "l"}.Key()
		if other, ok := seen[k]; ok && other != id {
			t.Fatalf("items %q and %q share key %s", id, other, k)
		}
		seen[k] = id
		custom := assay.CustomID(assay.PlanNonce, k)
		if !legal.MatchString(custom) {
			t.Fatalf("custom id %q is not legal everywhere", custom)
		}
		if got := string(assay.AppendCustomID(nil, assay.PlanNonce, k)); got != custom {
			t.Fatalf("AppendCustomID %q, CustomID %q", got, custom)
		}
		nonce, back, err := assay.ParseCustomID(custom)
		if err != nil || nonce != assay.PlanNonce || back != k {
			t.Fatalf("ParseCustomID(%q) = %s, %s, %v", custom, nonce, back, err)
		}
	}
}

func TestEveryCoordinateChangesTheKey(t *testing.T) {
	t.Parallel()
	all := []assay.Coordinates{
		{}, {Stage: "x"}, {Item: "x"}, {Lane: "x"}, {Template: "x"}, {Turn: 1}, {Branch: "x"}, {Draw: 1}, {Judge: "x"},
		{Source: "x"}, {Against: "x"}, {Prompt: "x"}, {Trait: "x"}, {Vote: 1}, {Again: 1}, {Again: 2}, {Again: 1, By: "x"}, {Prompt: "x",
			Trait: "x"}, {Lane: "x", Against: "x"}, {Stage: "xy"}, {Stage: "x", Item: "y"}, {Item: "xy"}, {Turn: 1, Draw: 1}, {Turn: -1},
	}
	seen := map[assay.Key]assay.Coordinates{}
	for _, c := range all {
		if other, ok := seen[c.Key()]; ok {
			t.Errorf("%+v and %+v share a key", c, other)
		}
		seen[c.Key()] = c
	}
	// The key is part of what is stored for years: it must not change between versions.
	if got, want := (assay.Coordinates{Stage: "answers", Item: "1", Lane: "gpt5.high", Turn: 1}).Key().String(),
		"7s5idvpphqfn7rqlcjkvbea7pi"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
}

func TestForeignCustomIDsAreRefused(t *testing.T) {
	t.Parallel()
	good := assay.CustomID(assay.PlanNonce, assay.Key{1})
	bad := []string{"", "request-001-initial", good + "x", good[1:], "b" + good[1:], good[:11] + "_" + good[12:], good[:5] + "A" + good[6:],
		good[:37] + "7"}
	for _, s := range bad {
		if _, _, err := assay.ParseCustomID(s); err == nil {
			t.Errorf("%q was taken for one of ours", s)
		}
	}
}

func TestNoncesHaveTheLengthThePlanReckonsWith(t *testing.T) {
	t.Parallel()
	n := assay.NonceFrom([7]byte{255, 255, 255, 255, 255, 255, 255})
	if len(n) != len(assay.PlanNonce) {
		t.Errorf("nonce %q has %d characters, the plan's has %d", n, len(n), len(assay.PlanNonce))
	}
}

func TestAKeyIsFoundByItsBeginning(t *testing.T) {
	t.Parallel()
	for i := range 200 {
		k := assay.Coordinates{Item: string(rune('a' + i))}.Key()
		for n := assay.LeastKey; n <= len(k.String()); n++ {
			first, last, err := assay.KeyRange(k.String()[:n])
			if err != nil || bytes.Compare(k[:], first[:]) < 0 || bytes.Compare(k[:], last[:]) > 0 {
				t.Fatalf("%d characters of %s: %s to %s, %v", n, k, first, last, err)
			}
			if got := first.String()[:n]; got != k.String()[:n] {
				t.Fatalf("the first key with %s is %s", k.String()[:n], first)
			}
		}
		if first, last, _ := assay.KeyRange(k.String()); first != k || last != k {
			t.Fatalf("a whole key means %s to %s", first, last)
		}
	}
	for _, bad := range []string{"", "abc", "abc1", "ABCD", "ab:cd", "abcdefghijklmnopqrstuvwxyz2"} {
		if _, _, err := assay.KeyRange(bad); err == nil {
			t.Errorf("%q is taken for the beginning of a key", bad)
		}
	}
}
