package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/gateway/openai"
)

// overBudget returns the error of a user whose budget does not cover a call.
func overBudget(format string, args ...any) error {
	return openai.Wrong(http.StatusTooManyRequests, "insufficient_quota", "", "You exceeded your current quota: %s.",
		fmt.Sprintf(format, args...))
}

// bounded reports whether a budget holds for a user.
func (s *Server) bounded(u *User) bool { return u.Budget != nil || s.Budget != nil }

// allowance returns what a user may spend, and whether they are a user of this gateway still: one who is not spends under its own
// budget alone, and is given no more money.
func (s *Server) allowance(user string) (a store.Allowance, known bool) {
	a = store.Allowance{Owner: user, All: s.Budget}
	for _, u := range *s.users.Load() {
		if u.Name == user {
			a.Own, known = u.Budget, true
		}
	}
	return a, known
}

// uncovered returns the error for what the budgets do not cover by the ledger's sums.
func uncovered(err error, what string) error {
	var e *store.AllowanceError
	switch {
	case errors.As(err, &e) && e.Left <= 0:
		return overBudget("the budget of %s is spent", e.Most)
	case errors.As(err, &e):
		return overBudget("this %s may cost %s, and %s of the budget is left (a smaller max_tokens lowers it)", what, e.Need, e.Left)
	case errors.Is(err, store.ErrBudget):
		return overBudget("this %s may cost any amount", what)
	}
	return err
}

// left returns what a user may still spend; nil: they have no budget, and neither has the gateway. What is open may still cost
// its most, and counts so. It is a first look: what is taken of it is taken in the ledger.
func (s *Server) left(ctx context.Context, u *User) (*assay.Money, error) {
	if !s.bounded(u) {
		return nil, nil
	}
	users, err := s.Home.Ledger.Clients.ClientUsage(ctx)
	if err != nil {
		return nil, err
	}
	var own, all assay.Money
	for _, used := range users {
		all += used.Taken
		if used.Owner == u.Name {
			own = used.Taken
		}
	}
	var left *assay.Money
	for _, b := range []struct {
		most  *assay.Money
		taken assay.Money
	}{{u.Budget, own}, {s.Budget, all}} {
		if b.most == nil {
			continue
		}
		rest := *b.most - b.taken
		if rest <= 0 {
			return nil, overBudget("the budget of %s is spent", *b.most)
		}
		if left == nil || rest < *left {
			left = &rest
		}
	}
	return left, nil
}
