package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/send/provider"
)

func TestMetadataHoldTheStampAndThePersonsWords(t *testing.T) {
	t.Parallel()
	stamp := provider.Stamp{Run: "r1", Segment: "s3", Attempt: 2, SHA256: "ab"}
	got := provider.BatchInput{Stamp: stamp, By: "ann", Note: "look\n" + strings.Repeat("é", 1000)}.Metadata()
	if len(got) != 6 || got["assay_by"] != "ann" || len(got["assay_note"]) > 500 || !strings.HasPrefix(got["assay_note"], `look\né`) {
		t.Errorf("got %v", got)
	}
	labels := provider.Labels{}
	for k, v := range got {
		labels[k] = v
	}
	if d := cmp.Diff(stamp, labels.Stamp()); d != "" {
		t.Error(d)
	}
	if bare := (provider.BatchInput{Stamp: stamp}).Metadata(); len(bare) != 4 {
		t.Errorf("without words: %v", bare)
	}
}
