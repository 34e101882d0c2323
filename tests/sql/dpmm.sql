-- Dirichlet process mixtures: what fits say in every form, on real data, against definitions
-- written out, and against posteriors computed in full.
--
-- Samplers may take another way on another processor: sums differ in their last digits. So numbers
-- are compared with others of the same run, or with exact
-- posteriors to more than 5 Monte Carlo standard errors, which a correct sampler exceeds in fewer
-- than one of 10^6 such tests.
SELECT plan(72);
\ir ../lib/checks.sql
\ir ../lib/dpmm_draws.sql
SET client_min_messages = error;

-- All of a model that could differ.
CREATE FUNCTION bits(model bayes_model) RETURNS text
  RETURN (model::jsonb - '{seconds,given_prior}'::text[])::text;
CREATE TABLE nothing (id int, x float8[]);

-- ---- every method with every covariance ----

CREATE TABLE data AS SELECT 'faithful' AS data, id, x FROM faithful UNION ALL SELECT 'galaxies', id,
  x FROM galaxies UNION ALL SELECT 'iris', id, x FROM iris;
CREATE TABLE fits AS
  SELECT d.data, o.method, shape, options, (SELECT dpmm_fit(x, options ORDER BY id) FROM data r
    WHERE r.data = d.data) AS model
  FROM (VALUES ('faithful'), ('galaxies'), ('iris')) AS d(data),
    unnest('{collapsed,gibbs,slice,vi}'::text[]) AS o(method),
    unnest('{full,diagonal,spherical}'::text[]) AS shape,
    LATERAL (SELECT jsonb_build_object('method', o.method, 'covariance', shape) || CASE o.method
      WHEN 'vi' THEN '{"restarts": 3, "tol": 1e-5}' ELSE '{"draws": 60, "chains": 2}'::jsonb
      END AS options) AS all_options;
CREATE TABLE labels AS
  SELECT f.data, f.method, f.shape, c.id::int, c.cluster, c.probability FROM fits f,
    LATERAL dpmm_cluster(
      format('SELECT id, x FROM data WHERE data = %L ORDER BY id', f.data)::bayes_query,
      f.options) c;
CREATE TABLE infos AS SELECT f.data, f.method, f.shape, i.rows, i.skipped, i.dimension,
  i.components, i.iterations, i.converged, i.objective, i.log_likelihood, i.seed, i.options,
  i.method AS told, i.family, i.draws AS counted, i.stored_draws AS stored
  FROM fits f, bayes_info(model) i;
CREATE TABLE clusters AS SELECT f.data, f.method, f.shape, c.* FROM fits f, dpmm_clusters(model) c;
CREATE TABLE draws AS SELECT f.data, f.method, f.shape, d.* FROM fits f, draws_of(model) d
  WHERE f.method <> 'vi';
SELECT is((SELECT count(*) FROM fits WHERE model IS NOT NULL), 36::bigint, 'all of them fit');

SELECT never($$SELECT data, method, shape, family <> 'dpmm' OR told <> method
  OR rows <> (SELECT count(*) FROM data d WHERE d.data = infos.data) OR skipped <> 0
  OR dimension <> (SELECT max(array_length(x, 1)) FROM data d WHERE d.data = infos.data)
  OR seed <> 1 AS wrong FROM infos$$, 'bayes_info tells what was fitted');
SELECT never($$SELECT data, method, shape, components <> (SELECT count(*) FROM clusters c
  WHERE (c.data, c.method, c.shape) = (i.data, i.method, i.shape)) AS wrong FROM infos i$$,
  'its components are the clusters of the estimate');
SELECT never($$SELECT data, method, shape, cluster <> number AS wrong
  FROM (SELECT *, row_number() OVER (PARTITION BY data, method, shape ORDER BY cluster) AS number
  FROM clusters) c$$, 'clusters count from 1');
SELECT never($$SELECT *, b.count > a.count AS wrong
  FROM clusters a JOIN clusters b USING (data, method, shape) WHERE b.cluster = a.cluster + 1$$,
  'by descending count');
