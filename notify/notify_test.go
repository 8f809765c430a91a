package notify_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assay/notify"
)

func TestAMessageReachesAWebhook(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- string(body)
	}))
	defer server.Close()
	url := "generic+" + server.URL + "/hook"
	if err := notify.Send(context.Background(), []string{url}, "run abc is done"); err != nil {
		t.Fatal(err)
	}
	if body := <-got; !strings.Contains(body, "run abc is done") {
		t.Errorf("the hook got %q", body)
	}
}

func TestErrorsNameTheServiceAndNoSecret(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for _, url := range []string{"generic+" + server.URL + "/secret-token", "nosuch://secret-token@x", "secret-token"} {
		err := notify.Send(context.Background(), []string{url}, "x")
		if err == nil {
			t.Fatalf("%s was taken", url)
		}
		if strings.Contains(err.Error(), "secret-token") {
			t.Errorf("the error shows the secret: %s", err)
		}
	}
}
