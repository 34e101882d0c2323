-- Gaussian mixtures: what a fitted model says, on real data, for every method and covariance.
SELECT plan(76);
\ir ../lib/checks.sql


-- ---- known optima ----

SELECT ok(near(log_likelihood, -1130.263968, 1e-6),
  'Old Faithful, 2 components: the maximum likelihood')
FROM (SELECT gmm_fit(x, 2, '{"method": "em", "tol": 1e-10}') AS m FROM faithful) f, bayes_info(m);
SELECT ok(near(log_likelihood, -180.1855, 1e-6), 'iris, 3 components')
  FROM (SELECT gmm_fit(x, 3, '{"method": "em", "tol": 1e-10}') AS m FROM iris) f, bayes_info(m);
SELECT ok(all_true(abs(i.log_likelihood - -1130.263968) < 1e-4), 'from ten other seeds too')
  FROM (SELECT gmm_fit(x, 2, jsonb_build_object('method', 'em', 'seed', seed)) AS m FROM faithful,
    generate_series(11, 20) AS seed GROUP BY seed) f, bayes_info(m) i;
SELECT ok(near(mean, ARRAY[4.289662, 79.968115], 1e-4) AND near(weight, 0.644127, 1e-4),
  'where the larger component of Old Faithful is known to be')
  FROM (SELECT gmm_fit(x, 2, '{"method": "em", "tol": 1e-10}') AS m FROM faithful) f,
    gmm_components(m) WHERE component = 1;
-- One component is the sample's own mean and covariance.
SELECT ok(near(c.mean, ARRAY[s.m1, s.m2]) AND near(c.covariance,
  ARRAY[[s.v1, s.v12], [s.v12, s.v2]], 1e-8) AND c.weight = 1 AND c.count = 272,
  'one component: mean and covariance of the rows')
  FROM (SELECT gmm_fit(x, 1, '{"method": "em"}') AS m FROM faithful) f, gmm_components(m) c,
    (SELECT avg(eruptions) m1, avg(waiting) m2, var_pop(eruptions) v1, var_pop(waiting) v2,
      covar_pop(eruptions, waiting) v12 FROM faithful) s;

-- ---- every method with every covariance ----

CREATE TABLE fits AS
  SELECT data, method, covariance, k, CASE data
    WHEN 'iris' THEN (SELECT gmm_fit(x, k, options) FROM iris)
    WHEN 'faithful' THEN (SELECT gmm_fit(x, k, options) FROM faithful)
    WHEN 'galaxies' THEN (SELECT gmm_fit(x, k, options) FROM galaxies)
    ELSE (SELECT gmm_fit(x, k, options) FROM quakes) END AS model
  FROM (VALUES ('iris', 3), ('faithful', 2), ('galaxies', 4), ('quakes', 3)) AS d(data, k),
    (SELECT m AS method, c AS covariance FROM unnest('{em,map,vi,svi}'::text[]) m,
      unnest('{full,diagonal,spherical,tied}'::text[]) c UNION ALL SELECT 'kmeans', NULL
      UNION ALL SELECT 'independent', 'full') AS a,
    LATERAL (SELECT jsonb_strip_nulls(CASE method
      WHEN 'independent' THEN '{"prior": {"type": "independent"}}'
      ELSE jsonb_build_object('method', method, 'covariance', covariance, 'restarts',
      3) END) AS options) AS o;
CREATE TABLE rows AS SELECT 'iris' AS data, id, x FROM iris UNION ALL SELECT 'faithful', id, x
  FROM faithful UNION ALL SELECT 'galaxies', id, x FROM galaxies UNION ALL SELECT 'quakes', id, x
  FROM quakes WHERE id <= 300;
CREATE TABLE components AS SELECT data, method, f.covariance AS shape, k, c.* FROM fits f,
  gmm_components(model) c;
SELECT is((SELECT count(*) FROM fits WHERE model IS NOT NULL), 72::bigint, 'all of them fit');

SELECT never($$SELECT data, method, shape, count(*), sum(weight),
  count(*) <> k OR NOT near(sum(weight), 1) OR min(weight) < 0 AS wrong FROM components GROUP BY 1,
  2, 3, k$$, 'k components whose weights are probabilities');
