package assay_test

import (
	"encoding/hex"
	"testing"

	"assay/internal/assay"
)

func TestPartsChangeADigestAndNothingElseDoes(t *testing.T) {
	t.Parallel()
	digest := func(m assay.Message) string {
		r := assay.Request{Lane: &assay.Lane{Model: "m"}, Prompt: &assay.Prompt{Messages: []assay.Message{m}}}
		return hex.EncodeToString(r.Digest("u", []byte("{}"), 0))
	}
	picture := func(sum byte, detail string) assay.Message {
		return assay.Message{Role: assay.RoleUser, Parts: []assay.Part{{Text: "a"},
			{Media: &assay.Media{Kind: assay.MediaImage, Sum: [32]byte{sum}, Detail: detail}}}}
	}
	const plain = "652043a3db7426ea6953108ad2e010a8" // as it was before there were parts
	if got := digest(assay.Message{Role: assay.RoleUser, Text: "a"}); got != plain {
		t.Errorf("a text alone: %s, want %s", got, plain)
	}
	all := map[string]string{}
	for name, m := range map[string]assay.Message{
		"text": {Role: assay.RoleUser, Text: "a"}, "part": {Role: assay.RoleUser, Parts: []assay.Part{{Text: "a"}}},
		"picture": picture(1, ""), "another": picture(2, ""), "detail": picture(1, "low"),
		"two": {Role: assay.RoleUser, Parts: []assay.Part{{Text: "a"}, {Text: "b"}}},
	} {
		d := digest(m)
		if other, ok := all[d]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		all[d] = name
	}
	uploaded := picture(1, "")
	uploaded.Parts[1].Media.File = "file_1"
	if digest(uploaded) != digest(picture(1, "")) {
		t.Error("the same bytes, uploaded, are another question")
	}
}
