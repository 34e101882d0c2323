-- Conjugate models: the interface, posteriors, groups, merging, moving windows, errors.
SELECT plan(56);
\ir ../lib/checks.sql
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT never($$SELECT signature, parallel <> 'safe'
    OR volatility <> CASE WHEN kind = 'function' AND signature ~ '"any"' THEN 'stable'
      ELSE 'immutable' END
    OR strict <> (kind = 'function') AS wrong FROM interface
  WHERE proname ~ '^(beta|gamma|dirichlet|normal|inverse|binomial|poisson|student)_'
    AND proname !~ '_draws$'$$,
  'which depend on nothing but their arguments, and are NULL for a NULL');

CREATE TABLE visits AS
  SELECT i AS id, i % 4 AS shop, i % 3 AS day, i * 7 % 11 < 3 AS bought,
    (i * 13 % 7)::bigint AS items,
    1e8 + sin(i) AS x, (ARRAY['web', 'app', 'ünïcode', ''])[1 + i * 5 % 4] AS source
  FROM generate_series(1, 1000) AS i;

-- ---- posteriors, against their closed forms ----

CREATE TABLE fits AS
  SELECT beta_bernoulli_fit(bought, '{"prior": {"a": 2, "b": 3}}') AS beta,
    gamma_poisson_fit(items, '{"prior": {"a": 2, "b": 3}}', 0.5) AS gamma,
    normal_inverse_gamma_fit(x) AS normal, dirichlet_categorical_fit(source) AS labels,
    count(*) FILTER (WHERE bought) AS s, count(*) AS n, sum(items)::float8 AS total,
    avg(x - 1e8) AS mean, stddev(x - 1e8) AS sd
  FROM visits;
SELECT ok(near(bayes_mean(beta), (s + 2.0) / (n + 5))
  AND near(bayes_map(beta), (s + 1.0) / (n + 3))
  AND near(bayes_ml(beta), s::float8 / n), 'beta-Bernoulli: points') FROM fits;
SELECT ok(near(lower, beta_quantile(0.05, s + 2, n - s + 3), 1e-12)
  AND near(upper, beta_quantile(0.95, s + 2, n - s + 3), 1e-12), 'interval')
  FROM fits, bayes_interval(beta, 0.9);
SELECT ok(near(bayes_mean(gamma), (total + 2) / (n / 2 + 3))
  AND near(bayes_map(gamma), (total + 1) / (n / 2 + 3))
  AND near(bayes_ml(gamma), total / (n / 2)), 'gamma-Poisson: points') FROM fits;
SELECT ok(near(bayes_mean(normal) - 1e8, mean, 1e-7)
  AND near(upper - lower, 2 * student_quantile(0.975, n - 1) * sd / sqrt(n), 1e-7),
  'normal: mean, and Student''s interval') FROM fits, bayes_interval(normal);
SELECT is(bayes_evidence(normal), NULL, 'an improper prior has no evidence')
  FROM fits;
SELECT results_eq($$SELECT label, count, near(p.mean, (count + 1) / 1004),
    near(ml, count / 1000), lower < p.mean AND p.mean < upper
  FROM fits, dirichlet_categorical_probabilities(labels) AS p$$,
  $$VALUES ('', 250::float8, true, true, true), ('app', 250, true, true, true),
    ('web', 250, true, true, true), ('ünïcode', 250, true, true, true)$$,
  'labels in the order of their bytes');
SELECT ok(near(exp(bayes_log_density(labels, 'app')), 251 / 1004.0)
  AND near(exp(bayes_log_density(labels, 'none')), 1 / 1005.0)
  AND near(bayes_log_density(labels, 'web'::varchar), ln(251 / 1004.0))
  AND near(bayes_log_density(labels, 'none'),
    ln(exp(bayes_log_density(labels, 'none')))), 'one label') FROM fits;
SELECT is((bayes_info(beta)).family || ' ' || (bayes_info(beta)).rows, 'beta_bernoulli 1000',
  'bayes_info') FROM fits;