SELECT never($$SELECT data, method, shape, cluster, count IS DISTINCT FROM n AS wrong FROM clusters
  FULL JOIN (SELECT data, method, shape, cluster, count(*) AS n FROM labels GROUP BY 1, 2, 3, 4) l
  USING (data, method, shape, cluster)$$, 'and the relation has as many rows of each');
SELECT never($$SELECT *, cluster IS NULL OR NOT probability BETWEEN 0 AND 1 AS wrong FROM labels$$,
  'every row has a cluster and a probability');
SELECT never($$SELECT data, method, shape, c.count / c.weight <= i.rows AS wrong
  FROM clusters c JOIN infos i USING (data, method, shape)$$,
  'weights leave something for clusters to come');
SELECT never($$SELECT data, method, shape, NOT near(weight, count / (rows + alpha)) AS wrong
  FROM clusters c JOIN infos i USING (data, method, shape) JOIN (SELECT data, method, shape,
  avg(concentration) AS alpha FROM draws GROUP BY 1, 2, 3) d USING (data, method, shape)$$,
  'namely what the mean concentration asks for');
SELECT never($$SELECT data, method, shape, (array_dims(c.mean) <> format('[1:%s]', dimension)
  OR array_dims(c.covariance) <> format('[1:%s][1:%1$s]', dimension)) AS wrong
  FROM clusters c JOIN infos i USING (data, method, shape)$$, 'means are d, covariances d x d');

-- The posterior of a cluster given its rows, by hand, in the first column: m = (c m0 + n mean) / (c
-- + n); covariance B / a.
CREATE TABLE by_hand AS
  SELECT l.data, l.method, l.shape, l.cluster, count(*) AS n, avg(x[1]) AS mean,
    coalesce(var_pop(x[1]), 0) * count(*) AS scatter FROM labels l JOIN data USING (data, id)
    GROUP BY 1, 2, 3, 4;
CREATE TABLE priors AS SELECT data, method, shape, (p->>'c')::float8 AS c, (p->>'a')::float8 AS a,
  (p->'m'->>0)::float8 AS m, CASE shape WHEN 'full' THEN p->'B'->0->>0
  WHEN 'diagonal' THEN p->'B'->>0 ELSE p->>'B' END::float8 AS b FROM infos,
  LATERAL (SELECT options->'prior' AS p) o;
SELECT never($$SELECT data, method, shape, cluster, NOT near(c.mean[1], (p.c * p.m + n * h.mean)
  / (p.c + n)) AS wrong FROM clusters c JOIN by_hand h USING (data, method, shape, cluster)
  JOIN priors p USING (data, method, shape)$$,
  'a cluster''s mean is the posterior mean given its rows');
SELECT never($$SELECT data, method, shape, cluster, c.covariance[1][1],
  (b + scatter + p.c * n / (p.c + n) * (h.mean - p.m) ^ 2) / (p.a + n), NOT near(c.covariance[1][1],
  (b + scatter + p.c * n / (p.c + n) * (h.mean - p.m) ^ 2) / (p.a + n), 1e-8) AS wrong
  FROM clusters c JOIN by_hand h USING (data, method, shape, cluster) JOIN priors p
  USING (data, method, shape) WHERE shape <> 'spherical'$$,
  'its covariance is the inverse of the expected precision');
SELECT never($$SELECT data, method, shape, cluster, covariance[i][j] <> covariance[j][i]
  OR covariance[i][i] <= 0 OR (i <> j AND shape <> 'full' AND covariance[i][j] <> 0)
  OR (shape = 'spherical' AND covariance[i][i] <> covariance[1][1]) AS wrong
  FROM clusters c, generate_subscripts(covariance, 1) i, generate_subscripts(covariance, 1) j$$,
  'covariances have their shape');
