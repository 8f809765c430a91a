package recount

// costs checks what lanes cost in a stage, and for an answer.
func (c *checker) costs() {
	c.table = nil
	asked := map[string]bool{} // what identical answers spare has a verdict and no request
	for _, a := range c.Answers {
		asked[a.Key] = true
	}
	for _, claim := range c.Claims.Costs {
		c.about = "stage=" + claim.Stage + " lane=" + claim.Lane
		sum, spent, answers, valid, known, paid, sentAgain := 0.0, 0.0, 0, 0, true, true, false
		for _, a := range c.Answers {
			if a.Stage != claim.Stage || a.AskedLane != claim.Lane {
				continue
			}
			sentAgain = sentAgain || a.Attempts > 1 || a.SecondTry
			if stands(a.Ending) {
				answers++
			}
			c.reusedPrice(&a)
			if a.Price != nil {
				sum += *a.Price
			} else if stands(a.Ending) || a.unread() {
				known = false
			}
			if a.Imported {
				continue
			}
			if a.Cost != nil {
				spent += *a.Cost
			} else if stands(a.Ending) || a.unread() {
				paid = false
			}
		}
		for _, v := range c.Verdicts {
			if v.Stage == claim.Stage && v.Judge == claim.Lane && v.State == "valid" && asked[v.Key] {
				valid++
			}
		}
		c.count("price", "answers", answers, claim.Answers)
		if sentAgain { // rows have the cost of the attempt that counts
			c.Skipped["cost of what was sent again"]++
			c.perEach(claim, claim.Cost, valid)
			continue
		}
		c.same("price", "cost, at least", some(sum), some(claim.AtLeast))
		cost := someIf(known, sum)
		c.same("price", "cost", cost, claim.Cost)
		if !c.Doubled {
			c.same("price", "spent", someIf(paid, spent), claim.Spent)
		}
		c.perEach(claim, cost, valid)
	}
	c.about = ""
}

// reusedPrice checks that an answer of another run cost this one nothing.
func (c *checker) reusedPrice(a *Answer) {
	if a.ReusedFrom == "" {
		return
	}
	c.same("price", "cost of an answer that was taken over", some(0), a.Cost)
}

func someIf(known bool, x float64) *float64 {
	if !known {
		return nil
	}
	return some(x)
}

// perEach checks a cost for an answer and for a valid verdict.
func (c *checker) perEach(claim Cost, cost *float64, valid int) {
	each := func(n int) *float64 {
		if cost == nil || n == 0 {
			return nil
		}
		return some(*cost / float64(n))
	}
	c.same("price", "cost of 1,000 answers", thousand(each(claim.Answers)), thousand(claim.PerAnswer))
	c.same("price", "cost of 1,000 valid verdicts", thousand(each(valid)), thousand(claim.PerVerdict))
}

// unread reports whether a line came that nobody can read: what it cost is not known. Other errors cost nothing.
func (a *Answer) unread() bool { return a.Ending == "errored" && a.Cost == nil }

func thousand(x *float64) *float64 {
	if x == nil {
		return nil
	}
	return some(1000 * *x)
}

// stands reports whether a request that ended so has an answer.
func stands(ending string) bool {
	return ending == "answered" || ending == "cut" || ending == "refused"
}