SELECT never($$SELECT *, b.weight > a.weight AS wrong FROM components a
  JOIN components b USING (data, method, shape) WHERE b.component = a.component + 1 AND a.method
  <> 'kmeans'$$, 'in the order of descending weight');
SELECT never($$SELECT *, (b.count > a.count OR b.weight <> 1.0 / a.k) AS wrong FROM components a
  JOIN components b USING (data, method) WHERE b.component = a.component + 1 AND a.method
  = 'kmeans'$$, 'or, for kmeans, of descending count');
SELECT never($$SELECT data, method, shape, sum(count),
  NOT near(sum(count),
  (SELECT i.rows FROM fits f, bayes_info(model) i WHERE (f.data, f.method)
  = (components.data, components.method) AND f.covariance IS NOT DISTINCT FROM components.shape),
  1e-6) AS wrong FROM components GROUP BY 1, 2, 3$$, 'counts sum to the rows');
SELECT never($$SELECT *, array_ndims(mean) <> 1 OR array_dims(covariance)
  <> format('[1:%s][1:%1$s]', array_length(mean, 1)) AS wrong FROM components$$,
  'means are d, covariances d x d');
SELECT never($$SELECT data, method, shape, component,
  covariance[i][j] <> covariance[j][i] OR covariance[i][i] <= 0 OR covariance[i][j] ^ 2
  > covariance[i][i] * covariance[j][j] * (1 + 1e-12) AS wrong FROM components,
  generate_subscripts(mean, 1) i, generate_subscripts(mean, 1) j$$,
  'covariances are symmetric and could be covariances');
SELECT never($$SELECT data, method, shape, covariance[i][j] <> 0 AS wrong FROM components,
  generate_subscripts(mean, 1) i, generate_subscripts(mean, 1) j
  WHERE i <> j AND coalesce(shape, 'spherical') IN ('diagonal', 'spherical')$$,
  'diagonal and spherical ones are diagonal');
SELECT never($$SELECT data, method, shape, covariance[i][i] <> covariance[1][1] AS wrong
  FROM components, generate_subscripts(mean, 1) i WHERE coalesce(shape, 'spherical')
  = 'spherical'$$, 'spherical ones have one variance');
SELECT never($$SELECT data, method, count(DISTINCT covariance) > 1 AS wrong FROM components
  WHERE shape = 'tied' OR method = 'kmeans' GROUP BY 1, 2, shape$$, 'tied ones are all the same');
SELECT cmp_ok((SELECT count(DISTINCT covariance) FROM components
  WHERE shape = 'full' AND method = 'em' AND data = 'iris'), '=', 3::bigint, 'full ones are not');

SELECT never($$SELECT data, method, covariance, restart, iteration,
  objective < before - 1e-9 * abs(before) AS wrong
  FROM (SELECT *, lag(objective) OVER (PARTITION BY data, method, f.covariance,
  restart ORDER BY iteration) AS before FROM fits f, bayes_trace(model)) AS t
WHERE method <> 'svi' AND before IS NOT NULL$$, 'no iteration lowers the objective');
SELECT cmp_ok((SELECT count(*) FROM fits, bayes_trace(model) WHERE method <> 'svi'), '>',
  1000::bigint, 'among a thousand iterations');
SELECT never($$SELECT data, method, covariance, min(iteration) <> 0 OR min(restart) < 1
    OR count(DISTINCT restart) > 10 AS wrong FROM fits, bayes_trace(model) GROUP BY 1, 2, 3$$,
  'iterations count from 0, the starting point; of restarts there are the ten best');
SELECT never($$SELECT f.data, f.method, f.covariance, NOT i.converged AS wrong FROM fits f,
  bayes_info(model) i$$, 'the defaults converge on real data');

-- ---- scoring: the functions agree with each other, with the parameters, and with the definition
-- ----

CREATE TABLE scores AS
  SELECT data, id, method, covariance, k, gmm_predict(model, x) AS label,
    bayes_probabilities(model, x) AS p, bayes_log_density(model, x) AS density FROM fits
    JOIN rows USING (data);
SELECT never($$SELECT *,
  array_length(p, 1) <> k OR NOT near((SELECT sum(v) FROM unnest(p) v), 1, 1e-12)
  OR (SELECT min(v) < 0 OR max(v) > 1 FROM unnest(p) v) AS wrong FROM scores$$,
  'probabilities are probabilities');
