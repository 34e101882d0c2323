-- bayes_log_density of what is no row of columns: values, labels, responses, objects of names; and
-- questions about one parameter. Definitions are written out.
SELECT plan(24);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE numbers AS SELECT i, i % 3 = 0 AS s, i % 5 AS n, sin(i) * 3 AS x,
  (ARRAY['a', 'b', 'c'])[1 + i % 3] AS l FROM generate_series(1, 60) AS i;
CREATE TABLE m AS SELECT beta_bernoulli_fit(s) AS beta, gamma_poisson_fit(n) AS gamma,
  normal_inverse_gamma_fit(x) AS normal, dirichlet_categorical_fit(l) AS labels,
  linreg_fit(x, n) AS linreg, logreg_fit(s, x) AS logreg, nb_fit(l, '{"a": 1}'::jsonb) AS words,
  nb_fit(l, x) AS nb, gmm_fit(x, 2) AS gmm FROM numbers;

-- ---- values, of any type, literals too ----

SELECT ok(near(bayes_log_density(beta, true), ln(21 / 62.0)) AND
    near(bayes_log_density(beta, false), ln(41 / 62.0)), 'a success and a failure') FROM m;
SELECT ok(bayes_log_density(beta, true) = ALL (ARRAY[bayes_log_density(beta, 1),
  bayes_log_density(beta, 1.0), bayes_log_density(beta, 1::int2), bayes_log_density(beta, 't'),
  bayes_log_density(beta, '1')]), 'however it is written') FROM m;
-- Negative binomial: shape 120.5, rate 60.
SELECT ok(near(bayes_log_density(gamma, 0), 120.5 * ln(60 / 61.0))
  AND near(bayes_log_density(gamma, 0, 2.5), 120.5 * ln(60 / 62.5))
  AND bayes_log_density(gamma, '0', '2.5') = bayes_log_density(gamma, 0::bigint, 2.5::float4)
  AND bayes_log_density(gamma, 3) = bayes_log_density(gamma, 3, NULL)
  AND bayes_log_density(gamma, 3, NULL::float8) IS NULL
  AND bayes_log_density(gamma, -1) = '-Infinity', 'a count, and its exposure') FROM m;
SELECT ok(near(bayes_log_density(normal, 1), student_log_pdf(1, 59, avg,
    stddev_samp * sqrt(61 / 60.0))) AND bayes_log_density(normal, 1) = ALL (ARRAY[
    bayes_log_density(normal, 1.0), bayes_log_density(normal, '1')]), 'a number')
FROM m, (SELECT avg(x), stddev_samp(x) FROM numbers) AS t;
SELECT ok(near(bayes_log_density(labels, 'a'), ln(21 / 63.0))
  AND near(bayes_log_density(labels, 'z'::name), ln(1 / 64.0)), 'a label') FROM m;

-- ---- responses, given a row ----

SELECT ok(near(bayes_log_density(logreg, true, x), ln((bayes_predict(logreg, x)).value))
  AND near(bayes_log_density(logreg, 0, x), ln(1 - (bayes_predict(logreg, x)).value))
  AND bayes_log_density(logreg, 'f', x) = bayes_log_density(logreg, false, x),
  'of a binary one it is a probability') FROM m, numbers WHERE i = 7;
SELECT ok(near((bayes_score(linreg, x, n)).log_density, avg(bayes_log_density(linreg, x, n)))
  AND max(bayes_log_density(linreg, 0, NULL::int)) IS NULL
  AND bool_and(bayes_log_density(linreg, 0, n) = bayes_log_density(linreg, '0', n)),
  'scores are means of it') FROM m, numbers;

-- ---- one call, models of several families ----

SELECT ok(bool_and(x = y) AND count(*) = 8, 'each its own')
FROM (SELECT bayes_log_density(model, 1) AS x, CASE place % 4 WHEN 1 THEN beta WHEN 2 THEN gamma
    WHEN 3 THEN normal ELSE gmm END AS y FROM (SELECT place, CASE place % 4 WHEN 1 THEN m.beta
      WHEN 2 THEN m.gamma WHEN 3 THEN m.normal ELSE m.gmm END AS model,
    bayes_log_density(m.beta, 1) AS beta, bayes_log_density(m.gamma, 1) AS gamma,
    bayes_log_density(m.normal, 1) AS normal, bayes_log_density(m.gmm, 1) AS gmm
    FROM m, generate_series(1, 8) AS place) AS each) AS all_of;
SELECT ok(bayes_log_density(words, '{"a": 1}'::jsonb) < 0 AND bayes_log_density(nb, 1) < 0,
  'objects of names, and rows') FROM m;

-- ---- NULLs, and a NULL that is given ----

SELECT ok(num_nulls(bayes_log_density(NULL, 1), bayes_log_density(beta, NULL),
    bayes_log_density(beta, NULL::boolean), bayes_log_density(gmm, NULL::float8[]),
    bayes_log_density(linreg, NULL, 1)) = 5, 'no model, no value') FROM m;
SELECT ok(bayes_log_density(gmm, 1) = bayes_log_density(gmm, 1, NULL)
  AND bayes_log_density(gmm, 1) = bayes_log_density(gmm, 1, NULL::float8)
  AND bayes_log_density(gmm, 1) = bayes_log_density(gmm, 1, ARRAY[NULL]::float8[]),
  'nothing is given') FROM m;
SELECT ok(bayes_probability(gmm, 0, 1) = bayes_probability(gmm, 0, 1, NULL)
  AND bayes_probability(gmm, 0, 1) = bayes_probability(gmm, 0, 1, NULL::float8)
  AND bayes_probability(NULL, 0, 1) IS NULL AND bayes_probability_mcse(gmm, 0, 1) = 0,
  'nor to a box') FROM m;
SELECT results_eq('SELECT s.* FROM m, bayes_sample(gmm, 3, 1, NULL::float8) AS s',
  'SELECT s.* FROM m, bayes_sample(gmm, 3, 1) AS s', 'nor to draws');

-- ---- refused ----

SELECT is(complaint(format('SELECT %s FROM m', call)), said, call) FROM (VALUES
  ('bayes_log_density(beta, 2)', '22023 x is 2'),
  ('bayes_log_density(beta, now())', '42804 x is of type timestamp with time zone'),
  ('bayes_log_density(gamma, 1.5)', '22023 x is 1.5, but must be a whole number'),
  ('bayes_log_density(gamma, 1, 0)', '22023 exposure is 0, but must be positive'),
  ('bayes_log_density(normal, 1, 1)', '42804 rows of normal_inverse_gamma are given nothing'),
  ('bayes_log_density(labels, 1, 1)', '42804 labels of dirichlet_categorical are given nothing'),
  ('bayes_log_density(linreg, 1)', '42804 a model of family linreg has no log density of rows'),
  ('bayes_mean(gmm)', '42804 a model of family gmm has no single parameter'),
  ('bayes_greater(beta, gmm)', '42804 a model of family gmm has no single parameter'),
  ('bayes_greater(beta, gamma)', '42804 posteriors of different families cannot be compared'),
  ('bayes_evidence(gmm)', '42804 a model of family gmm has no evidence in closed form'))
  AS v(call, said);
SELECT * FROM finish();
