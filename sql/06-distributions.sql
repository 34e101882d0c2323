-- Standard distributions: densities, probabilities, quantiles, and seeded draws

DEFINE @distribution_errors =
  'NULL if an argument is NULL; NaN if x or p is NaN, but 22023 for a quantile of a discrete '
  'distribution. Errors: 22023 a parameter out of range; 22003 a result beyond double precision.';
DEFINE @draws_of = LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 1000;
DEFINE @draws_beyond = 'A draw beyond double precision is Infinity or -Infinity. ';
DEFINE @draws_note =
  'The same seed gives the same draws. Draws of different distributions with the same seed are '
  'independent; draws of one distribution with the same seed and other parameters are not. Errors: '
  '22023 n below 0, or a parameter out of range; 54000 n above 10 million.';

-- ---- the normal distribution ----

CREATE FUNCTION normal_pdf(x float8, mean float8 DEFAULT 0, sd float8 DEFAULT 1) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The density of the normal distribution at x. mean: finite; sd: the standard '
  'deviation, positive. '
  @distribution_errors;
CREATE FUNCTION normal_log_pdf(x float8, mean float8 DEFAULT 0, sd float8 DEFAULT 1) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The logarithm of the density of the normal distribution at x, -Infinity where it '
  'is 0. mean: finite; sd: the standard deviation, positive. '
  @distribution_errors;
CREATE FUNCTION normal_cdf(x float8, mean float8 DEFAULT 0, sd float8 DEFAULT 1) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The cumulative probability P(X <= x) under the normal distribution. mean: finite; sd: '
  'the standard deviation, positive. '
  @distribution_errors;
CREATE FUNCTION normal_quantile(p float8, mean float8 DEFAULT 0, sd float8 DEFAULT 1) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The quantile of the normal distribution: the smallest x with P(X <= x) >= p, where p '
  'is from 0 to 1. mean: finite; sd: the standard deviation, positive. '
  @distribution_errors;
CREATE FUNCTION normal_draws(n int, mean float8, sd float8, seed bigint) RETURNS SETOF float8
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the normal distribution. mean: finite; sd: the standard deviation, '
  'positive. '
  @draws_beyond
  @draws_note;

-- ---- Student's t distribution ----

CREATE FUNCTION student_pdf(
  x float8, degrees float8, location float8 DEFAULT 0, scale float8 DEFAULT 1
) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The density of Student''s t distribution at x. degrees: of freedom, positive; '
  'scale: positive. '
  @distribution_errors;
CREATE FUNCTION student_log_pdf(
  x float8, degrees float8, location float8 DEFAULT 0, scale float8 DEFAULT 1
) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The logarithm of the density of Student''s t distribution at x, -Infinity where '
  'it is 0. degrees: of freedom, positive; scale: positive. '
  @distribution_errors;
CREATE FUNCTION student_cdf(
  x float8, degrees float8, location float8 DEFAULT 0, scale float8 DEFAULT 1
) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The cumulative probability P(X <= x) under Student''s t distribution. degrees: of '
  'freedom, positive; scale: positive. '
  @distribution_errors;
CREATE FUNCTION student_quantile(
  p float8, degrees float8, location float8 DEFAULT 0, scale float8 DEFAULT 1
) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The quantile of Student''s t distribution: the smallest x with P(X <= x) >= p, where p '
  'is from 0 to 1. degrees: of freedom, positive; scale: positive. '
  @distribution_errors;
CREATE FUNCTION student_draws(n int, degrees float8, location float8, scale float8, seed bigint)
  RETURNS SETOF float8
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of Student''s t distribution. degrees: of freedom, positive; scale: '
  'positive. '
  @draws_beyond
  @draws_note;

-- ---- the beta distribution ----