SELECT results_eq($$SELECT parameter, near(value, bayes_mean(beta)), near(p.lower, i.lower)
  FROM fits, bayes_parameters(beta) AS p, bayes_interval(beta) AS i
  UNION ALL SELECT parameter, value IS NOT NULL, lower < upper
  FROM fits, bayes_parameters(normal, 0.5)$$,
  $$VALUES ('probability', true, true), ('mean', true, true), ('sd', true, true)$$, 'parameters');

-- The chain rule: the evidence is the product of predictives, each given the rows before.
SELECT ok(near((SELECT bayes_evidence(beta_bernoulli_fit(bought)) FROM visits),
  (SELECT sum(CASE WHEN before IS NULL THEN ln(0.5)
      ELSE bayes_log_density(before, bought) END)
   FROM (SELECT bought, beta_bernoulli_fit(bought)
       OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
     FROM visits) AS v), 1e-12), 'evidence of Bernoulli trials');
SELECT ok(near((SELECT bayes_evidence(dirichlet_categorical_fit(source, p))
    FROM visits,
      (SELECT '{"prior": {"alpha": {"web": 2, "app": 1, "ünïcode": 0.5, "": 3}}}'::jsonb AS p)
        AS prior),
  (SELECT sum(CASE WHEN before IS NULL THEN ln(2 / 6.5)
      ELSE bayes_log_density(before, source) END)
   FROM (SELECT id, source, dirichlet_categorical_fit(source,
       '{"prior": {"alpha": {"web": 2, "app": 1, "ünïcode": 0.5, "": 3}}}')
       OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
     FROM visits) AS v)
  + (SELECT CASE source WHEN 'web' THEN 0 WHEN 'app' THEN ln(0.5) WHEN '' THEN ln(1.5)
      ELSE ln(0.25) END FROM visits WHERE id = 1), 1e-12), 'evidence of labels');

-- ---- groups, merging, parallel plans, moving windows ----

CREATE TABLE parts AS
  SELECT shop, day, beta_bernoulli_fit(bought) AS beta, gamma_poisson_fit(items) AS gamma,
    normal_inverse_gamma_fit(x) AS normal, dirichlet_categorical_fit(source) AS labels
  FROM visits GROUP BY ROLLUP (shop, day);
SELECT never($$SELECT whole.shop, bayes_rollup(part.beta)::text <> whole.beta::text
    OR bayes_rollup(part.gamma)::text <> whole.gamma::text
    OR bayes_rollup(part.labels)::text <> whole.labels::text
    OR NOT near(bayes_mean(bayes_rollup(part.normal)) - 1e8,
      bayes_mean(whole.normal) - 1e8, 1e-8) AS wrong
  FROM parts AS whole JOIN parts AS part ON part.day IS NOT NULL
    AND (whole.shop IS NULL OR whole.shop = part.shop)
  WHERE whole.day IS NULL GROUP BY whole.shop, whole.beta, whole.gamma, whole.labels,
    whole.normal$$,
  'models of parts, merged, are those of all rows');
SELECT throws_ok($$SELECT bayes_rollup(m) FROM (SELECT beta AS m FROM parts
  UNION ALL SELECT gamma FROM parts) AS p$$, '42804', NULL, 'of one family');
SELECT throws_ok($$SELECT bayes_rollup(m) FROM (SELECT beta AS m FROM parts
  UNION ALL SELECT beta FROM fits) AS p$$, '22023',
  'models with different options cannot be merged',
  'and of one prior');
SELECT throws_ok($$SELECT bayes_rollup(m)
  FROM (SELECT gmm_fit(x, 1) AS m FROM visits GROUP BY shop) AS p$$,
  '42804', 'models of family "gmm" cannot be merged', 'other families cannot be merged');
SELECT is(bayes_rollup(m), NULL, 'rollup of nothing')
FROM (SELECT NULL::bayes_model AS m) AS nothing;

CREATE TABLE large AS SELECT v.* FROM visits AS v, generate_series(1, 60);
ANALYZE large;
CREATE TABLE serial AS SELECT beta_bernoulli_fit(bought)::text AS beta,
    gamma_poisson_fit(items)::text AS gamma, dirichlet_categorical_fit(source)::text AS labels,
    bayes_mean(normal_inverse_gamma_fit(x)) AS mean
  FROM large;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS
  $$BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END$$;
