package earlier

import (
	"encoding/binary"
	"testing"

	"assay/internal/assay"
)

// answersTo makes answers to one question under so many keys, all asked by run 1; those under even keys were taken over by run 2 first.
func answersTo(keys int) []firstAnswer {
	var out []firstAnswer
	for i := range keys {
		q := question{7, numbered(i)}
		if i%2 == 0 {
			out = append(out, firstAnswer{q, 2, 1, uint64(1_000_000 + i)})
		}
		out = append(out, firstAnswer{q, 1, 0, uint64(i)})
	}
	return out
}

func numbered(i int) (k assay.Key) {
	binary.BigEndian.PutUint64(k[:], uint64(i))
	return k
}

func TestAnswersToEqualQuestionsServeOneRequestEach(t *testing.T) {
	t.Parallel()
	const keys = 100_000 // each with an answer: a comparison of all with all would not end
	var asked []question
	for i := range keys / 2 {
		asked = append(asked, question{7, numbered(i)})
	}
	for i := range keys {
		asked = append(asked, question{7, numbered(10*keys + i)})
	}
	o := &Answers{taken: map[uint64]bool{}}
	if n := o.match(answersTo(keys), asked); n != keys {
		t.Errorf("%d requests have an answer, of %d answers", n, keys)
	}
	for _, subject := range []uint64{0, 1_000_000, 1, keys - 1} {
		if !o.taken[subject] {
			t.Errorf("subject %d is not taken", subject)
		}
	}
	if o.taken[1_000_000+keys-2] {
		t.Error("an answer that was taken over itself serves a request under another key")
	}
}