SELECT never($$SELECT *, label NOT BETWEEN 1 AND k OR p[label]
  < (SELECT max(v) FROM unnest(p) v) AS wrong FROM scores$$,
  'the label is the most probable component');
SELECT never($$SELECT data, method, covariance, count(DISTINCT label) < 2 AS wrong FROM scores
  GROUP BY 1, 2, 3$$, 'and not always the same one');
SELECT never($$SELECT data, s.method, s.covariance, sum(density), i.log_likelihood,
  NOT near(sum(density), i.log_likelihood, 1e-9) AS wrong FROM scores s
  JOIN fits f USING (data, method), bayes_info(f.model) i
  WHERE s.covariance IS NOT DISTINCT FROM f.covariance AND s.method IN ('em', 'map', 'kmeans')
    AND data <> 'quakes' GROUP BY 1, 2, 3, 5$$, 'log densities sum to the log-likelihood');
-- The definition, by hand, for two columns.
CREATE TABLE by_hand AS
  SELECT id, method, shape,
    array_agg(weight
    * exp(-0.5 * (covariance[2][2] * u * u - 2 * covariance[1][2] * u * v + covariance[1][1] * v
    * v) / det) / (2 * pi() * sqrt(det)) ORDER BY component) AS parts
  FROM components, faithful,
    LATERAL (SELECT covariance[1][1] * covariance[2][2] - covariance[1][2] ^ 2 AS det,
    x[1] - mean[1] AS u, x[2] - mean[2] AS v) AS d
  WHERE data = 'faithful' AND method IN ('em', 'map', 'kmeans') GROUP BY 1, 2, 3;
SELECT never($$SELECT id, method,
  NOT near(density, ln((SELECT sum(v) FROM unnest(parts) v)), 1e-8) AS wrong FROM by_hand b
  JOIN scores s USING (id, method) WHERE data = 'faithful' AND b.shape IS NOT DISTINCT
  FROM s.covariance$$, 'the density is the weighted sum of normal densities');
SELECT never($$SELECT id, method, NOT near(p[1], parts[1] / total, 1e-8) AS wrong FROM by_hand b
  JOIN scores s USING (id, method), LATERAL (SELECT sum(v) AS total FROM unnest(parts) v) t
  WHERE data = 'faithful' AND b.shape IS NOT DISTINCT FROM s.covariance$$,
  'the probabilities are its parts');
SELECT cmp_ok((SELECT count(*) FROM by_hand), '=', 272 * 9::bigint, 'that was not about nothing');
SELECT never($$SELECT method, covariance, sum(p), abs(sum(p) - 1) > 1e-3 AS wrong FROM fits,
  generate_series(-20000, 23000) AS v,
  LATERAL (SELECT exp(greatest(bayes_log_density(model, ARRAY[v / 50.0]), -700)) / 50 AS p) AS d
  WHERE data = 'galaxies' AND method IN ('em', 'vi', 'independent') GROUP BY 1, 2$$,
    'predictive densities integrate to 1');
SELECT is((SELECT gmm_predict(model, NULL) FROM fits LIMIT 1), NULL, 'a NULL row has no label');
SELECT is(gmm_predict(NULL, '{1}'), NULL, 'nor has any row without a model');
SELECT is(coalesce(bayes_probabilities(NULL, '{1}')::text,
  bayes_probabilities((SELECT model FROM fits LIMIT 1), NULL)::text,
  bayes_log_density(NULL, '{1}')::text,
  bayes_log_density((SELECT model FROM fits LIMIT 1), NULL)::text), NULL, 'all scores are strict');

-- ---- bayes_info ----

SELECT never($$SELECT f.data, f.method, (i.rows <> n AND f.data <> 'quakes') OR i.skipped <> 0
  OR i.dimension <> d OR i.components <> f.k OR i.method <> CASE f.method
  WHEN 'independent' THEN 'vi' ELSE f.method END AS wrong FROM fits f, bayes_info(model) i,
  LATERAL (SELECT count(*) AS n, max(array_length(x, 1)) AS d
  FROM (SELECT x FROM rows r WHERE r.data = f.data) r) r$$, 'bayes_info tells what was fitted');
SELECT never($$SELECT f.data, f.method, i.objective <> i.log_likelihood AS wrong FROM fits f,
  bayes_info(model) i WHERE f.method = 'em'$$, 'the objective of em is the log-likelihood');
