-- Standard distributions: the interface, values, edges, errors, draws.
SELECT plan(27);
\ir ../lib/checks.sql
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT never($$SELECT signature, (volatility, strict, parallel) <> ('immutable', true, 'safe')
    AS wrong FROM interface
  WHERE proname ~ '_(pdf|cdf|quantile|draws)$' AND proname <> 'bayes_draws'$$,
  'all of them immutable, strict and parallel safe');

-- ---- values: textbook ones, by rational arithmetic or of the functions that PostgreSQL has ----

SELECT ok(near(normal_pdf(1, 3, 2), exp(-0.5) / (2 * sqrt(2 * pi())), 1e-14)
  AND near(normal_pdf(0), 1 / sqrt(2 * pi()), 1e-14)
  AND near(normal_pdf(5, 4), exp(-0.5) / sqrt(2 * pi()), 1e-14)
  AND near(normal_cdf(1.96), 0.97500210485177961, 1e-14)
  AND near(normal_quantile(0.975, 10, 2), 13.919927969080108, 1e-14), 'normal');
SELECT ok(near(student_pdf(1, 1), 0.5 / pi(), 1e-14) AND near(student_cdf(1, 1), 0.75, 1e-14)
  AND near(student_cdf(5, 1, 3, 2), 0.75, 1e-14) AND near(student_quantile(0.75, 1, 3), 4, 1e-14)
  AND near(student_log_pdf(3, 1, 3, 2), -ln(2 * pi()), 1e-14), 'Student');
SELECT ok(near(beta_pdf(0.5, 2, 3), 1.5, 1e-14) AND near(beta_cdf(0.5, 2, 3), 11.0 / 16, 1e-14)
  AND near(beta_quantile(11.0 / 16, 2, 3), 0.5, 1e-14), 'beta');
SELECT ok(near(gamma_pdf(2, 3, 1.5), 1.5 ^ 3 * 4 * exp(-3.0) / 2, 1e-14)
  AND near(gamma_cdf(2, 1, 1.5), 1 - exp(-3.0), 1e-14)
  AND near(gamma_quantile(0.5, 1, 2), ln(2.0) / 2, 1e-14), 'gamma');
SELECT ok(near(inverse_gamma_cdf(0.5, 1, 2), exp(-4.0), 1e-14)
  AND near(inverse_gamma_pdf(0.5, 1, 2), 2 / 0.25 * exp(-4.0), 1e-14)
  AND near(inverse_gamma_quantile(exp(-4.0), 1, 2), 0.5, 1e-14), 'inverse gamma');
SELECT ok(near(binomial_pdf(3, 10, 0.25), 120 * 0.25 ^ 3 * 0.75 ^ 7, 1e-14)
  AND near(binomial_cdf(1, 10, 0.25), 0.75 ^ 10 + 10 * 0.25 * 0.75 ^ 9, 1e-14)
  AND binomial_quantile(0.5, 10, 0.25) = 2, 'binomial');
SELECT ok(near(poisson_pdf(3, 2.5), 2.5 ^ 3 * exp(-2.5) / 6, 1e-14)
  AND near(poisson_cdf(1, 2.5), 3.5 * exp(-2.5), 1e-14) AND poisson_quantile(0.5, 2.5) = 2,
  'Poisson');
SELECT never($$SELECT k, NOT near(sum(binomial_pdf(k, 30, 0.3)) OVER (ORDER BY k),
    binomial_cdf(k, 30, 0.3), 1e-13) OR binomial_quantile(binomial_cdf(k, 30, 0.3), 30, 0.3) <> k
    AND binomial_cdf(k, 30, 0.3) < 1 - 1e-10 AS wrong FROM generate_series(0, 30) AS k$$,
  'masses add up to the distribution function, and the quantile is its inverse');

-- ---- edges, NaN, NULL ----

SELECT is(ARRAY[beta_pdf(0, 0.5, 1), beta_pdf(0, 1, 1), beta_pdf(-1, 2, 2), gamma_pdf(0, 2, 1),
    normal_cdf('Infinity'), normal_quantile(0), gamma_quantile(1, 1, 1), poisson_cdf(-1, 2),
    binomial_pdf(11, 10, 0.5), beta_log_pdf(2, 1, 1)],
  '{Infinity,1,0,0,1,-Infinity,Infinity,0,0,-Infinity}', 'edges of the support');
SELECT is(ARRAY[normal_pdf('NaN'), student_cdf('NaN', 1), beta_log_pdf('NaN', 1, 1),
    gamma_quantile('NaN', 1, 1)], '{NaN,NaN,NaN,NaN}', 'NaN gives NaN');
SELECT is(ARRAY[normal_pdf(NULL), beta_cdf(0.5, NULL, 1)], '{NULL,NULL}', 'NULL gives NULL');

