// Package wire is the providers as they look from outside, one file or few per vendor: paths, documents, states and errors.
package wire

import (
	"assay/simulator/backend"
)

// Vendors are all that the simulator plays. Adding one is one file and one line.
func Vendors() []*backend.Vendor {
	b := newBuckets()
	return []*backend.Vendor{
		openAIVendor(), azureVendor(), groqVendor(), genericVendor(),
		anthropicVendor(),
		geminiVendor(), vertexVendor(b), gcsVendor(b),
		mistralVendor(), togetherVendor(),
		deepSeekVendor(), ollamaVendor(),
		xaiVendor(), fireworksVendor(), openRouterVendor(),
	}
}