SELECT never($$SELECT p.data, p.method, p.shape, p.c, p.a, p.m, p.b, s.m, s.v, p.c <> 0.01
  OR p.a <> CASE shape WHEN 'full' THEN d ELSE 1 END + 2 OR NOT near(p.m, s.m)
  OR (shape <> 'spherical' AND NOT near(p.b, s.v / 5 ^ (2.0 / d), 1e-6)) AS wrong
  FROM priors p JOIN (SELECT data, max(array_length(x, 1)) AS d, avg(x[1]) AS m, var_pop(x[1]) AS v
  FROM data GROUP BY 1) s USING (data)$$, 'the default prior is the documented one');

-- ---- draws ----

SELECT never($$SELECT data, method, shape, count(*) <> 60 OR count(DISTINCT chain) <> 2
  OR min(chain) <> 1 OR max(chain) <> 2 OR min(draw) <> 1 OR max(draw) <> 30 AS wrong FROM draws
  GROUP BY 1, 2, 3$$, 'half of the draws of every chain, numbered from 1: the others are warmup');
SELECT never($$SELECT *, clusters < 1 OR clusters > 272 OR NOT concentration > 0
  OR log_joint IS NULL AS wrong FROM draws$$, 'each has clusters, a concentration, a density');
SELECT never($$SELECT data, method, shape, objective <> best AS wrong
  FROM infos i JOIN (SELECT data, method, shape, max(log_joint) AS best FROM draws GROUP BY 1, 2, 3)
  d USING (data, method, shape)$$, 'the objective is the best log joint density');
SELECT never($$SELECT f.data, f.method, f.shape, chain, draw, n <> 5
  OR f.clusters IS DISTINCT FROM d.clusters::float8 OR f.concentration IS DISTINCT
  FROM d.concentration OR f.log_joint IS DISTINCT FROM d.log_joint OR largest * d.clusters < 1
  - 1e-12 OR largest > 1 OR (d.clusters = 1) <> (largest = 1) OR entropy < 0
  OR entropy > ln(d.clusters) + 1e-12 AS wrong
  FROM (SELECT f.data, f.method, f.shape, b.chain, b.draw,
  max(value) FILTER (WHERE quantity = 'clusters') AS clusters,
  max(value) FILTER (WHERE quantity = 'concentration') AS concentration,
  max(value) FILTER (WHERE quantity = 'log_joint') AS log_joint,
      max(value) FILTER (WHERE quantity = 'largest') AS largest,
        max(value) FILTER (WHERE quantity = 'entropy') AS entropy, count(*) AS n
        FROM fits f, bayes_draws(model) b WHERE f.method <> 'vi' GROUP BY 1, 2, 3, 4, 5) f
    FULL JOIN draws d USING (data, method, shape, chain, draw)$$,
      'bayes_draws has the same, share of the largest cluster, and entropy');
SELECT ok(all_true(rhat IS NULL OR rhat > 0) AND count(rhat) > 20, 'the diagnostics read them')
  FROM (SELECT bayes_rhat(log_joint, chain ORDER BY chain, draw) AS rhat FROM draws
  GROUP BY data, method, shape) r;
SELECT is((SELECT count(DISTINCT concentration)
  FROM (SELECT dpmm_fit(x, '{"concentration": 0.5, "draws": 20}') AS m FROM galaxies) f,
  draws_of(m)), 1::bigint, 'a fixed concentration stays what it is');
SELECT same_rows($$SELECT chain, count(*), min(draw), max(draw)
  FROM (SELECT dpmm_fit(x, '{"draws": 25, "warmup": 5, "thin": 3, "chains": 3}') AS m FROM galaxies)
  f, draws_of(m) GROUP BY 1 ORDER BY 1$$, $$SELECT c, 6::bigint, 1, 6
  FROM generate_series(1, 3) c$$, 'chains, warmup and thin');
SELECT same_rows($$SELECT clusters, concentration, log_joint
  FROM (SELECT dpmm_fit(x, '{"draws": 30, "warmup": 0, "chains": 1}' ORDER BY id) AS m
  FROM galaxies) f, draws_of(m) WHERE draw % 5 = 0 ORDER BY draw$$,
  $$SELECT clusters, concentration, log_joint
    FROM (SELECT dpmm_fit(x, '{"draws": 30, "warmup": 0, "chains": 1, "thin": 5}' ORDER BY id) AS m
    FROM galaxies) f, draws_of(m) ORDER BY draw$$, 'thinned draws are some of all draws');

