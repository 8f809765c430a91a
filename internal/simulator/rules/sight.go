package rules

import (
	"net/http"
	"strings"

	"assay/internal/simulator/eyes"
)

// sight is what a provider lets its models see in one request; 0 is no limit.
type sight struct {
	types   string // of pictures, without "image/"
	strict  bool   // the type that a request claims must be that of the bytes
	bytes   int    // of a picture
	base64  int    // of a picture as it is written
	side    int    // pixels
	count   int    // pictures
	many    int    // with more pictures than these,
	small   int    // none may be larger than this
	pages   int
	sounds  bool
	papers  bool
	oneBody int // bytes of a body with base64
}

const usualPictures = "png jpeg webp gif"

func sightOf(vendor string) sight {
	switch vendor {
	case "openai":
		return sight{types: usualPictures, count: 1500, sounds: true, papers: true}
	case "azure":
		return sight{types: usualPictures, bytes: 20 << 20, count: 50, sounds: true, papers: true}
	case "anthropic":
		return sight{types: usualPictures, strict: true, base64: 10 << 20, side: 8000, count: 600, many: 20, small: 2000, pages: 600,
			papers: true, oneBody: 32 << 20}
	case "gemini", "vertex":
		return sight{types: "png jpeg webp other", count: 3600, pages: 1000, sounds: true, papers: true}
	case "bedrock":
		return sight{types: usualPictures, strict: true, bytes: 3_932_160, side: 8000, count: 20, sounds: true, papers: true}
	case "mistral":
		return sight{types: usualPictures, bytes: 10 << 20, count: 8, pages: 1000, sounds: true, papers: true}
	case "groq":
		return sight{types: "png jpeg", count: 5, oneBody: 4 << 20}
	case "together":
		return sight{types: "png jpeg webp", oneBody: 10 << 20}
	case "xai":
		return sight{types: "png jpeg", bytes: 10 << 20, oneBody: 25 << 20}
	case "fireworks":
		return sight{types: "png jpeg gif other", count: 30, oneBody: 10 << 20}
	case "deepseek":
		return sight{types: usualPictures, bytes: 32 << 20, side: 8192, count: 600, many: 14, small: 4096}
	}
	return sight{types: usualPictures, sounds: true, papers: true}
}

// Refuses returns why a provider does not take one thing. declared is the type that a request claims; encoded is how long it is there.
func Refuses(vendor string, t *eyes.Thing, declared string, encoded int) *Rejection {
	s := sightOf(vendor)
	switch t.Kind {
	case eyes.Document:
		if !s.papers {
			return Invalid("", "", "documents are not supported by this model")
		}
		if s.pages > 0 && t.Pages > s.pages {
			return Invalid("", "", "A maximum of %d PDF pages may be provided.", s.pages)
		}
		return nil
	case eyes.Sound:
		if !s.sounds {
			return Invalid("", "", "audio input is not supported by this model")
		}
		return nil
	}
	plain := strings.TrimPrefix(t.Type, "image/")
	switch {
	case !strings.Contains(" "+s.types+" ", " "+plain+" "):
		return Invalid("", "unsupported_image_media_type", "Unsupported image type %s: send one of %s.", t.Type, s.types)
	case s.strict && declared != "" && declared != t.Type:
		return Invalid("", "", "The image was specified using the %s media type, but the image appears to be a %s image", declared, t.Type)
	case s.base64 > 0 && encoded > s.base64:
		return Invalid("", "", "image exceeds %d MB maximum: %d bytes > %d bytes", s.base64>>20, encoded, s.base64)
	case s.bytes > 0 && t.Bytes > s.bytes:
		return Invalid("", "image_too_large", "The image has %d bytes; at most %d are allowed.", t.Bytes, s.bytes)
	case s.side > 0 && max(t.Width, t.Height) > s.side:
		return Invalid("", "image_too_large", "At least one of the image dimensions exceed max allowed size: %d pixels", s.side)
	}
	return nil
}

// Together returns what is wrong with all that a request shows a model, each of which would be taken alone.
func Together(vendor, model string, shown []eyes.Thing) *Rejection {
	s := sightOf(vendor)
	pictures, largest, bytes := 0, 0, 0
	for _, t := range shown {
		bytes += t.Bytes / 3 * 4
		if t.Kind == eyes.Picture {
			pictures, largest = pictures+1, max(largest, t.Width, t.Height)
		}
	}
	switch {
	case pictures > 0 && vendor == "deepseek" && strings.Contains(model, "pro"):
		return Invalid("", "", "This model does not support image input.")
	case s.count > 0 && pictures > s.count:
		return Invalid("", "too_many_images", "The request has %d images; at most %d are allowed.", pictures, s.count)
	case s.many > 0 && pictures > s.many && largest > s.small:
		return Invalid("", "", "At least one of the image dimensions exceed max allowed size for many-image requests: %d pixels", s.small)
	case s.oneBody > 0 && bytes > s.oneBody:
		return &Rejection{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Message: "Request exceeds the maximum size"}
	}
	return nil
}
