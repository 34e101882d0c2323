-- How well latent class models fit tables of answers.
SELECT plan(36);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE VIEW answers AS
SELECT ARRAY[a - 1, b - 1, c - 1, d - 1] AS x, a, b, c, d, count FROM role_conflict;
CREATE TABLE m AS SELECT k, bmm_fit(x, k, '{"method": "em", "tol": 1e-11}', count) AS model
FROM answers, generate_series(1, 3) AS k GROUP BY k;
CREATE TABLE found AS SELECT k, model, (s).* FROM (SELECT k, model,
    bmm_fit_statistics(model, x, count) AS s FROM m, answers GROUP BY k, model) AS t;

-- ---- published ----

-- Goodman (1974) gives 2.72 with 6 degrees of freedom for both, R's poLCA 1.6 2.719922 and
-- 2.719764.
SELECT is((round(g2::numeric, 6), round(x2::numeric, 5), df, round(log_likelihood::numeric, 4),
  round(aic::numeric, 3), round(bic::numeric, 3)), (2.719922, 2.71976, 6::float8, -504.4677,
  1026.935, 1057.313), 'two classes of role conflict are those of poLCA') FROM found WHERE k = 2;
-- Independence, in the textbook's form: G2 = 81.08 and X2 = 104.11 with 11.
SELECT is((round(g2::numeric, 2), round(x2::numeric, 2), df), (81.08, 104.11, 11::float8),
  'and independence') FROM found WHERE k = 1;
SELECT is((observations, complete, patterns, possible_patterns, parameters),
  (216::float8, 216::float8, 16::bigint, 16::float8, 5 * k - 1::float8), 'what there is')
FROM found ORDER BY k;

-- ---- by their definitions ----

SELECT ok(near(f.g2, by_hand.g2, 1e-9) AND near(f.x2, by_hand.x2, 1e-9), 'sums over all patterns')
FROM found AS f, LATERAL (SELECT 2 * sum(count * ln(count / e)) AS g2,
  sum((count - e) ^ 2 / e) AS x2
  FROM answers, LATERAL (SELECT 216 * exp(bayes_log_density(model, x)) AS e) AS p) AS by_hand
ORDER BY k;
SELECT ok(near(f.entropy, i.entropy, 1e-12) AND near(f.bic, i.bic, 1e-12)
  AND f.parameters = i.parameters AND f.observations = i.observations,
  'of the rows of the fit as bayes_info')
FROM found AS f, bayes_info(model) AS i WHERE k = 2;
-- The tail of chi-squared with 6 degrees of freedom is exp(-x / 2) (1 + x / 2 + x^2 / 8).
SELECT ok(near(g2_p, exp(-g2 / 2) * (1 + g2 / 2 + g2 ^ 2 / 8), 1e-12)
  AND near(x2_p, exp(-x2 / 2) * (1 + x2 / 2 + x2 ^ 2 / 8), 1e-12), 'probabilities')
FROM found WHERE k = 2;
-- Patterns that no row has are expected nevertheless.
SELECT ok(near(s.g2, 2 * h.g) AND near(s.x2, h.x) AND s.patterns = 11 AND s.observations = h.n,
  'patterns without rows')
FROM m, LATERAL (SELECT (bmm_fit_statistics(model, x, count)).* FROM answers WHERE count > 5) AS s,
  LATERAL (SELECT sum(o * ln(nullif(o, 0) / (n * p))) AS g, sum((o - n * p) ^ 2 / (n * p)) AS x, n
    FROM (SELECT CASE WHEN count > 5 THEN count ELSE 0 END::float8 AS o,
        exp(bayes_log_density(model, x)) AS p,
        (SELECT sum(count) FROM answers WHERE count > 5)::float8 AS n FROM answers) AS t
    GROUP BY n) AS h WHERE k = 2;

-- ---- forms ----

SELECT ok(near(s.g2, f.g2) AND near(s.x2, f.x2) AND near(s.entropy, f.entropy)
  AND s.observations = 216, 'weights are repeated rows')
FROM found AS f, LATERAL (SELECT (bmm_fit_statistics(model, x)).* FROM answers,
  generate_series(1, count)) AS s WHERE k = 2;
CREATE TABLE named AS SELECT bmm_fit(r, 2, '{"method": "em", "tol": 1e-11}') AS model
FROM (SELECT 'answer ' || a AS a, b = 2 AS b, 'is ' || c AS c, d = 2 AS d
  FROM answers, generate_series(1, count)) AS r;
SELECT is((round(g2::numeric, 6), round(x2::numeric, 5), df, possible_patterns, patterns),
  (2.719922, 2.71976, 6::float8, 16::float8, 16::bigint), 'records: columns by name')
