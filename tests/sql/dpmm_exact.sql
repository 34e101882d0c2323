-- Dirichlet process mixtures of a few rows against posteriors computed in full; and types.
-- See dpmm.sql for how numbers are compared.
SELECT plan(21);
\ir ../lib/checks.sql
\ir ../lib/dpmm_draws.sql
SET client_min_messages = error;

-- All of a model that could differ.
CREATE FUNCTION bits(model bayes_model) RETURNS text RETURN (model::jsonb - 'seconds')::text;
CREATE TABLE nothing (id int, x float8[]);

-- ---- against posteriors computed in full ----

-- Of a few rows all partitions, with p(rows, partition) for rows of one column under prior m, c, a,
-- B and a concentration.
CREATE FUNCTION log_gamma_of_half(twice int) RETURNS float8 IMMUTABLE
  RETURN (SELECT CASE WHEN twice % 2 = 0 THEN 0 ELSE ln(pi()) / 2 END + coalesce(sum(ln(i / 2.0)),
  0) FROM generate_series(CASE WHEN twice % 2 = 0 THEN 2 ELSE 1 END, twice - 2, 2) i);
CREATE FUNCTION log_marginal(x float8[], m float8, c float8, a int, b float8)
  RETURNS float8 IMMUTABLE RETURN (
  SELECT -n / 2.0 * ln(pi()) + ln(c / (c + n)) / 2 + a / 2.0 * ln(b) - (a + n) / 2.0
    * ln(b + scatter + c * n / (c + n) * (mean - m) ^ 2) + log_gamma_of_half(a + n)
    - log_gamma_of_half(a)
  FROM (SELECT count(*)::int AS n, avg(v) AS mean, var_pop(v) * count(*) AS scatter
    FROM unnest(x) v) s);
CREATE FUNCTION partitions(n int) RETURNS SETOF int[] LANGUAGE sql AS $$
  WITH RECURSIVE p(labels, k) AS (SELECT ARRAY[1], 1 UNION ALL SELECT labels || next,
    greatest(k, next) FROM p, generate_series(1, k + 1) next WHERE array_length(labels, 1) < n)
  SELECT labels FROM p WHERE array_length(labels, 1) = n $$;
CREATE TABLE few AS SELECT * FROM (VALUES (1, -1.1::float8), (2, -0.7), (3, 0.2), (4, 1.6),
  (5, 2.1)) v(id, v);
CREATE TABLE enumerated AS
  SELECT labels, (SELECT max(l) FROM unnest(labels) l) AS k, log_joint,
    exp(log_joint) / sum(exp(log_joint)) OVER () AS p
  FROM (SELECT labels, (SELECT sum(ln(0.8) + ln(factorial(n - 1)) + log_marginal(x, 0, 0.2, 3, 0.5))
    FROM (SELECT label, count(*) AS n, array_agg(v) AS x FROM few,
    LATERAL (SELECT labels[few.id] AS label) l GROUP BY label) g) - (SELECT sum(ln(0.8 + i))
    FROM generate_series(0, 4) i) AS log_joint
    FROM partitions(5) labels) w;
SELECT ok(count(*) = 52 AND near(sum(p), 1), 'there are 52 partitions of five rows')
  FROM enumerated;
CREATE TABLE exact_k AS SELECT k, sum(p) AS p FROM enumerated GROUP BY 1;
CREATE TABLE exact_same AS SELECT i AS id1, j AS id2,
  coalesce(sum(p) FILTER (WHERE labels[i] = labels[j]), 0) AS p
  FROM enumerated, generate_series(1, 5) i, generate_series(1, 5) j WHERE i < j GROUP BY 1, 2;
CREATE FUNCTION exact_options(method text) RETURNS jsonb RETURN jsonb_build_object('method', method,
  'concentration', 0.8, 'prior', '{"m": [0], "c": 0.2, "a": 3, "B": 0.5}'::jsonb, 'draws', 5500,
  'warmup', 500, 'estimate', 'binder');