SELECT never($$SELECT f.data, f.method, i.objective >= i.log_likelihood AS wrong FROM fits f,
  bayes_info(model) i WHERE f.method IN ('vi', 'svi', 'independent')$$,
  'an ELBO is below the log-likelihood');
SELECT never($$SELECT v.data, v.covariance, s.objective, v.objective,
  s.objective > v.objective + 0.02 * abs(v.objective) AS wrong
  FROM (SELECT data, f.covariance, i.objective FROM fits f, bayes_info(model) i
  WHERE f.method = 'vi') v
JOIN (SELECT data, f.covariance, i.objective FROM fits f, bayes_info(model) i
  WHERE f.method = 'svi') s USING (data, covariance)$$, 'svi does not beat vi by much');
SELECT results_eq($$SELECT i.options->>'method', i.options->>'covariance',
  (i.options->>'restarts')::int, (i.options->>'seed')::int, (i.options->>'max_iter')::int,
  (i.options->>'tol')::float8, i.options->>'init', i.options->>'missing', i.options->>'on_error',
  i.options ? 'max_seconds'
    FROM (SELECT gmm_fit(x, 2) AS m FROM faithful) f, bayes_info(m) i$$,
      $$VALUES ('vi', 'full', 8, 1, 10000, 1e-4::float8, 'kmeans', 'marginalize', 'error',
        false)$$,
      'options in force, defaults included');
-- The default prior, by its formulas.
SELECT ok(near((p->>'c')::float8, 0.01) AND near((p->>'a')::float8, 4)
  AND near((p->>'alpha')::float8, 1) AND near((p->'m'->>1)::float8, s.m2)
  AND near((p->'B'->0->>1)::float8, s.v12 / 2, 1e-8)
  AND near((p->'B'->1->>1)::float8, s.v2 / 2, 1e-8) AND p->>'type' = 'linked',
  'the default prior is the documented one')
  FROM (SELECT i.options->'prior' AS p FROM fits f, bayes_info(model) i
    WHERE data = 'faithful' AND f.method = 'vi' AND f.covariance = 'full') f,
    (SELECT avg(waiting) m2, var_pop(waiting) v2, covar_pop(eruptions, waiting) v12
      FROM faithful) s;
-- With B = "precision", a (7, or 4 by default) times that, in every family with normals.
SELECT never($$SELECT name, p->'B', NOT CASE name WHEN 'diagonal'
      THEN near((p->'B'->>1)::float8, 7 * s.v2 / k, 1e-8)
    ELSE near((p->'B'->0->>1)::float8, (p->>'a')::float8 * s.v12 / k, 1e-8)
      AND near((p->'B'->0->>0)::float8, (p->>'a')::float8 * s.v1 / k, 1e-8) END AS wrong
  FROM (
    SELECT name, k, d, i.options->'prior' AS p FROM (VALUES
      ('gmm', 3, 2, (SELECT gmm_fit(x, 3, '{"prior": {"B": "precision"}}') FROM faithful)),
      ('diagonal', 2, 2, (SELECT gmm_fit(x, 2,
        '{"covariance": "diagonal", "prior": {"B": "precision", "a": 7}}') FROM faithful)),
      ('dpmm', 5, 2, (SELECT dpmm_fit(x, '{"method": "vi", "prior": {"B": "precision", "a": 7}}')
        FROM faithful)),
      ('hmm', 2, 2, (SELECT hmm_fit(xs, 2, '{"prior": {"B": "precision"}}')
        FROM (SELECT array_agg(x) AS xs FROM faithful) AS s))) AS m(name, k, d, model),
      bayes_info(model) AS i) AS f,
    (SELECT var_pop(waiting) AS v2, var_pop(eruptions) AS v1,
       covar_pop(eruptions, waiting) AS v12 FROM faithful) AS s$$,
  'prior.B precision is a times as much');
SELECT is((SELECT jsonb_object_agg(f.method,
  (SELECT string_agg(key, ' ' ORDER BY key) FROM jsonb_object_keys(i.options) key)) FROM fits f,
  bayes_info(model) i WHERE data = 'iris' AND coalesce(f.covariance, 'full') = 'full' AND f.method
  <> 'independent'),
  '{"em": "covariance covariance_floor degenerate init max_iter method missing on_error restarts '
    'seed tol", "map": "covariance init max_iter method missing on_error prior restarts seed tol",
    "kmeans": "init max_iter method missing on_error restarts seed tol",
    "vi": "covariance init max_iter method missing on_error prior restarts seed tol",
    "svi": "batch_size covariance init kappa max_iter method missing on_error prior restarts seed'
    ' t0 tol"}'::jsonb, 'each method has its options');
