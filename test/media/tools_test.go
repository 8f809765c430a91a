package media

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// TestToolsAreCalledAlikeLiveAndInBatches asks six providers for calls of tools, live and in batches: the same calls, the same verdicts.
func TestToolsAreCalledAlikeLiveAndInBatches(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cities := []string{"Paris", "Lima", "Oslo", "Cairo", "Quito"}
	rows := "id,city,question\n"
	for i := range 200 {
		city := cities[i%len(cities)]
		question := fmt.Sprintf("Question %d: what is the weather in %s?", i, city)
		if i%4 == 3 {
			question = fmt.Sprintf("Question %d: is %s a large city?", i, city)
		}
		rows += fmt.Sprintf("q%03d,%s,%s\n", i, city, question)
	}
	b.write("questions.csv", []byte(rows))
	b.write("city.json", []byte(`{"type":"object","properties":{"city":{"type":"string","enum":["`+strings.Join(cities, `","`)+
		`"]},"unit":{"type":"string","enum":["C","F"]}},"required":["city","unit"],"additionalProperties":false}`))
	var calls, labels []map[string]string
	for _, mode := range []string{"live", "batch"} {
		b.study(mode, `inputs: {questions: {file: questions.csv}}
`+sixLanes+`stages:
  - name: called
    ask: questions
    prompt: "{{ question }}"
    tools:
    - {name: weather, description: Tells the weather in a city, parameters: city.json}
    - {name: convert, description: Converts a temperature, parameters: city.json}
  - {name: right, judge: called, rubric: {rule: {tool: {name: weather, arguments: {city: "{{ city }}"}}}}}
`)
		b.costs(mode, nil, 200)
		got, judged, named := map[string]string{}, map[string]string{}, 0
		for _, row := range b.table(mode + "/answers.csv") {
			at := row["lane"] + " " + row["item"]
			var list []struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if row["tool_calls"] != "" && json.Unmarshal([]byte(row["tool_calls"]), &list) != nil {
				t.Fatalf("%s: calls %s", at, row["tool_calls"])
			}
			got[at] = ""
			for _, c := range list { // ids are the provider's
				got[at] += c.Name + string(c.Arguments)
				named++
			}
		}
		for _, row := range b.table(mode + "/verdicts.csv") {
			judged[row["lane"]+" "+row["item"]] = row["label"]
		}
		if named < 300 || named == len(got) {
			t.Errorf("%s: %d calls in %d answers", mode, named, len(got))
		}
		calls, labels = append(calls, got), append(labels, judged)
	}
	if len(calls[0]) != 1200 || !maps.Equal(calls[0], calls[1]) || !maps.Equal(labels[0], labels[1]) {
		for at, was := range calls[0] {
			if is := calls[1][at]; is != was {
				t.Errorf("%s: live %q, in a batch %q", at, was, is)
				break
			}
		}
		t.Errorf("%d and %d answers, %d and %d verdicts: not the same", len(calls[0]), len(calls[1]), len(labels[0]), len(labels[1]))
	}
}
