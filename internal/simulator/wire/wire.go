// Package wire is the providers as they look from outside, one file or few per vendor: paths, documents, states and errors.
package wire

import (
	"assay/internal/simulator/backend"
)

// Vendors returns all that the simulator plays. Adding one is one file and one line.
func Vendors() []*backend.Vendor {
	b, s3 := newBuckets(), newS3()
	return []*backend.Vendor{
		openAIVendor(), azureVendor(), groqVendor(), genericVendor(),
		anthropicVendor(),
		geminiVendor(), vertexVendor(b), gcsVendor(b),
		bedrockVendor(s3), s3Vendor(s3),
		mistralVendor(), togetherVendor(),
		deepSeekVendor(), ollamaVendor(),
		xaiVendor(), fireworksVendor(), openRouterVendor(),
	}
}
