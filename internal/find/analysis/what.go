package analysis

import "cmp"

// What the findings of style control are called.
const (
	WhatControlled = "controlled strength" // what a strength would be if both answers looked alike
	WhatMoved      = "change by control"   // controlled minus plain
	WhatStyle      = "style effect"        // log odds that one standard deviation of a feature is worth
	WhatSwapped    = "changed order"       // share of pairs whose order is another one without style
)

// ByStyle is the feature that a finding is about.
const ByStyle = "style"

// What correlations with what is known are called.
const (
	WhatPearson  = "correlation"      // linear
	WhatSpearman = "rank correlation" // of ranks
)

// What the findings about the fit of strengths are called.
const (
	WhatDeviance = "deviance"         // from a fit that has a number for every pair
	WhatMisfit   = "misfit"           // share won against one opponent, minus what strengths predict
	WhatCircles  = "circular triples" // share of triples in which each beats the next
	WhatCircle   = "circle"           // one of them: the smallest of its three shares
)

// ByCircle names the three of a circle.
const ByCircle = "circle"

// What the findings about giving in are called, besides WhatRate.
const (
	WhatExplicit          = "explicit"           // share of explicit flips
	WhatExcess            = "excess"             // rate minus that of the control, on the same conversations
	WhatAny               = "any"                // flipped under any branch, minus flipped in any of as many control draws
	WhatRegressive        = "regressive"         // wrong after, of those right before
	WhatProgressive       = "progressive"        // right after, of those wrong before
	WhatRegressiveExcess  = "regressive excess"  // regressive minus that of the control, on the same conversations
	WhatProgressiveExcess = "progressive excess" // likewise
	WhatChange            = "change"             // share right after minus share right before (McNemar)
	WhatBatchScore        = "batch score"        // sycophancy as the batch benchmark scores it, 0 to 150
	WhatLiveScore         = "live score"         // as the live benchmark scores it, 0 to 170
	WhatResistance        = "resistance"         // percent of conversations without flip
	WhatBatchResistance   = "batch resistance"   // 100 minus the batch score, at least 0
	WhatFlipped           = "flipped"            // share of conversations, or of answers, with a flip of any kind
	WhatSoft              = "soft"               // share of soft flips
	WhatAgain             = "asked again"        // share of answers taken back when merely asked again
	WhatFirstStance       = "first stance"       // share of first answers that are as expected
)

// What the findings about single items are called.
const (
	WhatTelling        = "telling items"  // share of items on which any two lanes got something else
	WhatSeparates      = "separates"      // of one item: share of the pairs of lanes that got something else on it
	WhatDiscrimination = "discrimination" // of one item: correlation over lanes of what they got on it and on all others
)

// What the findings about judges are called.
const (
	WhatAgreement = "agreement" // share of equal labels, over pairs of judges
	WhatWith      = "agreement with others"
	WhatDistance  = "distance from others" // of scores: how far apart on the same answer
	WhatKappa     = "kappa"                // Cohen's, of two judges
	WhatFleiss    = "fleiss"               // Fleiss' kappa of all judges
	WhatAlpha     = "alpha"                // Krippendorff's
	WhatAC1       = "ac1"                  // Gwet's
	WhatOver      = "mean over judges"     // each of equal weight; with the error over items
	WhatSpread    = "spread over judges"   // sd of what the judges give a lane
	WhatCell      = "judge mean of lane"   // what one judge gives one lane
	WhatCellDelta = "judge delta of lane"
	WhatDelta     = "judge delta"        // how far a judge is above the mean of all judges of the same lanes
	WhatDeltaSD   = "judge delta spread" // sd of a judge's deltas over lanes
	WhatFamily    = "own family"         // delta on lanes of the judge's own family minus delta on others
)

// WhatDifference is the mean of the first lane minus that of the second over the items that both have.
const WhatDifference = "difference"

// WhatNoWorse is such a difference from a baseline, held against a margin.
const WhatNoWorse = "no worse"

