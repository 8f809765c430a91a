package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// TestARepeatedRequestIsPassedOver reads a record whose echo has more values than are read of one line.
func TestARepeatedRequestIsPassedOver(t *testing.T) {
	t.Parallel()
	echo := `{"x":[` + strings.Repeat(`0,`, 1<<22) + `"]}"]}`
	line := `{"modelInput":` + echo +
		`,"recordId":"a","modelOutput":{"output":{"message":{"content":[{"text":"Yes."}]}},"stopReason":"end_turn"}}`
	var d dialect.Decoder
	if got := d.Line(assay.Wire{Dialect: assay.DialectConverse, Carrier: assay.CarrierBedrock}, []byte(line)); got.ID != "a" ||
		got.Outcome.Text != "Yes." {
		t.Errorf("%s %+v %v", got.ID, got.Outcome, got.Outcome.Fault)
	}
	for _, cut := range []string{`{"modelInput":{"a":"b`, `{"modelInput":{"a":[`, `{"modelInput":`, `{"modelInput":}`, `{"modelInput":{}]`,
		`{"modelInput":{} "recordId":"a"}`} {
		if got := d.Line(assay.Wire{Dialect: assay.DialectConverse, Carrier: assay.CarrierBedrock}, []byte(cut)); !got.Malformed {
			t.Errorf("%s: %+v", cut, got)
		}
	}
	if got := d.Line(assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierOpenAI},
		[]byte(`{"modelInput":{"a":"b`)); !got.Malformed {
		t.Error("a cut line of another form was read")
	}
}

func TestRecordsAreRecognised(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]assay.Dialect{
		`{"recordId":"a","modelInput":{},"modelOutput":{"output":{"message":{}}}}`: assay.DialectConverse,
		`{"recordId":"a","modelInput":{},"modelOutput":{"choices":[]}}`:            assay.DialectChat,
		`{"recordId":"a","modelInput":{},"modelOutput":{"content":[]}}`:            assay.DialectMessages,
		`{"recordId":"a","modelInput":{},"error":{"errorCode":400}}`:               assay.DialectConverse,
	} {
		w, err := dialect.WireOf([]byte(line))
		if diff := cmp.Diff(assay.Wire{Carrier: assay.CarrierBedrock, Dialect: want}, w); diff != "" || err != nil {
			t.Errorf("%s: %v %s", line, err, diff)
		}
	}
	if _, err := dialect.WireOf([]byte(`{"recordId":"a","modelInput":{}}`)); err != dialect.ErrRequest {
		t.Error(err)
	}
}

func TestErrorsOfAmazonsServicesAreClassified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		kind, body string
		want       assay.Fault
	}{
		{400, "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/", `{"message":"bad"}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 400, Code: "ValidationException", Message: "bad"}},
		{400, "", `{"__type":"com.amazon.coral.service#ThrottlingException","Message":"slow down"}`,
			assay.Fault{Class: assay.FaultBusy, Status: 400, Code: "ThrottlingException", Message: "slow down"}},
		{400, "ServiceQuotaExceededException", `{"message":"too many jobs"}`,
			assay.Fault{Class: assay.FaultBusy, Status: 400, Code: "ServiceQuotaExceededException", Message: "too many jobs"}},
		{424, "ModelErrorException", `{"message":"failed","originalStatusCode":500}`,
			assay.Fault{Class: assay.FaultBusy, Status: 424, Code: "ModelErrorException", Message: "failed"}},
		{400, "ExpiredTokenException", `{"message":"expired"}`,
			assay.Fault{Class: assay.FaultDenied, Status: 400, Code: "ExpiredTokenException", Message: "expired"}},
		{403, "", `<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>does not match</Message><StringToSign>secret</StringToSign></Error>`,
			assay.Fault{Class: assay.FaultDenied, Status: 403, Code: "SignatureDoesNotMatch", Message: "does not match"}},
		{404, "", `<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>`,
			assay.Fault{Class: assay.FaultGone, Status: 404, Code: "NoSuchKey", Message: "no such key"}},
		{503, "", `<Error><Code>SlowDown</Code></Error>`, assay.Fault{Class: assay.FaultBusy, Status: 503, Code: "SlowDown"}},
	} {
		if diff := cmp.Diff(c.want, dialect.ClassifyAs(c.status, c.kind, []byte(c.body))); diff != "" {
			t.Errorf("%s %s: %s", c.kind, c.body, diff)
		}
	}
}

func TestALiveReplyOfConverseMayBeAnError(t *testing.T) {
	t.Parallel()
	var d dialect.Decoder
	got := d.Body(assay.DialectConverse, []byte(`{"__type":"ThrottlingException","message":"wait"}`))
	if got.Fault == nil || got.Fault.Class != assay.FaultBusy {
		t.Errorf("%+v %v", got, got.Fault)
	}
}

// xAI counts thoughts beside the answer's tokens: a line of its own form says so.
func TestAnXAILineCountsThoughtsApart(t *testing.T) {
	t.Parallel()
	w, err := dialect.WireOf([]byte(`{"batch_request_id":"a","batch_result":{"response":{}}}`))
	want := assay.Wire{Carrier: assay.CarrierOpenAI, Dialect: assay.DialectChat, ReasoningApart: true}
	if d := cmp.Diff(want, w); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
}