SELECT never($$SELECT f.data, f.method, f.covariance,
  (SELECT timeless(gmm_fit(x, f.k, i.options), 'given_prior') FROM iris)
    <> timeless(model, 'given_prior') AS wrong
  FROM fits f, bayes_info(model) i WHERE data = 'iris' AND f.method <> 'svi'$$,
  'the options of bayes_info make the same model again');

-- ---- the posterior ----

CREATE TABLE posteriors AS SELECT data, f.method, f.covariance AS shape, k, p.* FROM fits f,
  gmm_posterior(model) p WHERE f.method IN ('vi', 'svi', 'independent');
SELECT never($$SELECT data, method, shape, count(*) <> k OR min(alpha) <= 0 OR min(a) <= 0 AS wrong
  FROM posteriors GROUP BY 1, 2, 3, k$$, 'a posterior for every component');
SELECT never($$SELECT data, method, array_dims(b) <> format('[1:%s][1:%1$s]', array_length(m, 1))
  OR (s IS NULL) <> (method <> 'independent') OR (c IS NULL) <> (method = 'independent') AS wrong
  FROM posteriors p$$, 'its shapes; s with the independent prior only');
SELECT never($$SELECT data, method, NOT near(q.mean, p.m)
  OR NOT near(q.covariance,
  (SELECT array_agg(line ORDER BY i)
  FROM (SELECT i, array_agg(p.b[i][j] / p.a ORDER BY j) AS line FROM generate_subscripts(p.b, 1) i,
  generate_subscripts(p.b, 2) j GROUP BY i) t), 1e-8) AS wrong FROM posteriors p
JOIN components q USING (data, method, shape, component)$$, 'the point estimate is m and b / a');
SELECT never($$SELECT data, method, shape, component, NOT near(weight, alpha / total) AS wrong
  FROM (SELECT p.*, q.weight, sum(alpha) OVER (PARTITION BY data, method, shape) AS total
  FROM posteriors p JOIN components q USING (data, method, shape, component)) t$$,
  'and the weight alpha over its sum');
SELECT never($$SELECT data, method, NOT near(p.alpha, q.count + 1, 0.02) AS wrong FROM posteriors p
  JOIN components q USING (data, method, shape, component) WHERE method = 'vi'$$,
  'alpha is the prior''s and the count (of one iteration later)');
SELECT never($$SELECT data, shape, NOT near(p.c, q.count + 0.01, 0.02) AS wrong FROM posteriors p
  JOIN components q USING (data, method, shape, component) WHERE method = 'vi'$$, 'so is c');
SELECT never($$SELECT data, method, shape, count(DISTINCT a) > 1 OR count(DISTINCT b) > 1 AS wrong
  FROM posteriors WHERE shape = 'tied' GROUP BY 1, 2, 3$$, 'tied: one Wishart');

-- ---- draws ----

SELECT same_rows('SELECT s.* FROM fits, bayes_sample(model, 50, 7) s',
  'SELECT s.* FROM fits, bayes_sample(model, 50, 7) s', 'the same seed draws the same');
SELECT ok((SELECT array_agg(s.x::text) FROM fits f, bayes_sample(model, 50, 7) s
  WHERE data = 'iris')
  <> (SELECT array_agg(s.x::text) FROM fits f, bayes_sample(model, 50, 8) s WHERE data = 'iris'),
  'another seed draws others');
SELECT same_rows('SELECT component, x FROM fits, bayes_sample(model, 10, 7)',
  'SELECT component, x FROM fits, LATERAL (SELECT * FROM bayes_sample(model, 1000, 7) LIMIT 10) s',
  'the first of many draws are those of few');
SELECT is((SELECT count(*) FROM fits, bayes_sample(model, 0, 1))
  + (SELECT count(*) FROM bayes_sample(NULL, 5, 1)) + (SELECT count(*) FROM fits,
  bayes_sample(model, NULL, 1)) + (SELECT count(*) FROM fits, bayes_sample(model, 1, NULL)),
  0::bigint,
  'none asked for, none drawn');
