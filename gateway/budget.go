package gateway

import (
	"context"
	"fmt"
	"net/http"

	"assay"
)

// overBudget is the error of a user whose budget does not cover a call.
func overBudget(format string, args ...any) error {
	return wrong(http.StatusTooManyRequests, "insufficient_quota", "", "You exceeded your current quota: %s.", fmt.Sprintf(format, args...))
}

// bounded reports whether a budget holds for a user.
func (s *Server) bounded(u *User) bool { return u.Budget != nil || s.Budget != nil }

// spending lets one at a time look at what is left and take of it, where a budget holds. What it returns ends that.
func (s *Server) spending(u *User) (done func()) {
	if !s.bounded(u) {
		return func() {}
	}
	s.money.Lock()
	return s.money.Unlock
}

// left is what a user may still spend; nil: they have no budget, and neither has the gateway. What is open may still cost
// its most, and counts so.
func (s *Server) left(ctx context.Context, u *User) (*assay.Money, error) {
	if !s.bounded(u) {
		return nil, nil
	}
	users, err := s.Home.Ledger.ClientUsage(ctx)
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
