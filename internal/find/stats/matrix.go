package stats

import (
	"math"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// The routines are called by their type, not through gonum's mat, which would link every routine there is: a megabyte of the binary.
var (
	products  blasgonum.Implementation
	solutions lapackgonum.Implementation
)

// symmetric is a matrix of which the upper triangle counts, row by row.
type symmetric struct {
	n    int
	data []float64
}

func newSymmetric(n int) *symmetric { return &symmetric{n, make([]float64, n*n)} }

func (s *symmetric) at(i, j int) float64 { return s.data[min(i, j)*s.n+max(i, j)] }

func (s *symmetric) set(i, j int, v float64) { s.data[min(i, j)*s.n+max(i, j)] = v }

// whole is the matrix with both triangles.
func (s *symmetric) whole() []float64 {
	all := make([]float64, s.n*s.n)
	for i := range s.n {
		for j := range s.n {
			all[i*s.n+j] = s.at(i, j)
		}
	}
	return all
}

// cholesky is a factor of a positive definite matrix, and how far its inverse can be trusted.
type cholesky struct {
	factor    symmetric
	condition float64
}

// tooIll is the condition above which nothing that is solved has a digit that counts.
const tooIll = 1e16

// factorize reports whether the matrix is positive definite. The matrix stays as it is.
func (c *cholesky) factorize(a *symmetric) bool {
	n := a.n
	if c.factor.n != n {
		c.factor = *newSymmetric(n)
	}
	copy(c.factor.data, a.data)
	if n == 0 {
		return false
	}
	work := make([]float64, 3*n)
	norm := solutions.Dlansy(lapack.MaxRowSum, blas.Upper, n, a.data, n, work)
	if !solutions.Dpotrf(blas.Upper, n, c.factor.data, n) {
		return false
	}
	c.condition = 1 / solutions.Dpocon(blas.Upper, n, c.factor.data, n, norm, work, make([]int, n))
	return true
}

// inverse is that of the matrix; false where it is too ill-conditioned to have one that counts.
func (c *cholesky) inverse() (*symmetric, bool) {
	out := &symmetric{c.factor.n, append([]float64(nil), c.factor.data...)}
	solutions.Dpotri(blas.Upper, out.n, out.data, out.n)
	return out, !(c.condition > tooIll)
}

// solve turns b into the solution; false where the matrix is too ill-conditioned.
func (c *cholesky) solve(b []float64) bool {
	solutions.Dpotrs(blas.Upper, c.factor.n, 1, c.factor.data, c.factor.n, b, 1)
	return !(c.condition > tooIll)
}

// product of two square matrices.
func product(n int, a, b []float64) []float64 {
	out := make([]float64, n*n)
	products.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, out, n)
	return out
}

// root is a square matrix, row by row, that gives s when multiplied by its transpose; false where no eigenvalues are found. Values
// below 0 are taken for 0.
func (s *symmetric) root() ([]float64, bool) {
	n := s.n
	vectors, values := append([]float64(nil), s.data...), make([]float64, n)
	size := make([]float64, 1)
	solutions.Dsyev(lapack.EVCompute, blas.Upper, n, vectors, n, values, size, -1)
	work := make([]float64, int(size[0]))
	if !solutions.Dsyev(lapack.EVCompute, blas.Upper, n, vectors, n, values, work, len(work)) {
		return nil, false
	}
	for j, v := range values {
		for i := range n {
			vectors[i*n+j] *= math.Sqrt(max(0, v))
		}
	}
	return vectors, true
}

// times is a square matrix times x.
func times(n int, a, x, to []float64) {
	products.Dgemv(blas.NoTrans, n, n, 1, a, n, x, 1, 0, to, 1)
}