SELECT never($$SELECT data, method, array_length(s.x, 1)
  <> array_length((SELECT mean FROM gmm_components(model) LIMIT 1), 1) OR s.component NOT BETWEEN 1
  AND f.k AS wrong FROM fits f, bayes_sample(model, 100, 3) s$$, 'draws have the shape of rows');
SELECT lives_ok('SELECT count(*) FROM fits, bayes_sample(model, 10, -9223372036854775808)',
  'any bigint is a seed');
-- 20,000 draws: every count and mean within 6 standard errors; two such tests in a million fail by
-- chance.
SELECT never($$SELECT f.method, c.component,
  (abs(n - 20000 * weight) > 6 * sqrt(20000 * weight * (1 - weight)) OR abs(m - mean[1]) > 6.5
  * sqrt(c.covariance[1][1] / n)) AS wrong FROM fits f, gmm_components(model) c,
  LATERAL (SELECT count(*) AS n, avg(s.x[1]) AS m FROM bayes_sample(model, 20000, 5) s
  WHERE s.component = c.component) d WHERE data = 'faithful' AND f.covariance = 'full'$$,
  'draws have the weights and means of the model');

-- ---- by sampling ----

CREATE TABLE sampled AS SELECT gmm_fit(x, 2, '{"method": "gibbs"}') AS gibbs,
  gmm_fit(x, 2, '{"method": "collapsed"}') AS collapsed,
  gmm_fit(x, 2, '{"method": "mcem"}') AS mcem,
  gmm_fit(x, 2, '{"method": "gibbs", "covariance": "tied"}') AS tied, gmm_fit(x, 2) AS vi
    FROM faithful;
SELECT ok(abs(s.weight - v.weight) < 0.02 AND abs(s.mean[1] - v.mean[1]) < 0.05
  AND abs(s.covariance[2][2] / v.covariance[2][2] - 1) < 0.1,
  method || ' agrees with vi on component ' || component)
  FROM sampled, LATERAL (VALUES ('gibbs', gibbs), ('collapsed', collapsed),
    ('mcem', mcem)) AS m(method, model), LATERAL (SELECT * FROM gmm_components(model)) AS s
  JOIN LATERAL (SELECT * FROM gmm_components(vi)) AS v USING (component);
SELECT ok(abs(bayes_log_density(gibbs, x) - bayes_log_density(vi, x)) < 0.1
  AND abs(bayes_log_density(gibbs, x) - bayes_log_density(collapsed, x)) < 0.05,
  'and on the density')
FROM sampled, (VALUES ('{2,54}'::float8[]), ('{4.3,80}')) AS v(x);
SELECT ok(bayes_log_density_mcse(gibbs, x) BETWEEN 1e-9 AND 0.1 AND (SELECT max(p) BETWEEN 1e-12
  AND 0.1 FROM unnest(bayes_probabilities_mcse(gibbs, x)) AS p), 'with their standard errors')
FROM sampled, (VALUES ('{2,54}'::float8[])) AS v(x);
SELECT throws_ok('SELECT bayes_log_density_mcse(vi, ''{1,2}'') FROM sampled', '22023',
  'model has no posterior draws', 'which vi has not');
SELECT is((SELECT row(i.draws, i.stored_draws, v.draws, v.stored_draws)::text
  FROM sampled, bayes_info(gibbs) AS i, bayes_info(vi) AS v), '(2000,500,,)',
  'of all draws some are stored');
SELECT is((SELECT array_agg(stored_draws ORDER BY o) FROM (SELECT o, gmm_fit(x, 2, o) AS model
  FROM faithful, unnest(ARRAY['{"method": "gibbs", "draws": 40, "stored_draws": 7}',
  '{"method": "gibbs", "draws": 40, "stored_draws": 700}']::jsonb[]) AS o GROUP BY o) AS f,
  bayes_info(model)), '{4,80}', 'as many as asked for');
SELECT throws_ok('SELECT gmm_fit(x, 2, ''{"stored_draws": 7}'') FROM faithful', '22023',
  'option "stored_draws" does not apply to method vi', 'where there are draws');
SELECT same((SELECT (gibbs::text::bayes_model)::text FROM sampled),
  (SELECT gibbs::text FROM sampled), 'text and back with draws');