FROM named, LATERAL (SELECT (bmm_fit_statistics(model, r)).* FROM (SELECT d = 2 AS d, a AS more,
    'is ' || c AS c, 'answer ' || a AS a, b = 2 AS b FROM answers, generate_series(1, count)) AS r)
  AS s;
SELECT is(bmm_fit_statistics(model, x), NULL, 'no rows') FROM m, answers WHERE count < 0;

-- ---- what is missing, or has no end ----

SELECT ok((s.observations, s.complete, s.patterns, s.df) = (216, c.complete, c.patterns, 6)
  AND near(s.g2, c.g2) AND s.log_likelihood < c.log_likelihood, 'complete rows are compared alone')
FROM m, LATERAL (SELECT (bmm_fit_statistics(model, CASE WHEN a = 2 THEN ARRAY[NULL, b - 1, c - 1,
    d - 1] ELSE x END, count)).* FROM answers) AS s, LATERAL (SELECT (bmm_fit_statistics(model, x,
    count)).* FROM answers WHERE a = 1) AS c WHERE k = 2;
SELECT is((observations, complete, patterns), (3::float8, 2::float8, 2::bigint),
  'a label that the model does not know is missing')
FROM named, LATERAL (SELECT (bmm_fit_statistics(model, r)).* FROM (VALUES ('answer 1', true, 'is 1',
  true), ('answer 9', true, 'is 1', true), ('answer 2', true, 'is 1', true)) AS r(a, b, c, d)) AS s;
-- A row in which nothing is observed is no observation, in the statistics and in the model.
CREATE TABLE gaps AS
SELECT ARRAY[a - 1, CASE WHEN b = 2 THEN c - 1 END, d - 1]::float8[] AS x, count AS w
FROM role_conflict UNION ALL SELECT '{NULL,NULL,NULL}', v FROM (VALUES (7), (0.5)) AS n(v);
CREATE TABLE of_gaps AS SELECT method, bmm_fit(x, 2, jsonb_build_object('method', method,
    'tol', 1e-12, 'max_iter', 5000), w) AS model
FROM gaps, unnest('{em,map,vi}'::text[]) AS method GROUP BY method;
SELECT never($$SELECT m.method, observations <> 216 OR rows <> 18
    OR NOT near(bic, -2 * log_likelihood + parameters * ln(216)) AS wrong
  FROM of_gaps AS m, bayes_info(model)$$, 'what bayes_info counts');
SELECT never($$SELECT m.method, NOT (i.observations = s.observations
    AND near(i.entropy, s.entropy, 1e-6)
    AND near(i.log_likelihood, s.log_likelihood) AND near(i.bic, s.bic)) AS wrong
  FROM of_gaps AS m, bayes_info(model) AS i, LATERAL (
    SELECT (bmm_fit_statistics(model, x, w)).* FROM gaps) AS s$$, 'is what these count');
SELECT never($$SELECT m.method, NOT near(i.entropy, h.entropy, 1e-6) AS wrong
  FROM of_gaps AS m, bayes_info(model) AS i, LATERAL (
    SELECT 1 + sum(w * (p * ln(p) + (1 - p) * ln(1 - p))) / (216 * ln(2)) AS entropy
    FROM gaps, LATERAL (SELECT (bayes_probabilities(model, x))[1] AS p) AS q
    WHERE x[3] IS NOT NULL) AS h WHERE m.method <> 'vi'$$,
  'also in the entropy');
SELECT is((SELECT observations FROM bayes_info((SELECT gmm_fit(x, 1, NULL, w) FROM gaps))),
  216::float8, 'as gmm does');
SELECT throws_ok('SELECT bmm_fit(x, 1) FROM gaps WHERE x[3] IS NULL', '22023', NULL,
  'nothing is observed at all');
SELECT is((complete, patterns, g2, x2, g2_p, x2_p),
  (0::float8, 0::bigint, NULL::float8, NULL::float8, NULL::float8, NULL::float8), 'or none is')
FROM m, LATERAL (SELECT (bmm_fit_statistics(model, ARRAY[NULL, b - 1, c - 1, d - 1], count)).*
  FROM answers) AS s WHERE k = 2;
SELECT is((num_nulls(g2, x2, df, possible_patterns, g2_p, x2_p), patterns, log_likelihood = l),
  (6, 51::bigint, true), 'elements with any number of values')
FROM (SELECT bmm_fit(x[2:2], 2, '{"method": "em", "likelihood": "normal"}') AS model FROM faithful)
  AS f, LATERAL (SELECT log_likelihood AS l FROM bayes_info(model)) AS i,
  LATERAL (SELECT (bmm_fit_statistics(model, x[2:2])).* FROM faithful) AS s;
