package tokens

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"
)

var update = flag.Bool("update", false, "write the vocabulary anew")

// reference returns the module that our counts are held against.
func reference(t testing.TB) tokenizer.Codec {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

func TestTheVocabularyIsThatOfTheReference(t *testing.T) {
	t.Parallel()
	codec := reference(t)
	slots, ends := make([]uint32, 1<<slotBits), make([]uint32, vocabularySize)
	var all strings.Builder
	for id := range uint(vocabularySize) {
		token, err := codec.Decode([]uint{id})
		if err != nil || token == "" {
			t.Fatalf("token %d: %q, %v", id, token, err)
		}
		at := hash([]byte(token))
		for slots[at] != 0 {
			at = (at + 1) % (1 << slotBits)
		}
		slots[at] = uint32(id) + 1
		all.WriteString(token)
		ends[id] = uint32(all.Len())
	}
	if _, err := codec.Decode([]uint{vocabularySize}); err == nil {
		t.Errorf("the reference has more than %d tokens", vocabularySize)
	}
	var want []byte
	for _, n := range slices.Concat(slots, ends) {
		want = binary.LittleEndian.AppendUint32(want, n)
	}
	want = append(want, all.String()...)
	if *update {
		if err := os.WriteFile("o200k.bin", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return // it is part of the next build
	}
	if !bytes.Equal(table, want) {
		t.Errorf("%d bytes of vocabulary differ from the %d of the reference: go test ./internal/study/tokens -update", len(table),
			len(want))
	}
}

func TestEveryTokenIsFoundByItsRank(t *testing.T) {
	t.Parallel()
	for rank := range uint32(vocabularySize) {
		if got := rankOf(token(rank)); got != rank {
			t.Fatalf("%q has rank %d, want %d", token(rank), got, rank)
		}
	}
	for _, none := range []string{"", "xq9~", strings.Repeat("z", 300)} {
		if got := rankOf([]byte(none)); got != noRank {
			t.Errorf("%q has rank %d and is no token", none, got)
		}
	}
}

// odd are texts at the edges of the expression that cuts a text into pieces.
var odd = []string{
	"", " ", "a", "Hello, world!", "hello  world   \n\n  x", "\r\n\r\n \t ", "   ", " \n ", "x \n\t\n  y", "\u00a0\u2003x", "\v\f\u0085",
	"I'm we'LL they'Re it'S can'T she'd I'Ve o'clock '", "'s", " 'll", "x'", "x'l", "x'r", "x'ſ", "'ſt", "X'SX",
	"HTTPServer camelCase XMLHttpRequest ABC abcDEF ǅx ǅ", "ʰAB ʰ ªAB", "\u0301AB", "\u0301", "e\u0301A\u0301B", " \u0301AB", "A\u0301",
	"\u0301\u0301ABa", "中文字符。日本語テキスト 한국어", "العربية ", "ไทย ", "हिन्दी", "emoji 👩‍👩‍👧 🎉🎉", "1234567 ²³¼ Ⅻ ٣٤٥٦ 1,000.50",
	"a/b//c /\r\n///x", " /", "!!\n/\n", "... \n", "<|endoftext|> <|endofprompt|>", "\xff\xfe", "caf\xc3", "a\xffb \xe4\xb8", "\ufffd",
	"a\x7f! \x7f\x7f",
	"{\"key\": [1, 2.5e-3, null]}\n\tfunc main() {}\n", strings.Repeat("a", 500), strings.Repeat("ab ", 300), strings.Repeat(" ", 300) +
		"x", strings.Repeat("=", 200), strings.Repeat("\n", 100), strings.Repeat("xyzzy", 100), strings.Repeat("你好", 200),
}

func TestCountsAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	codec, counter := reference(t), NewCounter()
	for _, text := range odd {
		agree(t, codec, counter, text)
		for i := range min(len(text), 100) { // and cut anywhere, even in a character
			agree(t, codec, counter, text[i:])
		}
	}
}

func FuzzCounts(f *testing.F) {
	for _, text := range odd {
		f.Add(text)
	}
	codec, counter := reference(f), NewCounter()
	f.Fuzz(func(t *testing.T, text string) { agree(t, codec, counter, text) })
}

// expression is that of the comment of cut. The group around it keeps the module from taking the reference's compiled form.
var expression = regexp2.MustCompile(
	`(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`+
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`+
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)`, regexp2.None)

func pieces(t testing.TB, text string) (all []string) {
	t.Helper()
	m, err := expression.FindStringMatch(text)
	for ; m != nil && err == nil; m, err = expression.FindNextMatch(m) {
		all = append(all, m.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// misread is what the reference's compiled expression cuts otherwise than the expression: of newlines with other space between them it
// ends a piece at the first, not at the last; and it leaves out a delete character (0x7f), which is a token.
var misread = regexp.MustCompile(`[\r\n][\t\v\f\x{85}\p{Z}]+[\r\n]|\x7f`)

// agree holds the pieces of a text against the expression, and its tokens against the reference.
func agree(t testing.TB, codec tokenizer.Codec, counter *Counter, text string) {
	t.Helper()
	var got []string
	for rest := []byte(string([]rune(text))); len(rest) > 0; {
		end := cut(rest)
		got, rest = append(got, string(rest[:end])), rest[end:]
	}
	if diff := cmp.Diff(pieces(t, text), got); diff != "" {
		t.Errorf("pieces of %q:\n%s", text, diff)
	}
	if misread.MatchString(text) {
		return
	}
	want, err := codec.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := counter.Count(text); got != want {
		t.Errorf("%q has %d tokens, want %d", text, got, want)
	}
}

func BenchmarkCount(b *testing.B) {
	c, text := NewCounter(), strings.Repeat(strings.Join(odd[:40], " "), 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Count(text)
	}
}