-- ---- the point estimate ----

CREATE TABLE estimates AS SELECT f.data, f.method, f.shape, e.* FROM fits f, dpmm_estimate(model) e;
SELECT never($$SELECT data, clusters <> components AS wrong
  FROM estimates JOIN infos USING (data, method, shape)$$, 'as many clusters as the model has');
SELECT never($$SELECT *, (estimate <> 'vi' OR NOT expected_loss BETWEEN 0 AND 9 OR optimal IS NULL
  OR level <> 0.95 OR NOT radius BETWEEN 0 AND 9 OR fewest_clusters > most_clusters OR draws <> 60)
  AS wrong FROM estimates WHERE method <> 'vi'$$, 'of the sampled ones all is known');
SELECT never($$SELECT *, (estimate <> 'variational' OR num_nonnulls(expected_loss, optimal, level,
  radius, fewest_clusters, most_clusters) > 0 OR draws <> 1) AS wrong FROM estimates
  WHERE method = 'vi'$$, 'of variational ones what there is');
SELECT never($$SELECT *, fewest_clusters < (SELECT min(clusters) FROM draws d
  WHERE (d.data, d.method, d.shape) = (e.data, e.method, e.shape))
  OR most_clusters > (SELECT max(clusters) FROM draws d
  WHERE (d.data, d.method, d.shape) = (e.data, e.method, e.shape)) AS wrong FROM estimates e
  WHERE method <> 'vi'$$, 'the ball has the clusters of draws');
CREATE TABLE losses AS SELECT loss, dpmm_fit(x, jsonb_build_object('estimate', loss, 'draws', 50,
  'level', 0.8) ORDER BY id) AS model FROM galaxies, unnest('{binder,vi,bipartition,map}'::text[])
  loss GROUP BY 1;
SELECT never($$SELECT loss, estimate <> loss OR level <> 0.8
  OR (loss = 'bipartition' AND clusters <> 2) OR expected_loss > 5 AS wrong
  FROM losses, dpmm_estimate(model)$$, 'each loss by its name');
SELECT is((SELECT count(DISTINCT d.log_joint) FROM losses,
  LATERAL (SELECT sum(log_joint) AS log_joint FROM draws_of(model)) d), 1::bigint,
  'on the same draws');
SELECT same((SELECT clusters FROM losses, dpmm_estimate(model) WHERE loss = 'map'), (SELECT clusters
  FROM losses, draws_of(model) WHERE loss = 'map' ORDER BY log_joint DESC LIMIT 1),
  'map is the best draw');
SELECT ok((SELECT all_true(b.expected_loss <= e.expected_loss + 1e-12)
  FROM losses l, dpmm_estimate(l.model) e, losses m, dpmm_estimate(m.model) b
  WHERE l.loss IN ('map', 'bipartition') AND m.loss = 'binder'),
  'no other is better by the Rand loss than binder');

SELECT never($$SELECT e.*, counted <> 60 OR stored <> 60 OR (mcse IS NULL
  AND expected_loss > 0) OR mcse > 3 AS wrong FROM estimates e JOIN infos i
  USING (data, method, shape) WHERE method <> 'vi'$$, 'it has a standard error');
SELECT never($$SELECT *, num_nonnulls(counted, stored) > 0 AS wrong FROM infos
  WHERE method = 'vi'$$, 'where there are draws');
SELECT results_eq($$SELECT i.draws, stored_draws, e.draws, options ->> 'stored_draws'
  FROM (SELECT dpmm_fit(x, o) AS m FROM galaxies, (VALUES ('{"draws": 400}'::jsonb),
  ('{"draws": 400, "stored_draws": 20}'), ('{"draws": 400, "chains": 3, "stored_draws": 20}'))
  v(o) GROUP BY o ORDER BY o) f, bayes_info(m) i, dpmm_estimate(m) e$$,
  $$VALUES (800::bigint, 500::bigint, 800, NULL), (800, 20, 800, '20'), (600, 18, 600, '20')$$,
  'all draws count, and as many are stored as asked for, as many of each chain');