SELECT is((df, g2 >= 0, g2_p, x2_p), (-2::float8, true, NULL::float8, NULL::float8),
  'more parameters than patterns')
FROM (SELECT bmm_fit(x[1:2], 2, '{"method": "em"}', count) AS model FROM answers) AS f,
  LATERAL (SELECT (bmm_fit_statistics(model, x[1:2], count)).* FROM answers) AS s;

-- ---- sparse tables, and the bootstrap ----

-- Ten answers of 300 people of two kinds: 1,024 possible patterns.
CREATE TABLE sparse AS SELECT ARRAY(SELECT ((i * 7919 + j * 104729) % 97 < CASE WHEN i % 2 = 0
    THEN 75 ELSE 25 END)::int FROM generate_series(1, 10) AS j) AS x
FROM generate_series(1, 300) AS i;
CREATE TABLE of_sparse AS SELECT k, bmm_fit(x, k, '{"method": "em", "restarts": 5}') AS model
FROM sparse, generate_series(1, 2) AS k GROUP BY k;
SELECT results_eq($$SELECT k, g2 > 0, g2_p IS NULL, x2_p IS NULL FROM of_sparse,
  LATERAL (SELECT (bmm_fit_statistics(model, x)).* FROM sparse) AS s ORDER BY k$$,
  'VALUES (1, true, true, true), (2, true, true, true)', 'a sparse table has no chi-squared p');
SELECT is((s.g2_p, s.x2_p IS NULL, b.draws, b.rows, near(b.g2, s.g2), near(b.x2, s.x2)),
  (NULL::float8, true, 19, 300::bigint, true, true), 'the bootstrap is of the same numbers')
FROM of_sparse, LATERAL (SELECT (bmm_fit_statistics(model, x)).* FROM sparse) AS s,
  bmm_bootstrap('SELECT x FROM sparse', model, '{"draws": 19}') AS b WHERE k = 2;
SELECT is(g2_p, 1 / 20.0::float8, 'and refutes one class')
FROM of_sparse, bmm_bootstrap('SELECT x FROM sparse', model, '{"draws": 19}') WHERE k = 1;
-- Of a table that is not sparse the two p are alike: a binomial sd of .04 with 99 draws.
SELECT ok(abs(b.g2_p - s.g2_p) < 0.16 AND b.draws = 99, 'of other tables p is that of chi-squared')
FROM m, LATERAL (SELECT (bmm_fit_statistics(model, x, count)).* FROM answers) AS s,
  bmm_bootstrap('SELECT x, count FROM answers', model) AS b WHERE k = 2;
SELECT is(bmm_bootstrap('SELECT x FROM sparse', model, o),
  bmm_bootstrap('SELECT x FROM sparse', model, o), 'a seed gives the same again')
FROM of_sparse, (VALUES ('{"draws": 5, "seed": 7, "restarts": 2}'::jsonb)) AS v(o) WHERE k = 2;
SELECT is(bmm_bootstrap('SELECT x FROM sparse WHERE x IS NULL', model), NULL, 'no rows')
FROM of_sparse WHERE k = 2;

-- ---- errors ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT bmm_fit_statistics(model, x || 1) FROM m, answers GROUP BY k',
    '2202E row 1 has 5 elements, but the model has 4'),
  ($$SELECT bmm_fit_statistics(gmm_fit, x) FROM (SELECT gmm_fit(x, 1) FROM answers) AS f, answers
    GROUP BY gmm_fit$$, '42804 model is of family gmm, expected bmm')) AS v(statement, said);
SELECT is(complaint(format('SELECT bmm_bootstrap(%L, model%s) FROM of_sparse WHERE k = 2', query,
  options)), said, said) FROM (VALUES
  ('SELECT x FROM sparse', $$, '{"draws": 0}'$$,
    '22023 option "draws" is 0, but must be a whole number from 1 to 100000'),
  ('SELECT x FROM sparse', $$, '{"drawn": 9}'$$, '22023 unknown option "drawn"'),
  ('SELECT x[2:10] || NULL::int AS x FROM sparse', '',
    '22023 there is no table of answers to compare with the model')) AS v(query, options, said);
SELECT is(complaint($$SELECT bmm_fit_statistics((SELECT bmm_fit(x, 2, '{"method": "gibbs",
  "draws": 10}') FROM answers), x) FROM answers$$), '22023 this model has no point estimate '
  'to evaluate: it was fitted by method gibbs', 'draws');

SELECT * FROM finish();
