package cloud

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"assay/artifacts"
)

// s3 is a bucket behind the S3 protocol.
type s3 struct {
	core   minio.Core
	bucket string
	where  string
}

// openS3 opens a bucket with the credentials of the environment, of the AWS credentials file, or of the machine's role.
func openS3(a address, env func(string) string) (artifacts.Objects, error) {
	region := cmp.Or(a.region, env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1")
	server, lookup, where := a.endpoint, minio.BucketLookupPath, "s3://"+a.bucket
	if text := cmp.Or(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL")); server == nil && text != "" {
		var err error
		if server, err = endpoint(text); err != nil {
			return nil, err
		}
	}
	if server == nil {
		server, lookup = &url.URL{Scheme: "https", Host: "s3." + region + ".amazonaws.com"}, minio.BucketLookupAuto
	} else {
		where = "s3://" + server.Host + "/" + a.bucket
	}
	client, err := minio.New(server.Host, &minio.Options{
		Creds: credentialsOf(env), Secure: server.Scheme == "https", Region: region, BucketLookup: lookup,
		MaxRetries: 3, // the engine goes on trying
	})
	if err != nil {
		return nil, err
	}
	return &s3{minio.Core{Client: client}, a.bucket, where}, nil
}

func credentialsOf(env func(string) string) *credentials.Credentials {
	if id, secret := env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		return credentials.NewStaticV4(id, secret, env("AWS_SESSION_TOKEN"))
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.FileAWSCredentials{Filename: env("AWS_SHARED_CREDENTIALS_FILE"), Profile: env("AWS_PROFILE")},
		&credentials.IAM{},
	})
}

// Put writes an object.
func (s *s3) Put(ctx context.Context, key string, body []byte) error {
	_, err := s.core.Client.PutObject(ctx, s.bucket, key, bytes.NewReader(body), int64(len(body)),
		minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true})
	return s.explained(err)
}

// Get reads n bytes from an offset.
func (s *s3) Get(ctx context.Context, key string, offset, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	var o minio.GetObjectOptions
	if err := o.SetRange(offset, offset+n-1); err != nil {
		return nil, err
	}
	body, _, _, err := s.core.GetObject(ctx, s.bucket, key, o)
	if err != nil {
		return nil, s.explained(err)
	}
	defer body.Close()
	got := make([]byte, n)
	if _, err := io.ReadFull(body, got); err != nil {
		return nil, s.explained(err)
	}
	return got, nil
}

// List walks over the objects whose keys begin so.
func (s *s3) List(ctx context.Context, prefix string) iter.Seq2[artifacts.Object, error] {
	return func(yield func(artifacts.Object, error) bool) {
		for o := range s.core.Client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			if o.Err != nil {
				yield(artifacts.Object{}, s.explained(o.Err))
				return
			}
			if !yield(artifacts.Object{Key: o.Key, Size: o.Size, Time: o.LastModified}, nil) {
				return
			}
		}
	}
}

// Delete removes an object.
func (s *s3) Delete(ctx context.Context, key string) error {
	return s.explained(s.core.Client.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
}

// String says where the objects are.
func (s *s3) String() string { return s.where }

// explained says which server an error came from. Only a key that is not there is fs.ErrNotExist: a bucket that is not there,
// or a server that cannot be reached, is not the same.
func (s *s3) explained(err error) error {
	if err == nil {
		return nil
	}
	var r minio.ErrorResponse
	if errors.As(err, &r) && r.Code == minio.NoSuchKey {
		return fs.ErrNotExist
	}
	return fmt.Errorf("%s: %w", s.where, err)
}