// ByAgainst is the second lane of a difference.
const ByAgainst = "against"

// What the findings of comparisons are called.
const (
	WhatStrength    = "strength"         // natural-log scale, mean 0
	WhatOrder       = "order effect"     // advantage of being shown first, on the scale of strengths
	WhatTie         = "tie parameter"    // log of Davidson's nu
	WhatReliability = "reliability"      // share of the spread of strengths that is not error
	WhatWin         = "win rate"         // of all comparisons, a tie half
	WhatAverage     = "average win rate" // each opponent of equal weight
	WhatCorrected   = "corrected wins"   // share of pairs that it wins in both orders
	WhatElo         = "elo"              // mean over random orders
	WhatFirst       = "first wins"       // share of decided comparisons that the one shown first won
	WhatFirstBoth   = "first wins, both orders"
	WhatFirstMain   = "first wins, forward order" // of those shown as their names sort
	WhatFirstBack   = "first wins, reverse order" // of the same pairs, the other way round
	WhatConsistency = "consistency"               // share of pairs that the same one wins in both orders
	WhatSame        = "same both ways"            // ties included
	WhatCorrelation = "order correlation"         // of the verdicts in both orders
)

// What the findings of single answers are called; the share of a label is called as the label.
const (
	WhatRate = "rate" // share of the labels that score, of flips, or of the expected label
	WhatMean = "mean" // mean score
)

// What the findings about a judge's validity are called.
const (
	WhatSensitivity = "sensitivity"          // of what is yes, the share that the judge calls yes
	WhatSpecificity = "specificity"          // of what is no, the share that the judge calls no
	WhatAccuracy    = "accuracy"             // share of labels on which judge and gold agree
	WhatTrueRate    = "corrected rate"       // the rate freed from the judge's errors
	WhatTrueWins    = "corrected win share"  // the share of wins of a lane freed from them
	WhatTrueGap     = "corrected difference" // of two lanes, of what people would say
	WhatWrong       = "judge error"          // share of drawn labels on which judge and people differ; of scores, their mean distance
	WhatBias        = "judge bias"           // by how much the judge's word exceeds that of drawn labels
	WhatConfidence  = "overconfidence"       // how sure the judge is on average, minus the share of drawn labels on which it is right
	WhatFavours     = "favours"              // what the judge says more for a lane than for all, among answers that people call alike
)

// WhatRepeats is how often a judge says something else when it is asked the same again; of scores, how far they are apart.
const WhatRepeats = "repeat noise"

// GoldJudge is the judge of rows that a study's gold file gives.
const GoldJudge = "gold"

// WhatLength is the gain of an answer by being longer: of pairs, the log odds that the longer one wins, among
// comparisons of the same two; of single answers, the change of the value with twice the length, among answers of the
// same lane.
const WhatLength = "length effect"

// What the findings about variance are called.
const (
	WhatVariance = "variance"          // of a verdict, by the part that it comes from
	WhatPart     = "share of variance" // of all parts
	WhatError    = "error of the mean" // if items, templates and judges are a sample: as it is, and with more of one thing
)

// ByPart is the part that a variance comes from, and ByMore what there is more of.
const (
	ByPart = "part"
	ByMore = "more"
)

// called is what pages call a finding whose name in documents, which programs read, is short.
var called = map[string]string{
	WhatExcess:            "over the control",
	WhatRegressiveExcess:  "regressive, over the control",
	WhatProgressiveExcess: "progressive, over the control",
	WhatSpread:            "judges differ by",
	WhatCellDelta:         "milder than the others on this lane",
	WhatDelta:             "milder than the others",
	WhatDeltaSD:           "uneven over lanes by",
	WhatFamily:            "favours its own maker",
	WhatFavours:           "favours this lane",
	WhatLength:            "prefers long answers",
	WhatRepeats:           "differs when asked again",
}

// Called returns what pages call a finding.
func Called(what string) string { return cmp.Or(called[what], what) }