SELECT ok(EXISTS (SELECT FROM plan_of('SELECT beta_bernoulli_fit(bought), gamma_poisson_fit(items),
  dirichlet_categorical_fit(source), normal_inverse_gamma_fit(x) FROM large') AS line
  WHERE line ~ 'Partial Aggregate'), 'workers aggregate in part');
SELECT results_eq('SELECT beta_bernoulli_fit(bought)::text, gamma_poisson_fit(items)::text,
    dirichlet_categorical_fit(source)::text, bayes_mean(normal_inverse_gamma_fit(x))
  FROM large', 'SELECT * FROM serial', 'with the same result');
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;

CREATE VIEW moving AS SELECT id, beta_bernoulli_fit(bought) OVER w AS beta,
    gamma_poisson_fit(items, NULL, 0.1 + items) OVER w AS gamma,
    normal_inverse_gamma_fit(x, NULL, 0.1 + items) OVER w AS normal,
    dirichlet_categorical_fit(nullif(source, 'app')) OVER w AS labels
  FROM visits WINDOW w AS (ORDER BY id ROWS BETWEEN 20 PRECEDING AND CURRENT ROW);
SELECT never($$SELECT m.id, m.beta::text <> r.beta::text OR m.labels::text <> r.labels::text
    OR NOT near(bayes_mean(m.gamma), bayes_mean(r.gamma), 1e-14)
    OR NOT near(bayes_mean(m.normal) - 1e8,
      bayes_mean(r.normal) - 1e8, 1e-7)
    OR m.id > 2 AND NOT near(i.upper - i.lower, j.upper - j.lower, 1e-9) AS wrong
  FROM (SELECT * FROM moving WHERE id % 97 = 0) AS m,
    LATERAL (SELECT beta_bernoulli_fit(bought) AS beta,
      gamma_poisson_fit(items, NULL, 0.1 + items) AS gamma,
      normal_inverse_gamma_fit(x, NULL, 0.1 + items) AS normal,
      dirichlet_categorical_fit(nullif(source, 'app')) AS labels
    FROM visits AS v WHERE v.id BETWEEN m.id - 20 AND m.id) AS r,
    bayes_interval(m.normal) AS i, bayes_interval(r.normal) AS j$$,
  'moving windows give what their frames give');
SELECT never($$SELECT id, NOT near(bayes_mean(m), id - 1) AS wrong FROM (
    SELECT id, normal_inverse_gamma_fit(CASE WHEN id = 5 THEN 1e120 ELSE id END) OVER
      (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM visits) AS v
  WHERE id BETWEEN 8 AND 20$$, 'a huge number that leaves the frame takes nothing with it');

-- ---- two posteriors ----

CREATE TABLE two AS SELECT beta_bernoulli_fit(i < 120, NULL, 1) AS a,
    (SELECT beta_bernoulli_fit(i < 140) FROM generate_series(0, 999) AS i) AS b
  FROM generate_series(0, 999) AS i;
SELECT ok(near(bayes_greater(a, b), 0.092127413629776614522, 1e-12)
  AND near(bayes_loss(a, b), 0.020606268897862759373, 1e-13)
  AND near(bayes_lift(b, a), (141 / 1002.0) * (1001 / 120.0) - 1, 1e-13),
  'A/B: by finite sums') FROM two;
SELECT ok(near(bayes_greater(a, b) + bayes_greater(b, a), 1)
  AND near(bayes_loss(a, b) - bayes_loss(b, a),
    bayes_mean(b) - bayes_mean(a))
  AND near(bayes_lift(b, a), bayes_mean(b) / bayes_map(a) - 1, 1e-13),
  'rates: the mode is the inverse of the mean of the inverse')
  FROM (SELECT gamma_poisson_fit(items) FILTER (WHERE shop = 1) AS a,
    gamma_poisson_fit(items) FILTER (WHERE shop = 2) AS b FROM visits) AS v;
SELECT ok(near(bayes_greater(a, b) + bayes_greater(b, a), 1)
  AND bayes_loss(a, b) > 0, 'means')
  FROM (SELECT normal_inverse_gamma_fit(x) FILTER (WHERE shop = 1) AS a,
    normal_inverse_gamma_fit(x) FILTER (WHERE shop = 2) AS b FROM visits) AS v;

SELECT is((SELECT string_agg(DISTINCT proargnames::text, ' ') FROM pg_proc
  WHERE proname ~ '^bayes_(greater|loss|lift)$'),
  '{a,b}', 'the first of two posteriors is the one in question');

-- ---- NULLs, weights, errors ----

SELECT is((SELECT beta_bernoulli_fit(NULL::boolean) FROM visits), NULL, 'NULLs alone give NULL');
SELECT is((SELECT (bayes_info(beta_bernoulli_fit(nullif(bought, true)))).skipped FROM visits),
  (SELECT count(*) FROM visits WHERE bought), 'NULLs are counted');
SELECT is((SELECT bayes_mean(beta_bernoulli_fit(b, NULL, w))
  FROM (VALUES (true, 2), (false, 3), (true, 0), (false, NULL)) AS v(b, w)), 3 / 7.0::float8,
  'weights: how many times a row counts');
SELECT is((SELECT bayes_mean(normal_inverse_gamma_fit(x, NULL, w))
  FROM (VALUES ('NaN'::float8, 0), (3, 1), (4, 1), (5, 1), ('Infinity', NULL))
    AS v(x, w)), 4::float8,
  'a row of weight 0 is left out, whatever it is');
SELECT throws_ok($$SELECT gamma_poisson_fit(1, NULL, 0)$$, '22023',
  'count of row 1 is 1, but its exposure is 0', 'of exposure 0, if nothing was counted');
SELECT throws_ok(format($$SELECT %1$s_fit(bought, jsonb_build_object('prior',
    jsonb_build_object(%2$L, 1 + id %% 2))) FROM visits$$, family, parameter), '22023',
  'options must be the same for all rows of one fit', family || ': options that differ')
  FROM (VALUES ('beta_bernoulli', 'a'), ('dirichlet_categorical', 'alpha')) AS v(family, parameter);
SELECT throws_ok($$SELECT gamma_poisson_fit(-1)$$, '22023',
  'count of row 1 is -1, but must be at least 0');
SELECT throws_ok($$SELECT normal_inverse_gamma_fit(CASE WHEN i = 1234567 THEN 'NaN'
    ELSE 1::float8 END) FROM generate_series(1, 1234567) AS i$$, '22023', 'x of row 1234567 is NaN',
  'rows are counted in full');
SELECT throws_ok('SELECT normal_inverse_gamma_fit(''NaN''::float8)', '22023', NULL,
  'NaN is an error');
SELECT throws_ok('SELECT bayes_log_density(normal, ''NaN'') FROM fits', '22023',
  'x is NaN');
SELECT throws_ok('SELECT bayes_log_density(normal, ''-Infinity'') FROM fits',
  '22023', 'x is -Infinity');
SELECT throws_ok('SELECT bayes_log_density(labels, ''NaN''::float8) FROM fits',
  '22023', 'the label is NaN');
SELECT throws_ok('SELECT beta_bernoulli_fit(true, ''{"prior": {"a": 0}}'')', '22023', NULL,
  'so is an improper prior of a probability');
SELECT throws_ok('SELECT bayes_mean(labels) FROM fits', '42804', NULL,
  'labels have no one mean');

-- ---- huge numbers ----

CREATE TABLE huge AS
SELECT normal_inverse_gamma_fit(x) AS mean,
  normal_inverse_gamma_fit(i, NULL, x) AS weighted, gamma_poisson_fit(i, NULL, x) AS rate,
  dirichlet_categorical_fit(i % 2, NULL, x) AS share,
  beta_bernoulli_fit(i % 2 = 0, NULL, CASE i WHEN 1 THEN 1 ELSE 1e17 END) AS success
FROM (VALUES (1, 1.1e28), (2, 2.7e60), (3, -1.3e140), (4, 1e-320)) AS v(i, y), abs(y) AS x;
SELECT ok((model::text::bayes_model)::text = model::text, 'a model that is read again')
FROM huge, unnest(ARRAY[mean, weighted, rate, share, success]) AS model;
SELECT is((bayes_info(model::text::bayes_model)).rows, rows, 'and one of the largest squares')
FROM (SELECT normal_inverse_gamma_fit(x) AS model, count(*) AS rows
      FROM unnest('{1e150,-1e150}'::float8[]) AS x
      UNION ALL SELECT normal_inverse_gamma_fit(x, NULL, 1e100), count(*)
      FROM unnest('{1e100,-1e100,3}'::float8[]) AS x) AS f;
SELECT throws_ok($$SELECT normal_inverse_gamma_fit(x, NULL, 1e10)
  FROM unnest('{1e150,-1e150}'::float8[]) AS x$$, '22003',
  'sums over the rows are beyond double precision', 'squares that are not finite');
SELECT throws_ok($$SELECT normal_inverse_gamma_fit(1e150, '{"prior": {"c": 1e150}}', 1e150)$$,
  '22003', 'sums over the rows are beyond double precision', 'also beside the mean of the prior');
SELECT throws_ok($$SELECT dirichlet_categorical_fit(x) FROM unnest('{1,NaN}'::float8[]) AS x$$,
  '22023', 'the label of row 2 is NaN', 'a NaN is no label');

-- The transition state of a window goes on after a result.
CREATE TABLE thirds AS SELECT i % 3 AS part, normal_inverse_gamma_fit(i) AS model
FROM generate_series(1, 30) AS i GROUP BY 1;
SELECT results_eq('SELECT (bayes_info(bayes_rollup(model) OVER (ORDER BY part))).rows FROM thirds',
  'VALUES (10::bigint), (20), (30)', 'models are put together in a window');

-- A negative binomial distribution of counts as large as bytes: next to a normal one, whose
-- variance is the mean times 1 + 1 / rows.
SELECT never($$SELECT x, n, NOT near(bayes_log_density(m, x::bigint),
    -0.5 * ln(2 * pi() * x * (1 + 1.0::float8 / n)), 1e-5) AS wrong
  FROM (SELECT x, n, gamma_poisson_fit(x::bigint) AS m FROM unnest('{1e12,1e15,1e18}'::float8[])
    AS x, unnest('{1,10,1000}'::int[]) AS n, generate_series(1, n) GROUP BY x, n) AS f$$,
  'large counts');

-- ---- successes that are 1 and 0 ----

SELECT results_eq($$SELECT beta_bernoulli_fit(i % 3 / 2), beta_bernoulli_fit((i % 3 / 2)::int2,
    '{"prior": {"a": 2}}', i) FROM generate_series(1, 20) AS i$$,
  $$SELECT beta_bernoulli_fit(i % 3 = 2), beta_bernoulli_fit(i % 3 = 2, '{"prior": {"a": 2}}', i)
    FROM generate_series(1, 20) AS i$$, 'integers are successes and failures');
SELECT results_eq($$SELECT bayes_mean(beta_bernoulli_fit(i % 2) OVER w)
    FROM generate_series(1, 20) AS i WINDOW w AS (ORDER BY i ROWS 4 PRECEDING)$$,
  $$SELECT bayes_mean(beta_bernoulli_fit(i % 2 = 1) OVER w)
    FROM generate_series(1, 20) AS i WINDOW w AS (ORDER BY i ROWS 4 PRECEDING)$$,
  'in moving windows');
SELECT throws_ok('SELECT beta_bernoulli_fit(i) FROM generate_series(1, 3) AS i', '22023',
  'success of row 2 is 2', 'but no others');
SELECT is((SELECT beta_bernoulli_fit(i, '{"on_error": "null"}') FROM generate_series(1, 3) AS i),
  NULL, 'unless on_error says so');
SELECT * FROM finish();