CREATE TABLE bounds AS SELECT loss, b.*
  FROM unnest('{binder,map}'::text[]) loss, LATERAL dpmm_credible_bounds(
  'SELECT id, CASE WHEN id <> 7 THEN x END FROM galaxies ORDER BY id',
  jsonb_build_object('estimate', loss, 'draws', 300)) b;
CREATE TABLE bounded AS SELECT loss, dpmm_fit(x, jsonb_build_object('estimate', loss, 'draws', 300)
  ORDER BY id) AS model FROM galaxies, unnest('{binder,map}'::text[]) loss WHERE id <> 7 GROUP BY 1;
SELECT never($$SELECT loss, clusters, fewest_clusters, most_clusters, max(cluster) <> clusters
  OR max(upper) <> fewest_clusters OR max(lower) <> most_clusters OR count(cluster) <> 81
  OR count(*) <> 82 OR num_nonnulls(VARIADIC array_agg(horizontal)) <> 81 AS wrong
  FROM bounds JOIN bounded USING (loss), dpmm_estimate(model) GROUP BY 1, 2, 3, 4$$,
  'bounds of the ball: draws with the fewest and most clusters in it');
SELECT never($$SELECT loss, upper, lower, horizontal, radius, NOT near(horizontal, radius, 1e-9)
  OR greatest(upper, lower) > radius + 1e-9 AS wrong
  FROM (SELECT loss, avg(((a.cluster = b.cluster) <> (a.upper = b.upper))::int)::float8 AS upper,
    avg(((a.cluster = b.cluster) <> (a.lower = b.lower))::int)::float8 AS lower,
    avg(((a.cluster = b.cluster) <> (a.horizontal = b.horizontal))::int)::float8 AS horizontal
    FROM bounds a JOIN bounds b USING (loss) WHERE a.id < b.id GROUP BY 1) d JOIN bounded
    USING (loss), dpmm_estimate(model)$$, 'none is further than the radius, the furthest as far');

-- ---- similarities ----

SELECT results_eq($$SELECT id1, id2 FROM dpmm_similarity('SELECT id * 10, x FROM galaxies '
  'WHERE id <= 4 ORDER BY id', '{"draws": 10}')$$, $$VALUES ('10', '20'), ('10', '30'),
  ('20', '30'), ('10', '40'), ('20', '40'), ('30', '40')$$,
  'every pair once, the earlier row first');
CREATE TABLE same AS SELECT o.number, s.id1::int, s.id2::int, s.probability
  FROM (VALUES (1, '{"draws": 60, "chains": 2, "estimate": "binder"}'::jsonb),
  (2, '{"draws": 60, "chains": 2, "method": "slice", "estimate": "vi"}'),
  (3, '{"draws": 60, "chains": 2, "method": "gibbs", "estimate": "map"}')) o(number, options),
  LATERAL dpmm_similarity('SELECT id, x FROM galaxies ORDER BY id', options) s;
CREATE TABLE firm AS SELECT o.number, s.id::int, s.cluster, s.probability
  FROM (VALUES (1, '{"draws": 60, "chains": 2, "estimate": "binder"}'::jsonb),
  (2, '{"draws": 60, "chains": 2, "method": "slice", "estimate": "vi"}'),
  (3, '{"draws": 60, "chains": 2, "method": "gibbs", "estimate": "map"}')) o(number, options),
  LATERAL dpmm_cluster('SELECT id, x FROM galaxies ORDER BY id', options) s;
SELECT same_rows('SELECT number, count(*), all_true(probability BETWEEN 0 AND 1) FROM same '
  'GROUP BY 1 ORDER BY 1', 'SELECT i, 82 * 81 / 2::bigint, true FROM generate_series(1, 3) i',
  'probabilities of all pairs');
