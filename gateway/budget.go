package gateway

import (
	"context"
	"fmt"
	"net/http"

	"assay"
	"assay/store"
)

// overBudget is the error of a user whose budget does not cover a call.
func overBudget(format string, args ...any) error {
	return wrong(http.StatusTooManyRequests, "insufficient_quota", "", "You exceeded your current quota: %s.", fmt.Sprintf(format, args...))
}

// left is what a user may still spend; nil: they have no budget, and neither has the gateway. What open batches may still
// cost is taken.
func (s *Server) left(ctx context.Context, u *User) (*assay.Money, error) {
	if u.Budget == nil && s.Budget == nil {
		return nil, nil
	}
	taken, err := s.taken(ctx)
	if err != nil {
		return nil, err
	}
	var all assay.Money
	for _, m := range taken {
		all += m
	}
	var left *assay.Money
	for _, b := range []struct {
		most  *assay.Money
		taken assay.Money
	}{{u.Budget, taken[u.Name]}, {s.Budget, all}} {
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

// taken is what every user has spent, with what their open batches may still cost.
func (s *Server) taken(ctx context.Context) (map[string]assay.Money, error) {
	runs, err := s.runs(ctx, "", store.RunOpen, store.RunClosed)
	if err != nil {
		return nil, err
	}
	taken := map[string]assay.Money{}
	for _, run := range runs {
		cost := run.Spent + run.Perhaps
		if run.State == store.RunOpen {
			cost += run.Reserved
			if run.Budget != nil {
				cost = max(cost, *run.Budget)
			}
		}
		taken[run.By] += cost
	}
	return taken, nil
}
