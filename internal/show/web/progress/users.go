package progress

import (
	"sort"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// userRow is the usage of a user of a gateway. Unknown usage and prices are counted apart.
type userRow struct {
	User      string   `json:"user"` // empty: all together
	Rehearsal bool     `json:"rehearsal"`
	Batches   int64    `json:"batches"`
	Keyless   int64    `json:"batches_without_key"` // open ones with a job that waits for the key that made it
	Requests  int64    `json:"batch_requests"`
	Calls     int64    `json:"calls"`
	Open      int64    `json:"calls_without_ending"`
	Input     int64    `json:"input_tokens_at_least"`
	Output    int64    `json:"output_tokens_at_least"`
	Unsaid    int64    `json:"replies_without_tokens"`
	Spent     float64  `json:"spent_at_least_usd"`
	Unpriced  int64    `json:"unpriced"`
	Taken     float64  `json:"taken_usd"`      // spent, and what is open may still cost at most, as far as that is known
	NoMost    int64    `json:"without_a_most"` // open, and not in it
	Budget    *float64 `json:"budget_usd"`
	Left      *float64 `json:"budget_left_usd"` // of it nothing is taken yet
}

// SpentText returns what was spent, in words.
func (r userRow) SpentText() string {
	return assay.Cost{Sum: assay.Dollars(r.Spent), Unknown: r.Unpriced}.String()
}

// Waiting returns what is open and may still cost.
func (r userRow) Waiting() float64 { return r.Taken - r.Spent }

type usersData struct {
	Users []userRow `json:"users"`
}

// Users shows what the users of gateways have used, and what is left of their budgets.
func (s *Pages) Users(q *site.Request) (*site.View, error) {
	data := usersData{Users: []userRow{}}
	for _, h := range s.Homes() {
		used, err := h.Clients.ClientUsage(q.Context())
		if err != nil {
			return nil, err
		}
		named, err := h.Clients.ClientUsers(q.Context())
		if err != nil {
			return nil, err
		}
		rows := rowsOfUsers(used, named)
		for i := range rows {
			rows[i].Rehearsal = h.Rehearsal
		}
		data.Users = append(data.Users, rows...)
	}
	return &site.View{Template: "users", Title: "Users of the gateway", Data: data, Live: "/news"}, nil
}

// rowsOfUsers returns all who have used something or may, by name, and then all together where they have a budget or
// are several.
func rowsOfUsers(used []store.ClientUsage, named []store.ClientUser) []userRow {
	var rows []userRow
	all, budgets := store.ClientUsage{}, map[string]*assay.Money{}
	seen := map[string]bool{}
	for _, u := range used {
		seen[u.Owner] = true
		all.Batches, all.Requests, all.Calls, all.Open = all.Batches+u.Batches, all.Requests+u.Requests, all.Calls+u.Calls, all.Open+u.Open
		all.Input, all.Output, all.Unsaid = all.Input+u.Input, all.Output+u.Output, all.Unsaid+u.Unsaid
		all.Spent, all.Unpriced, all.Taken = all.Spent+u.Spent, all.Unpriced+u.Unpriced, all.Taken+u.Taken
		all.NoMost, all.Keyless = all.NoMost+u.NoMost, all.Keyless+u.Keyless
	}
	for _, u := range named {
		budgets[u.Owner] = u.Budget
		if u.Owner != "" && !seen[u.Owner] {
			used = append(used, store.ClientUsage{Owner: u.Owner})
		}
	}
	sort.Slice(used, func(i, j int) bool { return used[i].Owner < used[j].Owner })
	for _, u := range used {
		rows = append(rows, rowOfUser(u, budgets[u.Owner]))
	}
	if len(rows) > 1 || budgets[""] != nil {
		rows = append(rows, rowOfUser(all, budgets[""]))
	}
	return rows
}

func rowOfUser(u store.ClientUsage, budget *assay.Money) userRow {
	r := userRow{User: u.Owner, Batches: u.Batches, Requests: u.Requests, Calls: u.Calls, Open: u.Open, Input: u.Input, Output: u.Output,
		Unsaid: u.Unsaid, Spent: u.Spent.Float(), Unpriced: u.Unpriced, Taken: u.Taken.Float(), NoMost: u.NoMost, Keyless: u.Keyless}
	if budget != nil {
		most, left := budget.Float(), max(0, *budget-u.Taken).Float()
		r.Budget, r.Left = &most, &left
	}
	return r
}