SELECT never($$SELECT *, NOT near(probability * 60, round(probability * 60), 1e-9) AS wrong
  FROM same$$, 'shares of the draws');
SELECT never($$SELECT number, a.id, NOT near(a.probability, avg(s.probability)) AS wrong
  FROM firm a JOIN firm b USING (number, cluster) JOIN same s USING (number)
  WHERE a.id <> b.id AND (s.id1, s.id2) = (least(a.id, b.id), greatest(a.id, b.id))
  GROUP BY number, a.id, a.probability$$, 'the probability of a row is its mean similarity to the '
  'others of its cluster');
SELECT cmp_ok((SELECT count(*) FROM firm a JOIN firm b USING (number, cluster) WHERE a.id < b.id),
  '>', 1000::bigint, 'of which there are many');
SELECT ok(near((SELECT avg(CASE WHEN a.cluster = b.cluster THEN 1 - s.probability
  ELSE s.probability END) FROM same s JOIN firm a ON a.number = 1 AND a.id = id1 JOIN firm b
  ON b.number = 1 AND b.id = id2 WHERE s.number = 1), e.expected_loss),
  'the expected Rand loss is what similarities make it')
  FROM (SELECT dpmm_fit(x, '{"draws": 60, "chains": 2, "estimate": "binder"}' ORDER BY id) AS m
    FROM galaxies) f, dpmm_estimate(m) e;
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT 1, 2.5')$$, 'one row: no pairs');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT id, x FROM nothing')$$,
  'no rows: no pairs');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT id, NULL::float8[] FROM galaxies')$$,
  'nothing but NULL: no pairs');
SELECT results_eq($$SELECT id1, id2 FROM dpmm_similarity('VALUES (''a'', 1), (NULL, 2), (''a'', '
  'NULL), (NULL, 7)', '{"draws": 10, "missing": "skip"}')$$, $$VALUES ('a', NULL), ('a', NULL),
  (NULL, NULL)$$, 'ids may repeat or be NULL, rows left out are in no pair');

SELECT never($$SELECT f.data, f.shape, restart, iteration, objective < before - 1e-9
  * abs(before) AS wrong FROM (SELECT *, lag(objective) OVER (PARTITION BY data, f.shape, restart
  ORDER BY iteration) AS before FROM fits f, bayes_trace(model) WHERE method = 'vi') AS f
  WHERE before IS NOT NULL$$, 'and rises in every iteration');

-- ---- a model and a row ----

CREATE TABLE scores AS SELECT data, method, shape, id, x, dpmm_predict(model, x) AS label,
  bayes_probabilities(model, x) AS p, bayes_log_density(model, x) AS density
  FROM fits JOIN data USING (data);
SELECT never($$SELECT *, array_length(p, 1) <> components + 1 AS wrong
  FROM scores JOIN infos USING (data, method, shape)$$,
  'a probability for every cluster, and one for a new one');
SELECT never($$SELECT *, NOT near((SELECT sum(v) FROM unnest(p) v), 1, 1e-12)
  OR (SELECT min(v) < 0 OR max(v) > 1 FROM unnest(p) v) AS wrong FROM scores$$,
  'they are probabilities');
SELECT never($$SELECT *, label NOT BETWEEN 1 AND array_length(p, 1) OR p[label] < (SELECT max(v)
  FROM unnest(p) v) AS wrong FROM scores$$, 'the label is the most probable');
SELECT never($$SELECT data, method, shape, avg((label = cluster)::int) < 0.8 AS wrong
  FROM scores s JOIN labels l USING (data, method, shape, id) GROUP BY 1, 2, 3$$,
  'most often the row''s own cluster');
SELECT never($$SELECT f.data, f.method, f.shape, p[components + 1] < 0.5 AS wrong
  FROM fits f JOIN infos i USING (data, method, shape),
  LATERAL (SELECT bayes_probabilities(model, (SELECT array_agg(1e6 * (j % 2 * 2 - 1)::float8)
  FROM generate_series(1, dimension) j)) AS p) q WHERE f.method <> 'vi'$$,
  'a row far from all starts a cluster');
