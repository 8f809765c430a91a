package notify_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assay/internal/show/notify"
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

func TestAURLIsCheckedWithoutSendingAnything(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("something was sent") }))
	defer server.Close()
	for _, good := range []string{"generic+" + server.URL + "/hook",
		"smtp://me:password@" + server.Listener.Addr().String() + "/?from=a@example.com&to=b@example.com",
		"matrix://me:password@" + server.Listener.Addr().String() + "/?disableTLS=yes",
		"https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx",
		"https://discord.com/api/webhooks/123456789012345678/abc-DEF_ghi",
		"telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?chats=@news"} {
		if err := notify.Check(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"https-secret", "nosuch://secret", "smtp://", "telegram://secret", "slack://secret"} {
		err := notify.Check(bad)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
