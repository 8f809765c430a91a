package stats

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// symmetric is a matrix of which the upper triangle counts, row by row.
type symmetric struct {
	n    int
	data []float64
}

func newSymmetric(n int) *symmetric { return &symmetric{n, make([]float64, n*n)} }

func (s *symmetric) at(i, j int) float64 { return s.data[min(i, j)*s.n+max(i, j)] }

func (s *symmetric) set(i, j int, v float64) { s.data[min(i, j)*s.n+max(i, j)] = v }

// upper returns the matrix as gonum takes it.
func (s *symmetric) upper() blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: s.n, Stride: s.n, Data: s.data}
}

// triangle returns the upper triangle, of a matrix that was factorized.
func (s *symmetric) triangle() blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: s.n, Stride: s.n, Data: s.data}
}

// general returns a square matrix, row by row.
func general(n int, data []float64) blas64.General {
	return blas64.General{Rows: n, Cols: n, Stride: n, Data: data}
}

// column returns a vector, as a matrix of one column.
func column(b []float64) blas64.General {
	return blas64.General{Rows: len(b), Cols: 1, Stride: 1, Data: b}
}

// whole returns the matrix with both triangles.
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
	norm := lapack64.Lansy(lapack.MaxRowSum, a.upper(), work)
	if _, ok := lapack64.Potrf(c.factor.upper()); !ok {
		return false
	}
	c.condition = 1 / lapack64.Pocon(c.factor.upper(), norm, work, make([]int, n))
	return true
}

// inverse is that of the matrix; false where it is too ill-conditioned to have one that counts.
func (c *cholesky) inverse() (*symmetric, bool) {
	out := &symmetric{c.factor.n, append([]float64(nil), c.factor.data...)}
	lapack64.Potri(out.triangle())
	return out, !(c.condition > tooIll)
}

// solve turns b into the solution; false where the matrix is too ill-conditioned.
func (c *cholesky) solve(b []float64) bool {
	lapack64.Potrs(c.factor.triangle(), column(b))
	return !(c.condition > tooIll)
}

// Quadratic returns x'S⁻¹x of a covariance S, row by row; false where S has no inverse that counts.
func Quadratic(s, x []float64) (float64, bool) {
	n := len(x)
	var c cholesky
	if !c.factorize(&symmetric{n, s}) {
		return 0, false
	}
	for i := range n {
		if square(c.factor.at(i, i)) < rounding {
			return 0, false
		}
	}
	solved := append([]float64(nil), x...)
	if !c.solve(solved) {
		return 0, false
	}
	sum := 0.0
	for i := range n {
		sum += x[i] * solved[i]
	}
	return sum, true
}

// product of two square matrices.
func product(n int, a, b []float64) []float64 {
	out := make([]float64, n*n)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(n, a), general(n, b), 0, general(n, out))
	return out
}

// root returns a square matrix, row by row, that gives s when multiplied by its transpose; false where no eigenvalues
// are found. Values below 0 are taken for 0.
func (s *symmetric) root() ([]float64, bool) {
	n := s.n
	copied := symmetric{n, append([]float64(nil), s.data...)}
	vectors, values := copied.data, make([]float64, n)
	size := make([]float64, 1)
	lapack64.Syev(lapack.EVCompute, copied.upper(), values, size, -1)
	work := make([]float64, int(size[0]))
	if !lapack64.Syev(lapack.EVCompute, copied.upper(), values, work, len(work)) {
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
	blas64.Gemv(blas.NoTrans, 1, general(n, a), blas64.Vector{N: n, Inc: 1, Data: x}, 0, blas64.Vector{N: n, Inc: 1, Data: to})
}
