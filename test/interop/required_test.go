package interop

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
)

// field is the record that the OpenAI and Anthropic libraries keep of every member of a reply: how it was spelled, and whether it was
// understood.
type field interface {
	Raw() string
	Valid() bool
}

// wantWhole checks that a decoded reply has every member its library calls required, that every member there is has the
// type the library expects, and that of the required ones exactly those named are null.
func wantWhole(t *testing.T, reply any, nulls ...string) {
	t.Helper()
	f := &findings{}
	f.look(reflect.ValueOf(reply), "")
	if len(f.wrong) > 0 {
		t.Errorf("%T: %s", reply, strings.Join(f.wrong, "; "))
	}
	slices.Sort(nulls)
	slices.Sort(f.nulls)
	if diff := cmp.Diff(nulls, slices.Compact(f.nulls)); diff != "" {
		t.Errorf("%T: required members that are null (-want +got):\n%s", reply, diff)
	}
	if f.seen == 0 {
		t.Errorf("%T says nothing of its members: there is nothing to check", reply)
	}
}

type findings struct {
	wrong []string
	nulls []string
	seen  int
}

// look walks a decoded reply. Of a union it looks at the variant that came.
func (f *findings) look(v reflect.Value, at string) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if m := v.MethodByName("AsAny"); m.IsValid() {
		f.look(m.Call(nil)[0], at)
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			f.look(v.Index(i), at)
		}
	case reflect.Struct:
		if notes := v.FieldByName("JSON"); notes.IsValid() {
			f.members(v, notes, at)
		}
	}
}

func (f *findings) members(v, notes reflect.Value, at string) {
	for _, sf := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		meta := notes.FieldByName(sf.Name)
		if name == "" || name == "-" || !meta.IsValid() {
			continue
		}
		f.seen++
		path := strings.TrimPrefix(at+"."+name, ".")
		// A member that has one value only is required too; the libraries note that value instead.
		required := strings.Contains(sf.Tag.Get("api"), "required") || sf.Tag.Get("default") != ""
		switch m := meta.Interface().(field); {
		case m.Valid():
			f.look(v.FieldByIndex(sf.Index), path)
		case m.Raw() == "" && required:
			f.wrong = append(f.wrong, path+" is missing")
		case m.Raw() == "null" && required:
			f.nulls = append(f.nulls, path)
		case m.Raw() != "" && m.Raw() != "null":
			f.wrong = append(f.wrong, fmt.Sprintf("%s is not of the right type: %s", path, m.Raw()))
		}
	}
}

func TestTheCheckSeesWhatIsMissingMistypedAndNull(t *testing.T) {
	t.Parallel()
	var page struct{ Batches []openai.Batch }
	must(0, json.Unmarshal([]byte(`{"Batches":[{
		"id":"batch_1", "object":"batch", "endpoint":"/v1/responses", "input_file_id":null, "completion_window":"24h", "status":"validating",
		"errors":null, "request_counts":{"total":1,"completed":[],"failed":0}}]}`), &page))(t)
	f := &findings{}
	f.look(reflect.ValueOf(page.Batches), "")
	slices.Sort(f.wrong)
	if diff := cmp.Diff([]string{"created_at is missing", "request_counts.completed is not of the right type: []"}, f.wrong); diff != "" {
		t.Errorf("what is wrong (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"input_file_id"}, f.nulls); diff != "" {
		t.Errorf("required, but null (-want +got):\n%s", diff)
	}
}
