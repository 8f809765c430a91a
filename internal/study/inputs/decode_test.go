package inputs

import (
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// decode reads what Encode wrote.
func decode(line []byte) (assay.Item, error) {
	if at, what, _ := fault(line); at >= 0 {
		return assay.Item{}, fmt.Errorf("decode item: %s at byte %d", what, at+1)
	}
	p := jsontext.NewParser()
	p.Deepest = maxEncoded
	v, err := p.Parse(line)
	if err != nil {
		return assay.Item{}, fmt.Errorf("decode item: %w", err)
	}
	members, ok := v.(map[string]any)
	if !ok {
		return assay.Item{}, fmt.Errorf("decode item: the line is %s", kindOf(v))
	}
	var it assay.Item
	if it.ID, ok = members["id"].(string); !ok {
		return assay.Item{}, errors.New("decode item: it has no id")
	}
	it.Cluster = it.ID
	for name, v := range members {
		if err := decodeMember(&it, name, v); err != nil {
			return assay.Item{}, fmt.Errorf("decode item %s: %w", quote(it.ID), err)
		}
	}
	return it, nil
}

func decodeMember(it *assay.Item, name string, v any) error {
	ok := true
	switch name {
	case "id":
	case "cluster":
		it.Cluster, ok = v.(string)
	case "expect":
		it.Expect, ok = v.(string)
	case "fields":
		it.Fields, ok = v.(map[string]any)
	case "place":
		it.Place, ok = decodePlace(v)
	default:
		return fmt.Errorf("unknown member %s", quote(name))
	}
	if !ok {
		return fmt.Errorf("member %s is %s", quote(name), kindOf(v))
	}
	return nil
}

func decodePlace(v any) (assay.Place, bool) {
	list, ok := v.([]any)
	if !ok || len(list) != 3 {
		return assay.Place{}, false
	}
	file, a := list[0].(string)
	line, b := list[1].(int64)
	col, c := list[2].(int64)
	return assay.Place{File: file, Line: int(line), Col: int(col)}, a && b && c
}
