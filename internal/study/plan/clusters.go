package plan

import (
	"context"
	"slices"

	"assay/internal/study"
)

// clusterAlike is which part of what varies is assumed to be the same for all items of a cluster.
const clusterAlike = 0.2

// effect is how many items count as one, because several share a cluster. Where variances were measured, they are those of whole clusters.
func (z *Size) effect(measured bool) float64 {
	if z.clusters == 0 {
		return 1
	}
	each := float64(z.items) / float64(z.clusters)
	if measured {
		return each
	}
	return 1 + (each-1)*clusterAlike
}

// clusters counts the clusters of the items of a stage; 0: each item stands alone.
func (m *maker) clusters(ctx context.Context, st *study.Stage) int64 {
	if !slices.ContainsFunc(m.Study.Inputs, func(in study.Entry[study.Input]) bool { return in.Value.Cluster != "" }) {
		return 0
	}
	seen, items := map[string]bool{}, 0
	for it, err := range m.FirstItems(ctx, m.Root(st), m.options.Limit) {
		if err != nil {
			return 0 // reported where the items are read
		}
		seen[it.Cluster] = true
		items++
	}
	if len(seen) == items {
		return 0
	}
	return int64(len(seen))
}