SELECT never($$SELECT f.method, sum(p), abs(sum(p) - 1) > 3e-3 AS wrong
  FROM fits f, generate_series(-20000, 23000) AS v,
  LATERAL (SELECT exp(greatest(bayes_log_density(model, ARRAY[v / 50.0]), -700)) / 50 AS p) AS d
  WHERE data = 'galaxies' AND shape = 'full' GROUP BY 1$$, 'densities integrate to 1');
SELECT is((SELECT coalesce(dpmm_predict(model, NULL)::text, bayes_probabilities(model, NULL)::text,
  bayes_log_density(model, NULL)::text, dpmm_predict(NULL, x)::text,
  bayes_probabilities(NULL, x)::text, bayes_log_density(NULL, x)::text) FROM fits, faithful
  LIMIT 1),
  NULL, 'all scores are strict');
SELECT is((SELECT count(*) FROM dpmm_clusters(NULL)) + (SELECT count(*) FROM dpmm_estimate(NULL))
  + (SELECT count(*) FROM bayes_draws(NULL)), 0::bigint,
  'NULL has no clusters, no estimate, no draws');
SELECT same((SELECT dpmm_predict(model => model, x => '{3,70}') FROM fits
  WHERE data = 'faithful' LIMIT 1), (SELECT dpmm_predict(model, ARRAY[3, 70]::int[]) FROM fits
  WHERE data = 'faithful' LIMIT 1), 'arguments have names, and rows any type of number');

SELECT never($$SELECT f.method, f.shape, d.error IS NULL OR NOT d.error BETWEEN 1e-9 AND 1
  OR array_length(p, 1) <> components + 1 OR NOT (SELECT max(v) BETWEEN 1e-9 AND 1
  FROM unnest(p) v) AS wrong FROM fits f JOIN infos USING (data, method, shape),
  LATERAL (SELECT bayes_log_density_mcse(model, '{20.5}') AS error,
  bayes_probabilities_mcse(model, '{20.5}') AS p) d WHERE f.data = 'galaxies'
  AND f.method <> 'vi'$$, 'predictions have standard errors');
SELECT throws_ok(format('SELECT bayes_%s_mcse(model, ''{20.5}'') FROM fits WHERE method = ''vi'' '
  'AND data = ''galaxies''', f), '22023', 'model has no posterior draws', f || ' of vi')
  FROM unnest('{log_density,probabilities}'::text[]) f;

-- ---- the same again ----

SELECT never($$SELECT method, shape, bits(model) <> (SELECT bits(dpmm_fit(x, options ORDER BY id))
  FROM iris) AS wrong FROM fits f WHERE data = 'iris'$$,
  'the same rows and options make the same model');
SELECT never($$SELECT method, shape, bits(model) <> (SELECT bits(dpmm_fit(x, i.options ORDER BY id))
  FROM galaxies) AS wrong FROM infos i JOIN fits f USING (data, method, shape)
  WHERE data = 'galaxies'$$, 'so do the options of bayes_info');
SELECT isnt((SELECT bits(dpmm_fit(x, '{"draws": 10, "seed": 2}' ORDER BY id)) FROM galaxies),
  (SELECT bits(dpmm_fit(x, '{"draws": 10, "seed": 3}' ORDER BY id)) FROM galaxies),
  'another seed makes another');
SET pg_bayes.threads = 1;
CREATE TABLE one_thread AS SELECT m, (SELECT bits(dpmm_fit(x, m ORDER BY id)) FROM digits) AS b
  FROM unnest(ARRAY['{"method": "slice", "covariance": "diagonal", "draws": 6}',
  '{"method": "vi", "covariance": "spherical", "max_iter": 5, "restarts": 2, "tol": 1e6}']::jsonb[])
  m;
