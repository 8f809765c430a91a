package judge

// Trait is the quality by which two texts are compared.
type Trait struct {
	ID          string // as studies name it
	Name        string // as a judge reads it
	Description string
}

// Traits lists the built-in traits.
func Traits() []Trait {
	return []Trait{
		{"overall_quality", "overall quality", text("overall_quality")},
		{"organization", "organization", text("organization")},
	}
}

// BuiltinTrait returns the built-in trait of that id.
func BuiltinTrait(id string) (Trait, bool) {
	for _, t := range Traits() {
		if t.ID == id {
			return t, true
		}
	}
	return Trait{}, false
}
