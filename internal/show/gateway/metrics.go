package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// metrics writes what users have used as numbers for Prometheus: those of the user who asks, and of all for the admin.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	users, err := s.Home.Ledger.Clients.ClientUsage(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	heads, lines := map[string]string{}, map[string][]string{}
	add := func(name, help, user string, value float64) {
		name = "assay_user_" + name
		heads[name] = fmt.Sprintf("# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
		lines[name] = append(lines[name], fmt.Sprintf("%s{user=%q} %g\n", name, user, value))
	}
	asking := userIn(r.Context()).Name
	shown := func(name string) bool { return name == asking || asking == s.Admin }
	for _, u := range users {
		if !shown(u.Owner) {
			continue
		}
		for _, n := range u.Numbers() {
			add(n.Name, n.Help, u.Owner, n.Value)
		}
	}
	for _, u := range *s.users.Load() {
		if u.Budget != nil && shown(u.Name) {
			add("budget_dollars", "What a user may spend.", u.Name, u.Budget.Float())
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		fmt.Fprint(w, heads[name], strings.Join(lines[name], ""))
	}
}
