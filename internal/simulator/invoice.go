package simulator

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/rates"
)

// invoice sums what was billed by provider, day, model and terms.
type invoice struct {
	mu   sync.Mutex
	sums map[invoiceKey]invoiceSum
}

type invoiceKey struct {
	provider, model string
	day             time.Time // in UTC
	terms           rates.Terms
}

type invoiceSum struct {
	requests int
	usage    bodies.Usage
}

// invoiceLine is one line of an invoice.
type invoiceLine struct {
	invoiceKey
	invoiceSum
	cost rates.Bill
}

func newInvoice() *invoice { return &invoice{sums: map[invoiceKey]invoiceSum{}} }

func (v *invoice) add(c bodies.Charge) {
	key := invoiceKey{c.Vendor, c.Model, c.When.UTC().Truncate(24 * time.Hour), rates.Terms{Batch: c.Job != "", Tier: c.Tier}}
	v.mu.Lock()
	defer v.mu.Unlock()
	sum := v.sums[key]
	sum.requests++
	sum.usage.Add(c.Usage)
	v.sums[key] = sum
}

// lines returns the lines of one provider by day and model. Models without a price are left out.
func (v *invoice) lines(provider string) []invoiceLine {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []invoiceLine
	for key, sum := range v.sums {
		if card, ok := rates.Of(key.provider, key.model); ok && key.provider == provider {
			out = append(out, invoiceLine{key, sum, card.Bill(sum.usage, key.terms)})
		}
	}
	slices.SortFunc(out, func(a, b invoiceLine) int {
		batch := func(l invoiceLine) int {
			if l.terms.Batch {
				return 1
			}
			return 0
		}
		return cmp.Or(a.day.Compare(b.day), cmp.Compare(a.model, b.model), batch(a)-batch(b), cmp.Compare(a.terms.Tier, b.terms.Tier))
	})
	return out
}

// charge returns what is called with every live charge: the invoice takes it, and who wants to know.
func (s *Server) charge(tell func(Charge)) func(bodies.Charge) {
	return func(c bodies.Charge) {
		s.live.add(c)
		if tell != nil {
			tell(newCharge(c))
		}
	}
}

// invoice returns all that was billed by now, live and in batches.
func (s *Server) invoice() (*invoice, error) {
	all := newInvoice()
	s.live.mu.Lock()
	for key, sum := range s.live.sums {
		all.sums[key] = sum
	}
	s.live.mu.Unlock()
	return all, s.eachBatched(func(c bodies.Charge) error { all.add(c); return nil })
}

// showBill answers with what was billed as the provider's own console or admin API does:
// ?provider=openai|anthropic&report=costs|usage&format=json|csv.
func (s *Server) showBill(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	form, ok := reports[q.Get("provider")+" "+cmp.Or(q.Get("report"), "costs")]
	if !ok {
		http.Error(w, "want provider=openai or anthropic, and report=costs or usage", http.StatusBadRequest)
		return
	}
	all, err := s.invoice()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	lines := all.lines(q.Get("provider"))
	if q.Get("format") == "csv" {
		w.Header().Set("Content-Type", "text/csv")
		form.writeCSV(w, lines)
		return
	}
	writeJSON(w, form.page(lines))
}
