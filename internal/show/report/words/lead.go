package words

import (
	"strings"
)

// maxLead is the greatest length of a description before the answer, in bytes.
const maxLead = 240

// Lead returns a short description, shown before the answer. A long one comes after it.
func Lead(description string) (lead, about string) {
	description = strings.TrimSpace(description)
	if len(description) <= maxLead && !strings.Contains(description, "\n") {
		return description, ""
	}
	return "", description
}