CREATE FUNCTION beta_pdf(x float8, a float8, b float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The density of the beta distribution at x. a, b: positive; the mean is a / (a + '
  'b). '
  @distribution_errors;
CREATE FUNCTION beta_log_pdf(x float8, a float8, b float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The logarithm of the density of the beta distribution at x, -Infinity where it '
  'is 0. a, b: positive; the mean is a / (a + b). '
  @distribution_errors;
CREATE FUNCTION beta_cdf(x float8, a float8, b float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The cumulative probability P(X <= x) under the beta distribution. a, b: positive; the '
  'mean is a / (a + b). '
  @distribution_errors;
CREATE FUNCTION beta_quantile(p float8, a float8, b float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The quantile of the beta distribution: the smallest x with P(X <= x) >= p, where p is '
  'from 0 to 1. a, b: positive; the mean is a / (a + b). '
  @distribution_errors;
CREATE FUNCTION beta_draws(n int, a float8, b float8, seed bigint) RETURNS SETOF float8
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the beta distribution. a, b: positive; the mean is a / (a + b). '
  @draws_note;

-- ---- the gamma distribution ----

CREATE FUNCTION gamma_pdf(x float8, shape float8, rate float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The density of the gamma distribution at x. shape, rate: positive; the mean is '
  'shape / rate. '
  @distribution_errors;
CREATE FUNCTION gamma_log_pdf(x float8, shape float8, rate float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The logarithm of the density of the gamma distribution at x, -Infinity where it '
  'is 0. shape, rate: positive; the mean is shape / rate. '
  @distribution_errors;
CREATE FUNCTION gamma_cdf(x float8, shape float8, rate float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The cumulative probability P(X <= x) under the gamma distribution. shape, rate: '
  'positive; the mean is shape / rate. '
  @distribution_errors;
CREATE FUNCTION gamma_quantile(p float8, shape float8, rate float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The quantile of the gamma distribution: the smallest x with P(X <= x) >= p, where p is '
  'from 0 to 1. shape, rate: positive; the mean is shape / rate. '
  @distribution_errors;
CREATE FUNCTION gamma_draws(n int, shape float8, rate float8, seed bigint) RETURNS SETOF float8
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the gamma distribution. shape, rate: positive; the mean is shape / '
  'rate. '
  @draws_beyond
  @draws_note;

-- ---- the inverse gamma distribution ----

CREATE FUNCTION inverse_gamma_pdf(x float8, shape float8, scale float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The density at x of the inverse gamma distribution, the distribution of 1 / y where y '
  'has a gamma distribution. shape: positive; scale: positive, the rate of y. '
  @distribution_errors;
CREATE FUNCTION inverse_gamma_log_pdf(x float8, shape float8, scale float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The logarithm of the density at x of the inverse gamma distribution, the distribution '
  'of 1 / y where y has a gamma distribution; -Infinity where it is 0. shape: positive; scale: '
  'positive, the rate of y. '
  @distribution_errors;
CREATE FUNCTION inverse_gamma_cdf(x float8, shape float8, scale float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The cumulative probability P(X <= x) under the inverse gamma distribution, the '
  'distribution of 1 / y where y has a gamma distribution. shape: positive; scale: positive, the '
  'rate of y. '
  @distribution_errors;
CREATE FUNCTION inverse_gamma_quantile(p float8, shape float8, scale float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The quantile of the inverse gamma distribution, the distribution of 1 / y where y has '
  'a gamma distribution: the smallest x with P(X <= x) >= p, where p is from 0 to 1. shape: '
  'positive; scale: positive, the rate of y. '
  @distribution_errors;
CREATE FUNCTION inverse_gamma_draws(n int, shape float8, scale float8, seed bigint)
  RETURNS SETOF float8
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the inverse gamma distribution, the distribution of 1 / y where y has a '
  'gamma distribution. shape: positive; scale: positive, the rate of y. '
  @draws_beyond
  @draws_note;

-- ---- the binomial distribution ----

CREATE FUNCTION binomial_pdf(k bigint, n bigint, p float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The probability of the binomial distribution at k. n: trials, at least 0; p: the '
  'probability of a success, from 0 to 1. '
  @distribution_errors;
CREATE FUNCTION binomial_log_pdf(k bigint, n bigint, p float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The logarithm of the probability of the binomial distribution at k, -Infinity '
  'where it is 0. n: trials, at least 0; p: the probability of a success, from 0 to '
  '1. '
  @distribution_errors;
CREATE FUNCTION binomial_cdf(k bigint, n bigint, p float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The cumulative probability P(X <= k) under the binomial distribution. n: trials, at '
  'least 0; p: the probability of a success, from 0 to 1. '
  @distribution_errors;
CREATE FUNCTION binomial_quantile(q float8, n bigint, p float8) RETURNS bigint
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The quantile of the binomial distribution: the smallest k with P(X <= k) >= q, where q '
  'is from 0 to 1. n: trials, at least 0; p: the probability of a success, from 0 to 1. '
  @distribution_errors;
CREATE FUNCTION binomial_draws(n int, trials bigint, p float8, seed bigint) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the binomial distribution. trials: at least 0; p: the probability of a '
  'success, from 0 to 1. '
  @draws_note;

-- ---- the Poisson distribution ----

CREATE FUNCTION poisson_pdf(k bigint, rate float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The probability of the Poisson distribution at k. rate: the mean, at least 0. '
  @distribution_errors;
CREATE FUNCTION poisson_log_pdf(k bigint, rate float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The logarithm of the probability of the Poisson distribution at k, -Infinity '
  'where it is 0. rate: the mean, at least 0. '
  @distribution_errors;
CREATE FUNCTION poisson_cdf(k bigint, rate float8) RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The cumulative probability P(X <= k) under the Poisson distribution. rate: the mean, '
  'at least 0. '
  @distribution_errors;
CREATE FUNCTION poisson_quantile(p float8, rate float8) RETURNS bigint
  AS 'MODULE_PATHNAME' @strict COST 10;
COMMENT IS 'The quantile of the Poisson distribution: the smallest k with P(X <= k) >= p, where p '
  'is from 0 to 1. rate: the mean, at least 0. '
  @distribution_errors;
CREATE FUNCTION poisson_draws(n int, rate float8, seed bigint) RETURNS SETOF bigint
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the Poisson distribution. rate: the mean, at least 0; 22003 above 9e18. '
  @draws_note;

-- ---- draws of others ----

CREATE FUNCTION uniform_draws(n int, low float8, high float8, seed bigint) RETURNS SETOF float8
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the continuous uniform distribution between low and high, both finite and '
  'low < high. '
  @draws_note;

CREATE FUNCTION categorical_draws(n int, weights float8[], seed bigint) RETURNS SETOF int
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws, by inversion, of element numbers of weights, from 1, each with a probability '
  'proportional to its weight. weights: at least 0, not all of them 0. '
  @draws_note;

CREATE FUNCTION dirichlet_draws(n int, alpha float8[], seed bigint) RETURNS SETOF float8[]
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the Dirichlet distribution: probabilities that sum to 1. alpha: positive. '
  @draws_note;

CREATE FUNCTION multivariate_normal_draws(n int, mean float8[], covariance float8[], seed bigint)
  RETURNS SETOF float8[]
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the multivariate normal distribution. covariance: d x d, symmetric, '
  'positive definite. '
  @draws_note;

CREATE FUNCTION wishart_draws(n int, a float8, b float8[], seed bigint) RETURNS SETOF float8[]
  AS 'MODULE_PATHNAME' @draws_of;
COMMENT IS 'n draws of the Wishart distribution with mean a b^-1, parametrized as in the priors of '
  'precision matrices: matrices of d x d. b: d x d, symmetric, positive definite (the inverse of '
  'the scale matrix used by other software); a: degrees of freedom, above d - 1. '
  @draws_note;