SELECT same((SELECT (tied::text::bayes_model)::text FROM sampled), (SELECT tied::text FROM sampled),
  'and with one covariance for all');
SELECT is((SELECT count(*) FROM sampled, bayes_draws(collapsed)), 8000::bigint,
  'four quantities of every draw');
-- There is no rhat of what is the same in all draws.
SELECT ok(bool_and(r < 1.1) AND count(r) > 1, 'chains agree')
  FROM (SELECT bayes_rhat(value, chain ORDER BY chain, draw) AS r
    FROM sampled, bayes_draws(collapsed)
  GROUP BY quantity) AS q;
SELECT throws_ok('SELECT gmm_posterior(gibbs) FROM sampled', '22023', NULL, 'draws are no formula');
SELECT ok(abs(avg(x[2]) - 70.9) < 1.5, 'they can be drawn from') FROM sampled,
  bayes_sample(gibbs, 2000, 1);

-- Weights that make the posterior a point leave the normal density of em.
SELECT never($$SELECT w, covariance, NOT near(bayes_log_density(vi, ARRAY[2.0, 50]),
    bayes_log_density(em, ARRAY[2.0, 50]), 1e-9) AS wrong
  FROM (SELECT w, covariance, gmm_fit(x, 1, jsonb_build_object('covariance', covariance), w) AS vi,
      gmm_fit(x, 1, jsonb_build_object('covariance', covariance, 'method', 'em'), w) AS em
    FROM faithful, unnest('{1e10,1e12,1e14,1e50}'::float8[]) AS w,
      unnest('{full,diagonal,spherical}'::text[]) AS covariance GROUP BY 1, 2) AS f$$,
  'heavy rows');
-- Products of columns, and classes, are the same densities.
SELECT never($$SELECT w, product, class, whole_class, NOT (near(product, diagonal, 1e-9)
    AND near(class, diagonal, 1e-9) AND near(whole_class, whole, 1e-9)) AS wrong
  FROM (SELECT w, bayes_log_density(product, x) AS product, bayes_log_density(class, x) AS class,
      bayes_log_density(whole_class, x) AS whole_class, bayes_log_density(diagonal, x) AS diagonal,
      bayes_log_density(whole, x) AS whole
  FROM (SELECT w, gmm_fit(x, 1, '{"method": "em", "covariance": "diagonal"}', w) AS diagonal,
      gmm_fit(x, 1, '{"method": "em"}', w) AS whole,
      bmm_fit(x, 1, '{"likelihood": "normal"}', w) AS product,
      nb_fit('a', x, '{"likelihood": "normal"}', w) AS class,
      nb_fit('a', x, '{"likelihood": "normal", "covariance": "full"}', w) AS whole_class
    FROM faithful, unnest('{1e10,1e12,1e14,1e18}'::float8[]) AS w GROUP BY 1) AS f,
    LATERAL (SELECT '{2,50}'::float8[] AS x) AS far) AS d$$,
  'heavy rows of columns and of classes');
-- So do tails, boxes and intervals.
SELECT never($$SELECT w, covariance, NOT (near(bayes_anomaly(vi, far), bayes_anomaly(em, far), 1e-8)
    AND near(bayes_probability(vi, low, high), bayes_probability(em, low, high), 1e-8)
    AND near(v.lower, e.lower, 1e-8) AND near(v.upper, e.upper, 1e-8)
    AND near(v.sd, e.sd, 1e-8)) AS wrong
  FROM (SELECT w, covariance, gmm_fit(x, 1, jsonb_build_object('covariance', covariance), w) AS vi,
      gmm_fit(x, 1, jsonb_build_object('covariance', covariance, 'method', 'em'), w) AS em
    FROM faithful, unnest('{1e10,1e12,1e15,1e20}'::float8[]) AS w,
      unnest('{full,spherical}'::text[]) AS covariance GROUP BY 1, 2) AS f,
    LATERAL (SELECT '{2,50}'::float8[] AS far, '{3,60}'::float8[] AS low,
      '{5,90}'::float8[] AS high) AS rows,
    LATERAL bayes_conditional(vi, '{2,NULL}'::float8[]) AS v,
    LATERAL bayes_conditional(em, '{2,NULL}'::float8[]) AS e$$, 'tails of heavy rows');

SELECT * FROM finish();