SET pg_bayes.threads = 2;
SELECT never($$SELECT m, b <> (SELECT bits(dpmm_fit(x, m ORDER BY id)) FROM digits) AS wrong
  FROM one_thread$$, 'two threads make the same as one');
RESET pg_bayes.threads;

-- ---- stored, written, read ----

SELECT never($$SELECT data, method, shape, model::text::bayes_model::text <> model::text
  OR _bayes_model_send(model::text::bayes_model) <> _bayes_model_send(model) AS wrong FROM fits$$,
  'text and back, to the last bit');
SELECT never($$SELECT data, method, shape, _bayes_model_send((model::jsonb)::bayes_model)
  <> _bayes_model_send(model) AS wrong FROM fits$$, 'jsonb and back');
CREATE TABLE stored (data text, method text, shape text, model bayes_model);
INSERT INTO stored SELECT data, method, shape, model::text::bayes_model FROM fits;
SELECT never($$SELECT data, method, dpmm_predict(model, s.x) <> s.label
  OR bayes_probabilities(model, s.x) <> s.p OR bayes_log_density(model, s.x) <> s.density AS wrong
  FROM stored JOIN scores s USING (data, method, shape)$$,
  'a model read back scores as before, to the last bit');
SELECT never($$SELECT data, method, (SELECT array_agg(c) FROM dpmm_clusters(s.model) c)::text
  <> (SELECT array_agg(c) FROM dpmm_clusters(f.model) c)::text OR (SELECT array_agg(e)
  FROM dpmm_estimate(s.model) e)::text <> (SELECT array_agg(e) FROM dpmm_estimate(f.model) e)::text
  AS wrong FROM stored s JOIN fits f USING (data, method, shape)$$, 'and says the same of itself');
SELECT never($$SELECT data, method, shape, chain, draw,
  (a.clusters, a.concentration, a.log_joint) IS DISTINCT FROM (b.clusters, b.concentration,
  b.log_joint) AS wrong FROM (SELECT data, method, shape, d.* FROM stored s, draws_of(model) d
  WHERE method <> 'vi') a FULL JOIN draws b USING (data, method, shape, chain, draw)$$,
  'its draws too');

SELECT same_rows($$SELECT id, cluster FROM dpmm_cluster('SELECT id, smoke = 1, ht = 1 '
  'FROM birthwt ORDER BY id', '{"likelihood": "bernoulli", "draws": 40}')$$,
  $$SELECT id, cluster FROM dpmm_cluster('SELECT id, smoke, ht FROM birthwt ORDER BY id',
    '{"likelihood": "bernoulli", "draws": 40}')$$, 'columns of booleans are 0 and 1');

-- Partitions put together in another order have one density, so that rounding errors are not taken
-- for chains that disagree.
SELECT ok((SELECT count(DISTINCT log_joint) FROM draws_of(model)) < 6,
  'draws of one partition have one density')
  FROM (SELECT dpmm_fit(x, '{"prior": {"m": [5], "c": 1, "a": 4, "B": 8}, "concentration": 0.0001}')
    AS model FROM (VALUES ('{10}'::float8[]), ('{2}'), ('{4}')) AS v(x)) AS f;
SELECT ok(NOT optimal, 'what is most probable among the draws may not be among all')
  FROM (SELECT dpmm_fit(x, '{"estimate": "map", "draws": 20}') AS model FROM iris) AS f,
  dpmm_estimate(model);
SELECT throws_like($$SELECT dpmm_fit(array_fill(i % 2, '{1600}'),
  '{"likelihood": "categorical", "categories": 10000, "draws": 20}')
  FROM generate_series(1, 50) AS i$$, '%MB in addition to the rows, but the limit is%',
  'parameters beyond all memory');
SELECT throws_like($$SELECT dpmm_fit(array_fill(i % 2, '{1600}'),
  '{"likelihood": "categorical", "categories": 10000, "method": "vi"}')
  FROM generate_series(1, 50) AS i$$, '%MB in addition to the rows, but the limit is%',
  'by vi too');

SELECT * FROM finish();