-- ---- errors ----

SELECT throws_ok('SELECT normal_pdf(0, 0, -1)', '22023',
  'the standard deviation of a normal distribution is -1, but must be positive and finite');
SELECT throws_ok('SELECT beta_cdf(0.5, 1, ''NaN'')', '22023',
  'b of a beta distribution is NaN, but must be positive and finite');
SELECT throws_ok('SELECT gamma_quantile(1.5, 1, 1)', '22023',
  'the probability is 1.5, but must be from 0 to 1');
SELECT throws_ok($$SELECT binomial_quantile('NaN', 10, 0.25)$$, '22023',
  'the probability is NaN, but must be from 0 to 1', 'a NaN is no quantile of counts');
SELECT throws_ok('SELECT poisson_quantile(1, 3)', '22003',
  'the quantile of 1 of a Poisson distribution with rate 3 is infinite');
SELECT throws_ok('SELECT poisson_draws(1, 1e19, 1)', '22003',
  'draws of a Poisson distribution with rate 1e+19 are beyond 64 bits');
SELECT throws_ok($$SELECT multivariate_normal_draws(1, '{0,0}', '{{1,2},{2,1}}', 1)$$, '22023',
  'covariance is not positive definite');

-- ---- draws ----

SELECT same_rows('SELECT * FROM gamma_draws(100, 0.5, 2, 7)',
  'SELECT * FROM gamma_draws(100, 0.5, 2, 7)', 'the same seed gives the same draws');
SELECT is((SELECT count(*) FROM normal_draws(1000, 5, 2, 1) AS a
  JOIN normal_draws(1000, 5, 2, 2) AS b ON a = b), 0::bigint, 'another seed gives others');
-- Five standard errors: a false alarm in 200,000 for each.
SELECT ok((SELECT abs(avg(x) - 5) < 5 * 2 / 100.0 FROM normal_draws(10000, 5, 2, 1) AS x)
  AND (SELECT abs(avg(x) - 3) < 5 * sqrt(2.1) / 100 FROM binomial_draws(10000, 10, 0.3, 1) AS x)
  AND (SELECT abs(avg(x[2]) - 0.3) < 5 * sqrt(0.3 * 0.7 / 11) / 100
       FROM dirichlet_draws(10000, '{1,3,6}', 1) AS x)
  AND (SELECT abs(avg(x[1][1]) - 2) < 5 * sqrt(2 * 4 * 0.25) / 100
       FROM wishart_draws(10000, 4, '{{2,0},{0,1}}', 1) AS x)
  AND (SELECT abs(avg((x = 2)::int) - 0.75) < 5 * sqrt(0.75 * 0.25) / 100
       FROM categorical_draws(10000, '{1,3,0}', 1) AS x)
  AND (SELECT abs(avg(x) - 3) < 5 * 2 / sqrt(12.0) / 100 FROM uniform_draws(10000, 2, 4, 1) AS x),
  'their means are what they should be');
SELECT throws_ok('SELECT normal_draws(-1, 0, 1, 1)', '22023', 'n is -1, but must be at least 0');

SELECT ok(min(x) < -1e307 AND max(x) > 1e307 AND count(DISTINCT x) = 20,
  'ends that are farther apart than a double')
FROM uniform_draws(20, -1e308, 1e308, 1) AS x;

SELECT ok((SELECT count(*) BETWEEN 400 AND 600 FROM inverse_gamma_draws(1000, 0.001, 1, 1) AS x
    WHERE x = 'Infinity')
  AND (SELECT bool_and(x = 'Infinity') FROM gamma_draws(9, 1e300, 1e-300, 1) AS x)
  AND (SELECT min(x) = '-Infinity' AND max(x) = 'Infinity'
    FROM student_draws(1000, 0.001, 0, 1, 1) AS x), 'draws beyond a double are infinite');

-- Numbers on which Boost.Math would abort the server, or never come back.
SELECT is(ARRAY[beta_quantile(0.5, 5e-324, 0.5),
    beta_quantile(1.1789159780268287e-305, 0.0002445072616057481, 2.3e-308)], '{0,0}',
  'quantiles of shapes next to 0 are');
SELECT ok(near(beta_log_pdf(0.5, 1e308, 1e308), 0.5 * (ln(4 / pi()) + ln(1e308::float8)), 1e-13)
  AND (SELECT bool_and(lower = 0 AND upper BETWEEN 0 AND 1) FROM (SELECT beta_bernoulli_fit(false,
      '{"prior": {"a": 5e-324, "b": 0.5}}') AS m FROM generate_series(1, 3)) AS f,
    bayes_interval(m)), 'so have models, and large shapes a density');

SELECT * FROM finish();