CREATE TABLE sampled AS SELECT method, dpmm_fit(ARRAY[v], exact_options(method)
  ORDER BY id) AS model FROM few, unnest('{collapsed,gibbs,slice}'::text[]) method GROUP BY 1;
-- Shares of 20,000 draws: even if every tenth only counts, their standard error is below 0.0112.
SELECT never($$SELECT method, k, e.p, d.share, abs(e.p - d.share) > 0.06 AS wrong
  FROM sampled, exact_k e LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE clusters = e.k)
  / 20000.0 AS share FROM draws_of(model)) d ON true$$,
  'how many clusters: the exact posterior, by every sampler');
SELECT cmp_ok((SELECT max(p) FROM exact_k), '<', 0.7::float8, 'which is not on one number');
CREATE TABLE shares AS SELECT m, e.id1, e.id2, e.p, s.probability, s.mcse
  FROM unnest('{collapsed,gibbs,slice}'::text[]) m,
  LATERAL dpmm_similarity('SELECT id, v FROM few ORDER BY id', exact_options(m)) s JOIN exact_same e
  ON (e.id1::text, e.id2::text) = (s.id1, s.id2);
SELECT never($$SELECT *, abs(p - probability) > 0.06 OR abs(p - probability) > 6.5 * mcse AS wrong
  FROM shares$$, 'who is with whom: the exact posterior, by every sampler');
SELECT ok(avg(mcse) < 0.01 AND sum((p - probability) ^ 2) BETWEEN 0.2 * sum(mcse ^ 2)
  AND 4 * sum(mcse ^ 2), 'as nearly as the standard errors say') FROM shares;
SELECT ok(all_true(near(probability * 20000, round(probability * 20000), 1e-9))
  AND NOT all_true(near(probability * 500, round(probability * 500), 1e-9)),
  'they are shares of all draws') FROM shares;
SELECT ok((SELECT max(p) - min(p) FROM exact_same) > 0.3, 'which differs between pairs');
-- The log joint density of a draw is that of one of the partitions.
SELECT never($$SELECT method, log_joint, NOT EXISTS (SELECT FROM enumerated e WHERE e.k = d.clusters
  AND near(e.log_joint, d.log_joint)) AS wrong FROM sampled, draws_of(model) d
  WHERE draw <= 200$$, 'log_joint has all its constants');
-- With no more than eight rows, the estimate is proved to be best: no partition has a smaller
-- expected loss.
SELECT ok((SELECT all_true(optimal) FROM sampled, dpmm_estimate(model)),
  'a small estimate is optimal');
CREATE TABLE same_few AS SELECT * FROM dpmm_similarity('SELECT id, v FROM few ORDER BY id',
  exact_options('collapsed'));
SELECT ok(near((SELECT min(loss) FROM (SELECT avg(CASE WHEN labels[s.id1::int]
  = labels[s.id2::int] THEN 1 - s.probability ELSE s.probability END) AS loss
  FROM enumerated, same_few s GROUP BY labels) l), e.expected_loss),
  'Binder''s loss at its minimum over all partitions')
  FROM (SELECT model FROM sampled WHERE method = 'collapsed') f, dpmm_estimate(model) e;
-- Variational inference bounds the evidence.
SELECT cmp_ok((SELECT i.objective FROM (SELECT dpmm_fit(ARRAY[v],
  '{"method": "vi", "concentration": 0.8, "prior": {"m": [0], "c": 0.2, "a": 3, "B": 0.5}}') AS m
  FROM few) f, bayes_info(m) i), '<',
  (SELECT ln(sum(exp(log_joint)))::float8 FROM enumerated),
    'the objective of vi is below the log evidence');
-- After one row the predictive is known: with probability 1 / (1 + alpha) that of its cluster, else
-- that of no rows.
CREATE TABLE one_row AS SELECT method, dpmm_fit(ARRAY[1.5], jsonb_build_object('method', method,
  'draws', 4, 'concentration', 0.7, 'prior', '{"m": [0.5], "c": 0.3, "a": 4, "B": 2}'::jsonb))
  AS model FROM unnest('{collapsed,gibbs,slice}'::text[]) method GROUP BY 1;
SELECT never($$SELECT method, v, NOT near(bayes_log_density(model, ARRAY[v]), ln(old + new))
  OR NOT near(bayes_probabilities(model, ARRAY[v]), ARRAY[old / (old + new), new / (old + new)])
  AS wrong FROM one_row, generate_series(-5, 5) v,
  LATERAL (SELECT exp(log_marginal(ARRAY[1.5, v], 0.5, 0.3, 4, 2) - log_marginal(ARRAY[1.5], 0.5,
  0.3, 4, 2)) / 1.7 AS old, exp(log_marginal(ARRAY[v], 0.5, 0.3, 4, 2)) * 0.7 / 1.7 AS new) d$$,
  'after one row: exactly the predictive of the definition');
SELECT same_rows($$SELECT method, clusters, near(weight, 1 / 1.7), count
  FROM one_row, dpmm_estimate(model) e, dpmm_clusters(model) c ORDER BY 1$$,
  $$SELECT m, 1, true, 1::bigint FROM unnest('{collapsed,gibbs,slice}'::text[]) m ORDER BY 1$$,
  'one row is one cluster');

-- ---- types ----

SELECT is((SELECT pg_typeof(dpmm_fit(x, '{"draws": 4}'))::text FROM galaxies), 'bayes_model',
  'the aggregate gives a model');
SELECT is((SELECT DISTINCT pg_typeof(dpmm_cluster(x, '{"draws": 4}') OVER ())::text FROM galaxies),
  'integer', 'a label is an integer');
SELECT results_eq($$SELECT pg_typeof(id)::text, pg_typeof(cluster)::text,
  pg_typeof(probability)::text, pg_typeof(mcse)::text FROM dpmm_cluster('SELECT 1, 2')$$,
  $$VALUES ('text', 'integer', 'double precision', 'double precision')$$,
  'columns of dpmm_cluster');
SELECT results_eq($$SELECT pg_typeof(id1)::text, pg_typeof(id2)::text, pg_typeof(probability)::text,
  pg_typeof(mcse)::text FROM dpmm_similarity('VALUES (1, 2), (3, 4)', '{"draws": 4}')$$,
  $$VALUES ('text', 'text', 'double precision', 'double precision')$$,
  'columns of dpmm_similarity');
SELECT results_eq($$SELECT pg_typeof(cluster)::text, pg_typeof(weight)::text, pg_typeof(mean)::text,
  pg_typeof(covariance)::text, pg_typeof(count)::text FROM one_row, dpmm_clusters(model) LIMIT 1$$,
  $$VALUES ('integer', 'double precision', 'double precision[]', 'double precision[]', 'bigint')$$,
  'columns of dpmm_clusters');
SELECT results_eq('SELECT DISTINCT quantity FROM one_row, bayes_draws(model) ORDER BY 1',
  $$VALUES ('clusters'), ('concentration'), ('entropy'), ('largest'), ('log_joint')$$,
  'quantities of bayes_draws');
SELECT results_eq($$SELECT pg_typeof(estimate)::text, pg_typeof(clusters)::text,
  pg_typeof(expected_loss)::text, pg_typeof(optimal)::text, pg_typeof(level)::text,
  pg_typeof(radius)::text, pg_typeof(fewest_clusters)::text, pg_typeof(most_clusters)::text,
  pg_typeof(draws)::text FROM one_row, dpmm_estimate(model) LIMIT 1$$,
  $$VALUES ('text', 'integer', 'double precision', 'boolean', 'double precision',
    'double precision', 'integer', 'integer', 'integer')$$, 'columns of dpmm_estimate');
SELECT is((SELECT pg_typeof(dpmm_predict(model, '{1}'))::text || ' '
  || pg_typeof(bayes_probabilities(model, '{1}')) || ' ' || pg_typeof(bayes_log_density(model,
  '{1}'))
  FROM one_row LIMIT 1), 'integer double precision[] double precision', 'types of scores');

SELECT * FROM finish();
