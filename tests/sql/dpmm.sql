-- Dirichlet process mixtures: what fits say in every form, on real data, against definitions written out, and against posteriors computed in full.
--
-- Samplers may take another way on another processor: sums differ in their last digits. So numbers are compared with others of the same run, or with exact
-- posteriors to more than 5 Monte Carlo standard errors, which a correct sampler exceeds in fewer than one of 10^6 such tests.
SELECT plan(132);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- All of a model that could differ.
CREATE FUNCTION bits(model bayes_model) RETURNS text RETURN (model::jsonb - 'seconds')::text;
CREATE TABLE nothing (id int, x float8[]);

-- ---- every method with every covariance ----

CREATE TABLE data AS SELECT 'faithful' AS data, id, x FROM faithful UNION ALL SELECT 'galaxies', id, x FROM galaxies UNION ALL SELECT 'iris', id, x FROM iris;
CREATE TABLE fits AS
  SELECT d.data, o.method, shape, options, (SELECT dpmm_fit(x, options ORDER BY id) FROM data r WHERE r.data = d.data) AS model
  FROM (VALUES ('faithful'), ('galaxies'), ('iris')) AS d(data), unnest('{collapsed,gibbs,slice,vi}'::text[]) AS o(method), unnest('{full,diagonal,spherical}'::text[]) AS shape,
    LATERAL (SELECT jsonb_build_object('method', o.method, 'covariance', shape) || CASE o.method WHEN 'vi' THEN '{"restarts": 3, "tol": 1e-5}' ELSE '{"draws": 60, "chains": 2}'::jsonb END AS options) AS all_options;
CREATE TABLE labels AS
  SELECT f.data, f.method, f.shape, c.id::int, c.cluster, c.probability FROM fits f, LATERAL dpmm_cluster(format('SELECT id, x FROM data WHERE data = %L ORDER BY id', f.data), f.options) c;
CREATE TABLE infos AS SELECT f.data, f.method, f.shape, i.rows, i.skipped, i.dimension, i.components, i.iterations, i.converged, i.objective, i.log_likelihood, i.seed, i.options, i.method AS told, i.family FROM fits f, bayes_info(model) i;
CREATE TABLE clusters AS SELECT f.data, f.method, f.shape, c.* FROM fits f, dpmm_clusters(model) c;
CREATE TABLE draws AS SELECT f.data, f.method, f.shape, d.* FROM fits f, dpmm_draws(model) d WHERE f.method <> 'vi';
SELECT is((SELECT count(*) FROM fits WHERE model IS NOT NULL), 36::bigint, 'all of them fit');

SELECT never($$SELECT data, method, shape, family <> 'dpmm' OR told <> method OR rows <> (SELECT count(*) FROM data d WHERE d.data = infos.data) OR skipped <> 0 OR dimension <> (SELECT max(array_length(x, 1)) FROM data d WHERE d.data = infos.data) OR seed <> 1 AS wrong FROM infos$$, 'bayes_info tells what was fitted');
SELECT never($$SELECT data, method, shape, components <> (SELECT count(*) FROM clusters c WHERE (c.data, c.method, c.shape) = (i.data, i.method, i.shape)) AS wrong FROM infos i$$, 'its components are the clusters of the estimate');
SELECT never($$SELECT data, method, shape, cluster <> number AS wrong FROM (SELECT *, row_number() OVER (PARTITION BY data, method, shape ORDER BY cluster) AS number FROM clusters) c$$, 'clusters count from 1');
SELECT never($$SELECT *, b.count > a.count AS wrong FROM clusters a JOIN clusters b USING (data, method, shape) WHERE b.cluster = a.cluster + 1$$, 'by falling count');
SELECT never($$SELECT data, method, shape, cluster, count IS DISTINCT FROM n AS wrong FROM clusters FULL JOIN (SELECT data, method, shape, cluster, count(*) AS n FROM labels GROUP BY 1, 2, 3, 4) l USING (data, method, shape, cluster)$$, 'and the relation has as many rows of each');
SELECT never($$SELECT *, cluster IS NULL OR NOT probability BETWEEN 0 AND 1 AS wrong FROM labels$$, 'every row has a cluster and a probability');
SELECT never($$SELECT data, method, shape, c.count / c.weight <= i.rows AS wrong FROM clusters c JOIN infos i USING (data, method, shape)$$, 'weights leave something for clusters to come');
SELECT never($$SELECT data, method, shape, NOT near(weight, count / (rows + alpha)) AS wrong FROM clusters c JOIN infos i USING (data, method, shape) JOIN (SELECT data, method, shape, avg(concentration) AS alpha FROM draws GROUP BY 1, 2, 3) d USING (data, method, shape)$$, 'namely what the mean concentration asks for');
SELECT never($$SELECT data, method, shape, (array_dims(c.mean) <> format('[1:%s]', dimension) OR array_dims(c.covariance) <> format('[1:%s][1:%1$s]', dimension)) AS wrong FROM clusters c JOIN infos i USING (data, method, shape)$$, 'means are d, covariances d x d');

-- The posterior of a cluster given its rows, by hand, in the first column: m = (c m0 + n mean) / (c + n); covariance B / a.
CREATE TABLE by_hand AS
  SELECT l.data, l.method, l.shape, l.cluster, count(*) AS n, avg(x[1]) AS mean, coalesce(var_pop(x[1]), 0) * count(*) AS scatter FROM labels l JOIN data USING (data, id) GROUP BY 1, 2, 3, 4;
CREATE TABLE priors AS SELECT data, method, shape, (p->>'c')::float8 AS c, (p->>'a')::float8 AS a, (p->'m'->>0)::float8 AS m, CASE shape WHEN 'full' THEN p->'B'->0->>0 WHEN 'diagonal' THEN p->'B'->>0 ELSE p->>'B' END::float8 AS b FROM infos, LATERAL (SELECT options->'prior' AS p) o;
SELECT never($$SELECT data, method, shape, cluster, NOT near(c.mean[1], (p.c * p.m + n * h.mean) / (p.c + n)) AS wrong FROM clusters c JOIN by_hand h USING (data, method, shape, cluster) JOIN priors p USING (data, method, shape)$$, 'a cluster''s mean is the posterior mean given its rows');
SELECT never($$SELECT data, method, shape, cluster, c.covariance[1][1], (b + scatter + p.c * n / (p.c + n) * (h.mean - p.m) ^ 2) / (p.a + n), NOT near(c.covariance[1][1], (b + scatter + p.c * n / (p.c + n) * (h.mean - p.m) ^ 2) / (p.a + n), 1e-8) AS wrong FROM clusters c JOIN by_hand h USING (data, method, shape, cluster) JOIN priors p USING (data, method, shape) WHERE shape <> 'spherical'$$, 'its covariance is the inverse of the expected precision');
SELECT never($$SELECT data, method, shape, cluster, covariance[i][j] <> covariance[j][i] OR covariance[i][i] <= 0 OR (i <> j AND shape <> 'full' AND covariance[i][j] <> 0) OR (shape = 'spherical' AND covariance[i][i] <> covariance[1][1]) AS wrong FROM clusters c, generate_subscripts(covariance, 1) i, generate_subscripts(covariance, 1) j$$, 'covariances have their shape');
SELECT never($$SELECT p.data, p.method, p.shape, p.c, p.a, p.m, p.b, s.m, s.v, p.c <> 0.01 OR p.a <> CASE shape WHEN 'full' THEN d ELSE 1 END + 2 OR NOT near(p.m, s.m) OR (shape <> 'spherical' AND NOT near(p.b, s.v / 5 ^ (2.0 / d), 1e-6)) AS wrong FROM priors p JOIN (SELECT data, max(array_length(x, 1)) AS d, avg(x[1]) AS m, var_pop(x[1]) AS v FROM data GROUP BY 1) s USING (data)$$, 'the default prior is the documented one');

-- ---- draws ----

SELECT never($$SELECT data, method, shape, count(*) <> 60 OR count(DISTINCT chain) <> 2 OR min(chain) <> 1 OR max(chain) <> 2 OR min(draw) <> 1 OR max(draw) <> 30 AS wrong FROM draws GROUP BY 1, 2, 3$$, 'half of the draws of every chain, numbered from 1: the others are warmup');
SELECT never($$SELECT *, clusters < 1 OR clusters > 272 OR NOT concentration > 0 OR log_joint IS NULL AS wrong FROM draws$$, 'each has clusters, a concentration, a density');
SELECT never($$SELECT data, method, shape, objective <> best AS wrong FROM infos i JOIN (SELECT data, method, shape, max(log_joint) AS best FROM draws GROUP BY 1, 2, 3) d USING (data, method, shape)$$, 'the objective is the best log joint density');
SELECT never($$SELECT f.data, f.method, f.shape, chain, draw, n <> 5 OR f.clusters IS DISTINCT FROM d.clusters::float8 OR f.concentration IS DISTINCT FROM d.concentration OR f.log_joint IS DISTINCT FROM d.log_joint OR largest * d.clusters < 1 - 1e-12 OR largest > 1 OR (d.clusters = 1) <> (largest = 1) OR entropy < 0 OR entropy > ln(d.clusters) + 1e-12 AS wrong FROM (SELECT f.data, f.method, f.shape, b.chain, b.draw, max(value) FILTER (WHERE quantity = 'clusters') AS clusters, max(value) FILTER (WHERE quantity = 'concentration') AS concentration, max(value) FILTER (WHERE quantity = 'log_joint') AS log_joint,
      max(value) FILTER (WHERE quantity = 'largest') AS largest, max(value) FILTER (WHERE quantity = 'entropy') AS entropy, count(*) AS n FROM fits f, bayes_draws(model) b WHERE f.method <> 'vi' GROUP BY 1, 2, 3, 4, 5) f
    FULL JOIN draws d USING (data, method, shape, chain, draw)$$, 'bayes_draws has the same, share of the largest cluster, and entropy');
SELECT ok(all_true(rhat IS NULL OR rhat > 0) AND count(rhat) > 20, 'the diagnostics read them') FROM (SELECT rhat(log_joint, chain ORDER BY chain, draw) AS rhat FROM draws GROUP BY data, method, shape) r;
SELECT is((SELECT count(DISTINCT concentration) FROM (SELECT dpmm_fit(x, '{"concentration": 0.5, "draws": 20}') AS m FROM galaxies) f, dpmm_draws(m)), 1::bigint, 'a fixed concentration stays what it is');
SELECT same_rows($$SELECT chain, count(*), min(draw), max(draw) FROM (SELECT dpmm_fit(x, '{"draws": 25, "warmup": 5, "thin": 3, "chains": 3}') AS m FROM galaxies) f, dpmm_draws(m) GROUP BY 1 ORDER BY 1$$, $$SELECT c, 6::bigint, 1, 6 FROM generate_series(1, 3) c$$, 'chains, warmup and thin');
SELECT same_rows($$SELECT clusters, concentration, log_joint FROM (SELECT dpmm_fit(x, '{"draws": 30, "warmup": 0, "chains": 1}' ORDER BY id) AS m FROM galaxies) f, dpmm_draws(m) WHERE draw % 5 = 0 ORDER BY draw$$,
  $$SELECT clusters, concentration, log_joint FROM (SELECT dpmm_fit(x, '{"draws": 30, "warmup": 0, "chains": 1, "thin": 5}' ORDER BY id) AS m FROM galaxies) f, dpmm_draws(m) ORDER BY draw$$, 'thinned draws are some of all draws');

-- ---- the point estimate ----

CREATE TABLE estimates AS SELECT f.data, f.method, f.shape, e.* FROM fits f, dpmm_estimate(model) e;
SELECT never($$SELECT data, clusters <> components AS wrong FROM estimates JOIN infos USING (data, method, shape)$$, 'as many clusters as the model has');
SELECT never($$SELECT *, (estimate <> 'vi' OR NOT expected_loss BETWEEN 0 AND 9 OR optimal IS NULL OR level <> 0.95 OR NOT radius BETWEEN 0 AND 9 OR fewest_clusters > most_clusters OR draws <> 60) AS wrong FROM estimates WHERE method <> 'vi'$$, 'of the sampled ones all is known');
SELECT never($$SELECT *, (estimate <> 'variational' OR num_nonnulls(expected_loss, optimal, level, radius, fewest_clusters, most_clusters) > 0 OR draws <> 1) AS wrong FROM estimates WHERE method = 'vi'$$, 'of variational ones what there is');
SELECT never($$SELECT *, fewest_clusters < (SELECT min(clusters) FROM draws d WHERE (d.data, d.method, d.shape) = (e.data, e.method, e.shape)) OR most_clusters > (SELECT max(clusters) FROM draws d WHERE (d.data, d.method, d.shape) = (e.data, e.method, e.shape)) AS wrong FROM estimates e WHERE method <> 'vi'$$, 'the ball has the clusters of draws');
CREATE TABLE losses AS SELECT loss, dpmm_fit(x, jsonb_build_object('estimate', loss, 'draws', 50, 'level', 0.8) ORDER BY id) AS model FROM galaxies, unnest('{binder,vi,bipartition,map}'::text[]) loss GROUP BY 1;
SELECT never($$SELECT loss, estimate <> loss OR level <> 0.8 OR (loss = 'bipartition' AND clusters <> 2) OR expected_loss > 5 AS wrong FROM losses, dpmm_estimate(model)$$, 'each loss by its name');
SELECT is((SELECT count(DISTINCT d.log_joint) FROM losses, LATERAL (SELECT sum(log_joint) AS log_joint FROM dpmm_draws(model)) d), 1::bigint, 'on the same draws');
SELECT same((SELECT clusters FROM losses, dpmm_estimate(model) WHERE loss = 'map'), (SELECT clusters FROM losses, dpmm_draws(model) WHERE loss = 'map' ORDER BY log_joint DESC LIMIT 1), 'map is the best draw');
SELECT ok((SELECT all_true(b.expected_loss <= e.expected_loss + 1e-12) FROM losses l, dpmm_estimate(l.model) e, losses m, dpmm_estimate(m.model) b WHERE l.loss IN ('map', 'bipartition') AND m.loss = 'binder'), 'no other is better by the Rand loss than binder');

-- ---- similarities ----

SELECT results_eq($$SELECT id1, id2 FROM dpmm_similarity('SELECT id * 10, x FROM galaxies WHERE id <= 4 ORDER BY id', '{"draws": 10}')$$, $$VALUES ('10', '20'), ('10', '30'), ('20', '30'), ('10', '40'), ('20', '40'), ('30', '40')$$, 'every pair once, the earlier row first');
CREATE TABLE same AS SELECT o.number, s.id1::int, s.id2::int, s.probability FROM (VALUES (1, '{"draws": 60, "chains": 2, "estimate": "binder"}'::jsonb), (2, '{"draws": 60, "chains": 2, "method": "slice", "estimate": "vi"}'), (3, '{"draws": 60, "chains": 2, "method": "gibbs", "estimate": "map"}')) o(number, options), LATERAL dpmm_similarity('SELECT id, x FROM galaxies ORDER BY id', options) s;
CREATE TABLE firm AS SELECT o.number, s.id::int, s.cluster, s.probability FROM (VALUES (1, '{"draws": 60, "chains": 2, "estimate": "binder"}'::jsonb), (2, '{"draws": 60, "chains": 2, "method": "slice", "estimate": "vi"}'), (3, '{"draws": 60, "chains": 2, "method": "gibbs", "estimate": "map"}')) o(number, options), LATERAL dpmm_cluster('SELECT id, x FROM galaxies ORDER BY id', options) s;
SELECT same_rows('SELECT number, count(*), all_true(probability BETWEEN 0 AND 1) FROM same GROUP BY 1 ORDER BY 1', 'SELECT i, 82 * 81 / 2::bigint, true FROM generate_series(1, 3) i', 'probabilities of all pairs');
SELECT never($$SELECT *, NOT near(probability * 60, round(probability * 60), 1e-9) AS wrong FROM same$$, 'shares of the draws');
SELECT never($$SELECT number, a.id, NOT near(a.probability, avg(s.probability)) AS wrong FROM firm a JOIN firm b USING (number, cluster) JOIN same s USING (number) WHERE a.id <> b.id AND (s.id1, s.id2) = (least(a.id, b.id), greatest(a.id, b.id)) GROUP BY number, a.id, a.probability$$, 'the probability of a row is its mean similarity to the others of its cluster');
SELECT cmp_ok((SELECT count(*) FROM firm a JOIN firm b USING (number, cluster) WHERE a.id < b.id), '>', 1000::bigint, 'of which there are many');
SELECT ok(near((SELECT avg(CASE WHEN a.cluster = b.cluster THEN 1 - s.probability ELSE s.probability END) FROM same s JOIN firm a ON a.number = 1 AND a.id = id1 JOIN firm b ON b.number = 1 AND b.id = id2 WHERE s.number = 1), e.expected_loss), 'the expected Rand loss is what similarities make it')
  FROM (SELECT dpmm_fit(x, '{"draws": 60, "chains": 2, "estimate": "binder"}' ORDER BY id) AS m FROM galaxies) f, dpmm_estimate(m) e;
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT 1, 2.5')$$, 'one row: no pairs');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT id, x FROM nothing')$$, 'no rows: no pairs');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT id, NULL::float8[] FROM galaxies')$$, 'nothing but NULL: no pairs');
SELECT results_eq($$SELECT id1, id2 FROM dpmm_similarity('VALUES (''a'', 1), (NULL, 2), (''a'', NULL), (NULL, 7)', '{"draws": 10, "missing": "skip"}')$$, $$VALUES ('a', NULL), ('a', NULL), (NULL, NULL)$$, 'ids may repeat or be NULL, rows left out are in no pair');

-- ---- against posteriors computed in full ----

-- Of a few rows all partitions, with p(rows, partition) for rows of one column under prior m, c, a, B and a concentration.
CREATE FUNCTION log_gamma_of_half(twice int) RETURNS float8 IMMUTABLE RETURN (SELECT CASE WHEN twice % 2 = 0 THEN 0 ELSE ln(pi()) / 2 END + coalesce(sum(ln(i / 2.0)), 0) FROM generate_series(CASE WHEN twice % 2 = 0 THEN 2 ELSE 1 END, twice - 2, 2) i);
CREATE FUNCTION log_marginal(x float8[], m float8, c float8, a int, b float8) RETURNS float8 IMMUTABLE RETURN (
  SELECT -n / 2.0 * ln(pi()) + ln(c / (c + n)) / 2 + a / 2.0 * ln(b) - (a + n) / 2.0 * ln(b + scatter + c * n / (c + n) * (mean - m) ^ 2) + log_gamma_of_half(a + n) - log_gamma_of_half(a)
  FROM (SELECT count(*)::int AS n, avg(v) AS mean, var_pop(v) * count(*) AS scatter FROM unnest(x) v) s);
CREATE FUNCTION partitions(n int) RETURNS SETOF int[] LANGUAGE sql AS $$
  WITH RECURSIVE p(labels, k) AS (SELECT ARRAY[1], 1 UNION ALL SELECT labels || next, greatest(k, next) FROM p, generate_series(1, k + 1) next WHERE array_length(labels, 1) < n)
  SELECT labels FROM p WHERE array_length(labels, 1) = n $$;
CREATE TABLE few AS SELECT * FROM (VALUES (1, -1.1::float8), (2, -0.7), (3, 0.2), (4, 1.6), (5, 2.1)) v(id, v);
CREATE TABLE enumerated AS
  SELECT labels, (SELECT max(l) FROM unnest(labels) l) AS k, log_joint, exp(log_joint) / sum(exp(log_joint)) OVER () AS p
  FROM (SELECT labels, (SELECT sum(ln(0.8) + ln(factorial(n - 1)) + log_marginal(x, 0, 0.2, 3, 0.5)) FROM (SELECT label, count(*) AS n, array_agg(v) AS x FROM few, LATERAL (SELECT labels[few.id] AS label) l GROUP BY label) g) - (SELECT sum(ln(0.8 + i)) FROM generate_series(0, 4) i) AS log_joint
    FROM partitions(5) labels) w;
SELECT ok(count(*) = 52 AND near(sum(p), 1), 'there are 52 partitions of five rows') FROM enumerated;
CREATE TABLE exact_k AS SELECT k, sum(p) AS p FROM enumerated GROUP BY 1;
CREATE TABLE exact_same AS SELECT i AS id1, j AS id2, coalesce(sum(p) FILTER (WHERE labels[i] = labels[j]), 0) AS p FROM enumerated, generate_series(1, 5) i, generate_series(1, 5) j WHERE i < j GROUP BY 1, 2;
CREATE FUNCTION exact_options(method text) RETURNS jsonb RETURN jsonb_build_object('method', method, 'concentration', 0.8, 'prior', '{"m": [0], "c": 0.2, "a": 3, "B": 0.5}'::jsonb, 'draws', 5500, 'warmup', 500, 'estimate', 'binder');
CREATE TABLE sampled AS SELECT method, dpmm_fit(ARRAY[v], exact_options(method) ORDER BY id) AS model FROM few, unnest('{collapsed,gibbs,slice}'::text[]) method GROUP BY 1;
-- Shares of 20,000 draws: even if every tenth only counts, their standard error is below 0.0112.
SELECT never($$SELECT method, k, e.p, d.share, abs(e.p - d.share) > 0.06 AS wrong FROM sampled, exact_k e LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE clusters = e.k) / 20000.0 AS share FROM dpmm_draws(model)) d ON true$$, 'how many clusters: the exact posterior, by every sampler');
SELECT cmp_ok((SELECT max(p) FROM exact_k), '<', 0.7::float8, 'which is not on one number');
-- 500 draws far apart: the standard error is at most 0.0224.
SELECT never($$SELECT m, e.id1, e.id2, e.p, s.probability, abs(e.p - s.probability) > 0.13 AS wrong FROM unnest('{collapsed,gibbs,slice}'::text[]) m, LATERAL dpmm_similarity('SELECT id, v FROM few ORDER BY id', exact_options(m)) s JOIN exact_same e ON (e.id1::text, e.id2::text) = (s.id1, s.id2)$$, 'who is with whom: the exact posterior, by every sampler');
SELECT ok((SELECT max(p) - min(p) FROM exact_same) > 0.3, 'which differs between pairs');
-- The log joint density of a draw is that of one of the partitions.
SELECT never($$SELECT method, log_joint, NOT EXISTS (SELECT FROM enumerated e WHERE e.k = d.clusters AND near(e.log_joint, d.log_joint)) AS wrong FROM sampled, dpmm_draws(model) d WHERE draw <= 200$$, 'log_joint has all its constants');
-- With no more than eight rows, the estimate is proved to be best: no partition has a smaller expected loss.
SELECT ok((SELECT all_true(optimal) FROM sampled, dpmm_estimate(model)), 'a small estimate is optimal');
CREATE TABLE same_few AS SELECT * FROM dpmm_similarity('SELECT id, v FROM few ORDER BY id', exact_options('collapsed'));
SELECT ok(near((SELECT min(loss) FROM (SELECT avg(CASE WHEN labels[s.id1::int] = labels[s.id2::int] THEN 1 - s.probability ELSE s.probability END) AS loss FROM enumerated, same_few s GROUP BY labels) l), e.expected_loss), 'Binder''s loss at its minimum over all partitions')
  FROM (SELECT model FROM sampled WHERE method = 'collapsed') f, dpmm_estimate(model) e;
-- Variational inference bounds the evidence.
SELECT cmp_ok((SELECT i.objective FROM (SELECT dpmm_fit(ARRAY[v], '{"method": "vi", "concentration": 0.8, "prior": {"m": [0], "c": 0.2, "a": 3, "B": 0.5}}') AS m FROM few) f, bayes_info(m) i), '<',
  (SELECT ln(sum(exp(log_joint)))::float8 FROM enumerated), 'the objective of vi is below the log evidence');
SELECT never($$SELECT f.data, f.shape, restart, iteration, objective < before - 1e-9 * abs(before) AS wrong FROM (SELECT *, lag(objective) OVER (PARTITION BY data, f.shape, restart ORDER BY iteration) AS before FROM fits f, bayes_trace(model) WHERE method = 'vi') AS f WHERE before IS NOT NULL$$, 'and rises in every iteration');

-- ---- a model and a row ----

CREATE TABLE scores AS SELECT data, method, shape, id, x, dpmm_predict(model, x) AS label, dpmm_probabilities(model, x) AS p, dpmm_log_density(model, x) AS density FROM fits JOIN data USING (data);
SELECT never($$SELECT *, array_length(p, 1) <> components + 1 AS wrong FROM scores JOIN infos USING (data, method, shape)$$, 'a probability for every cluster, and one for a new one');
SELECT never($$SELECT *, NOT near((SELECT sum(v) FROM unnest(p) v), 1, 1e-12) OR (SELECT min(v) < 0 OR max(v) > 1 FROM unnest(p) v) AS wrong FROM scores$$, 'they are probabilities');
SELECT never($$SELECT *, label NOT BETWEEN 1 AND array_length(p, 1) OR p[label] < (SELECT max(v) FROM unnest(p) v) AS wrong FROM scores$$, 'the label is the most probable');
SELECT never($$SELECT data, method, shape, avg((label = cluster)::int) < 0.8 AS wrong FROM scores s JOIN labels l USING (data, method, shape, id) GROUP BY 1, 2, 3$$, 'most often the row''s own cluster');
SELECT never($$SELECT f.data, f.method, f.shape, p[components + 1] < 0.5 AS wrong FROM fits f JOIN infos i USING (data, method, shape), LATERAL (SELECT dpmm_probabilities(model, (SELECT array_agg(1e6 * (j % 2 * 2 - 1)::float8) FROM generate_series(1, dimension) j)) AS p) q WHERE f.method <> 'vi'$$, 'a row far from all founds a cluster');
SELECT never($$SELECT f.method, sum(p), abs(sum(p) - 1) > 3e-3 AS wrong FROM fits f, generate_series(-20000, 23000) AS v, LATERAL (SELECT exp(greatest(dpmm_log_density(model, ARRAY[v / 50.0]), -700)) / 50 AS p) AS d WHERE data = 'galaxies' AND shape = 'full' GROUP BY 1$$, 'densities integrate to 1');
-- After one row the predictive is known: with probability 1 / (1 + alpha) that of its cluster, else that of no rows.
CREATE TABLE one_row AS SELECT method, dpmm_fit(ARRAY[1.5], jsonb_build_object('method', method, 'draws', 4, 'concentration', 0.7, 'prior', '{"m": [0.5], "c": 0.3, "a": 4, "B": 2}'::jsonb)) AS model FROM unnest('{collapsed,gibbs,slice}'::text[]) method GROUP BY 1;
SELECT never($$SELECT method, v, NOT near(dpmm_log_density(model, ARRAY[v]), ln(old + new)) OR NOT near(dpmm_probabilities(model, ARRAY[v]), ARRAY[old / (old + new), new / (old + new)]) AS wrong FROM one_row, generate_series(-5, 5) v, LATERAL (SELECT exp(log_marginal(ARRAY[1.5, v], 0.5, 0.3, 4, 2) - log_marginal(ARRAY[1.5], 0.5, 0.3, 4, 2)) / 1.7 AS old, exp(log_marginal(ARRAY[v], 0.5, 0.3, 4, 2)) * 0.7 / 1.7 AS new) d$$, 'after one row: exactly the predictive of the definition');
SELECT same_rows($$SELECT method, clusters, near(weight, 1 / 1.7), count FROM one_row, dpmm_estimate(model) e, dpmm_clusters(model) c ORDER BY 1$$, $$SELECT m, 1, true, 1::bigint FROM unnest('{collapsed,gibbs,slice}'::text[]) m ORDER BY 1$$, 'one row is one cluster');
SELECT is((SELECT coalesce(dpmm_predict(model, NULL)::text, dpmm_probabilities(model, NULL)::text, dpmm_log_density(model, NULL)::text, dpmm_predict(NULL, x)::text, dpmm_probabilities(NULL, x)::text, dpmm_log_density(NULL, x)::text) FROM fits, faithful LIMIT 1), NULL, 'all scores are strict');
SELECT is((SELECT count(*) FROM dpmm_clusters(NULL)) + (SELECT count(*) FROM dpmm_estimate(NULL)) + (SELECT count(*) FROM dpmm_draws(NULL)) + (SELECT count(*) FROM bayes_draws(NULL)), 0::bigint, 'NULL has no clusters, no estimate, no draws');
SELECT same((SELECT dpmm_predict(model => model, x => '{3,70}') FROM fits WHERE data = 'faithful' LIMIT 1), (SELECT dpmm_predict(model, ARRAY[3, 70]::int[]) FROM fits WHERE data = 'faithful' LIMIT 1), 'arguments have names, and rows any type of number');

-- ---- types ----

SELECT is((SELECT pg_typeof(dpmm_fit(x, '{"draws": 4}'))::text FROM galaxies), 'bayes_model', 'the aggregate gives a model');
SELECT is((SELECT DISTINCT pg_typeof(dpmm_cluster(x, '{"draws": 4}') OVER ())::text FROM galaxies), 'integer', 'a label is an integer');
SELECT results_eq($$SELECT pg_typeof(id)::text, pg_typeof(cluster)::text, pg_typeof(probability)::text FROM dpmm_cluster('SELECT 1, 2')$$, $$VALUES ('text', 'integer', 'double precision')$$, 'columns of dpmm_cluster');
SELECT results_eq($$SELECT pg_typeof(id1)::text, pg_typeof(id2)::text, pg_typeof(probability)::text FROM dpmm_similarity('VALUES (1, 2), (3, 4)', '{"draws": 4}')$$, $$VALUES ('text', 'text', 'double precision')$$, 'columns of dpmm_similarity');
SELECT results_eq($$SELECT pg_typeof(cluster)::text, pg_typeof(weight)::text, pg_typeof(mean)::text, pg_typeof(covariance)::text, pg_typeof(count)::text FROM one_row, dpmm_clusters(model) LIMIT 1$$, $$VALUES ('integer', 'double precision', 'double precision[]', 'double precision[]', 'bigint')$$, 'columns of dpmm_clusters');
SELECT results_eq($$SELECT pg_typeof(chain)::text, pg_typeof(draw)::text, pg_typeof(clusters)::text, pg_typeof(concentration)::text, pg_typeof(log_joint)::text FROM one_row, dpmm_draws(model) LIMIT 1$$, $$VALUES ('integer', 'integer', 'integer', 'double precision', 'double precision')$$, 'columns of dpmm_draws');
SELECT results_eq($$SELECT pg_typeof(estimate)::text, pg_typeof(clusters)::text, pg_typeof(expected_loss)::text, pg_typeof(optimal)::text, pg_typeof(level)::text, pg_typeof(radius)::text, pg_typeof(fewest_clusters)::text, pg_typeof(most_clusters)::text, pg_typeof(draws)::text FROM one_row, dpmm_estimate(model) LIMIT 1$$,
  $$VALUES ('text', 'integer', 'double precision', 'boolean', 'double precision', 'double precision', 'integer', 'integer', 'integer')$$, 'columns of dpmm_estimate');
SELECT is((SELECT pg_typeof(dpmm_predict(model, '{1}'))::text || ' ' || pg_typeof(dpmm_probabilities(model, '{1}')) || ' ' || pg_typeof(dpmm_log_density(model, '{1}')) FROM one_row LIMIT 1), 'integer double precision[] double precision', 'types of scores');

-- ---- the forms say the same ----

SELECT never($$SELECT o, id, c IS DISTINCT FROM cluster AS wrong FROM unnest(ARRAY['{"draws": 30}', '{"draws": 30, "method": "gibbs"}', '{"draws": 30, "method": "slice", "covariance": "diagonal"}', '{"method": "vi"}', '{"draws": 30, "estimate": "binder", "seed": 7}']::jsonb[]) o,
  LATERAL (SELECT w.id, w.c, r.cluster FROM (SELECT id, dpmm_cluster(x, o) OVER (ORDER BY id) AS c FROM faithful) w FULL JOIN dpmm_cluster('SELECT id, x FROM faithful ORDER BY id', o) r ON r.id = w.id::text) l$$, 'window = relation');
SELECT never($$SELECT o, cluster, count IS DISTINCT FROM n OR (count > 50 AND NOT near(mean, its_mean, 0.01)) AS wrong FROM unnest(ARRAY['{"draws": 30}', '{"draws": 30, "method": "gibbs"}', '{"draws": 30, "method": "slice"}', '{"method": "vi"}']::jsonb[]) o,
  LATERAL (SELECT dpmm_fit(x, o ORDER BY id) AS m FROM faithful) f, LATERAL (SELECT cluster, c.count, n, c.mean, r.mean AS its_mean FROM dpmm_clusters(m) c FULL JOIN (SELECT cluster, count(*) AS n, ARRAY[avg(eruptions), avg(waiting)] AS mean FROM dpmm_cluster('SELECT id, x FROM faithful ORDER BY id', o) l JOIN faithful ON faithful.id::text = l.id GROUP BY 1) r USING (cluster)) l$$, 'relation = aggregate');
SELECT same_rows($$SELECT * FROM dpmm_cluster('SELECT id, eruptions, waiting FROM faithful ORDER BY id', '{"draws": 20}')$$, $$SELECT * FROM dpmm_cluster('SELECT id, x FROM faithful ORDER BY id', '{"draws": 20}')$$, 'columns = array');
SELECT same_rows($$SELECT * FROM dpmm_cluster('SELECT id, eruptions::real::numeric, waiting::numeric(5,1), id::smallint, id::bigint FROM faithful ORDER BY faithful.id', '{"draws": 20}')$$, $$SELECT * FROM dpmm_cluster('SELECT id, ARRAY[eruptions::real::numeric, waiting, id, id] FROM faithful ORDER BY id', '{"draws": 20}')$$, 'of several types of numbers');
SELECT same_rows($$SELECT * FROM dpmm_cluster('SELECT id, x FROM galaxies ORDER BY id', '{"draws": 20}')$$, $$SELECT * FROM dpmm_cluster('SELECT id, x[1] FROM galaxies ORDER BY id', '{"draws": 20}')$$, 'one column');
SELECT same_rows($$SELECT cluster, probability FROM dpmm_cluster('SELECT NULL, x FROM galaxies ORDER BY id', NULL)$$, $$SELECT cluster, probability FROM dpmm_cluster('SELECT id, x FROM galaxies ORDER BY id')$$, 'options NULL are options left out');
SELECT same((SELECT bits(dpmm_fit(x, NULL ORDER BY id)) FROM galaxies), (SELECT bits(dpmm_fit(x ORDER BY id)) FROM galaxies), 'in an aggregate too');
SELECT same((SELECT bits(dpmm_fit(x, '{"method": null, "draws": null, "concentration": null, "prior": null, "likelihood": null, "level": null}' ORDER BY id)) FROM galaxies), (SELECT bits(dpmm_fit(x ORDER BY id)) FROM galaxies), 'so is a key whose value is null');
SELECT same_rows($$SELECT id, c FROM (SELECT id, dpmm_cluster(x) OVER (ORDER BY id) AS c FROM galaxies) s ORDER BY id$$, $$SELECT id::int, cluster FROM dpmm_cluster('SELECT id, x FROM galaxies ORDER BY id')$$, 'and a window without');
SELECT never($$SELECT id, a <> b AS wrong FROM (SELECT id, dpmm_cluster(x, '{"draws": 20}') OVER (ORDER BY id) AS a, dpmm_cluster(x, '{"draws": 20}') OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS b FROM galaxies) s$$, 'frames do not matter');
SELECT never($$SELECT w.id, c IS DISTINCT FROM cluster AS wrong FROM (SELECT species, id, dpmm_cluster(x, '{"draws": 20}') OVER (PARTITION BY species ORDER BY id) AS c FROM iris) w FULL JOIN (SELECT r.* FROM (SELECT DISTINCT species FROM iris) s, LATERAL dpmm_cluster(format('SELECT id, x FROM iris WHERE species = %L ORDER BY id', species), '{"draws": 20}') r) r ON r.id = w.id::text$$, 'partitions are fitted apart');
SELECT never($$SELECT *, b <> (SELECT bits(dpmm_fit(x, '{"draws": 20}' ORDER BY id)) FROM iris WHERE species = g.species) AS wrong FROM (SELECT species, bits(dpmm_fit(x, '{"draws": 20}' ORDER BY id)) AS b FROM iris GROUP BY 1) g$$, 'so are groups');
SELECT results_eq($$SELECT g, count(DISTINCT c), count(c) FROM (SELECT g, dpmm_cluster(CASE WHEN g <> 2 THEN ARRAY[i % 2 * 1000 + i] END, '{"draws": 200}') OVER (PARTITION BY g) AS c FROM generate_series(1, 3) g, generate_series(1, 20) i) s GROUP BY g ORDER BY g$$, $$VALUES (1, 2::bigint, 20::bigint), (2, 0, 0), (3, 2, 20)$$, 'a partition of NULLs between others');
SELECT same_rows($$SELECT a.id FROM dpmm_cluster('SELECT id, x FROM galaxies', '{"draws": 10}') a JOIN dpmm_cluster('SELECT id, x FROM galaxies', '{"draws": 10}') b USING (id) ORDER BY a.id::int$$, 'SELECT id::text FROM galaxies ORDER BY galaxies.id', 'twice in one query');
SELECT is((SELECT count(*) FROM generate_series(1, 3) s, LATERAL dpmm_cluster('SELECT id, x FROM galaxies', jsonb_build_object('draws', 10, 'seed', s))), 246::bigint, 'called laterally');
SELECT results_eq($$SELECT id, cluster IS NULL FROM dpmm_cluster('SELECT cluster, count(*) FROM dpmm_cluster(''SELECT id, x FROM galaxies'', ''{"draws": 10}'') GROUP BY 1 ORDER BY 1 LIMIT 1', '{"draws": 10}')$$, $$VALUES ('1', false)$$, 'a fit within a fit');
SELECT lives_ok($$SELECT (dpmm_cluster('SELECT id, x FROM galaxies', '{"draws": 4}')).*$$, 'in a select list');
-- Volatile arguments are looked at once.
SELECT never($$SELECT g, count(c) NOT BETWEEN 3 AND 47 AS wrong FROM (SELECT g, dpmm_cluster(CASE WHEN random() < 0.5 THEN ARRAY[random()] END, '{"draws": 4}') OVER (PARTITION BY g) AS c FROM generate_series(1, 20) g, generate_series(1, 50) i) s GROUP BY g$$, 'volatile rows');

-- ---- rows left out, rows that are alike, ids ----

SELECT ok((SELECT dpmm_fit(x) FROM nothing) IS NULL AND (SELECT dpmm_fit(x, '{}') FROM nothing) IS NULL, 'no rows: NULL');
SELECT ok((SELECT dpmm_fit(NULL::float8[]) FROM galaxies) IS NULL AND (SELECT dpmm_fit(x) FILTER (WHERE false) FROM galaxies) IS NULL, 'NULL rows only: NULL');
SELECT ok((SELECT dpmm_fit(ARRAY[NULL, id]::float8[], '{"missing": "skip"}') FROM galaxies) IS NULL, 'nothing but incomplete rows: NULL');
SELECT is_empty('SELECT dpmm_cluster(x) OVER () FROM nothing', 'no rows, no labels');
SELECT is_empty($$SELECT * FROM dpmm_cluster('SELECT id, x FROM nothing')$$, 'nor in a relation');
SELECT results_eq('SELECT dpmm_cluster(x) OVER () FROM (VALUES (NULL::float8[]), (NULL)) v(x)', 'VALUES (NULL::int), (NULL)', 'NULL rows have no label');
SELECT results_eq($$SELECT * FROM dpmm_cluster('VALUES (1, NULL::float8[]), (2, NULL)')$$, $$VALUES ('1', NULL::int, NULL::float8), ('2', NULL, NULL)$$, 'but a row in the relation');
SELECT never($$SELECT w.id, c IS DISTINCT FROM cluster AS wrong FROM (SELECT id, dpmm_cluster(CASE WHEN id % 4 > 0 THEN x END, '{"draws": 20}') OVER (ORDER BY id) AS c FROM faithful) w FULL JOIN dpmm_cluster('SELECT id, x FROM faithful WHERE id % 4 > 0 ORDER BY id', '{"draws": 20}') r ON r.id = w.id::text$$, 'and no say: window');
SELECT never($$SELECT w.id, c IS DISTINCT FROM cluster AS wrong FROM (SELECT id, dpmm_cluster(CASE id % 4 WHEN 0 THEN ARRAY[NULL, 1] WHEN 1 THEN ARRAY['NaN', waiting]::float8[] WHEN 2 THEN '{-Infinity,1}' ELSE x END, '{"draws": 20, "missing": "skip"}') OVER (ORDER BY id) AS c FROM faithful) w FULL JOIN dpmm_cluster('SELECT id, x FROM faithful WHERE id % 4 = 3 ORDER BY id', '{"draws": 20}') r ON r.id = w.id::text$$, 'nor have incomplete ones that are skipped');
SELECT never($$SELECT a.id, (a.cluster, a.probability) IS DISTINCT FROM (b.cluster, b.probability) AS wrong FROM dpmm_cluster('SELECT id, CASE WHEN id % 4 > 0 THEN x ELSE ARRAY[1, NULL] END FROM faithful ORDER BY id', '{"draws": 20, "missing": "skip"}') a FULL JOIN dpmm_cluster('SELECT id, x FROM faithful WHERE id % 4 > 0 ORDER BY id', '{"draws": 20}') b USING (id)$$, 'nor in a relation: array');
SELECT never($$SELECT a.id, (a.cluster, a.probability) IS DISTINCT FROM (b.cluster, b.probability) AS wrong FROM dpmm_cluster('SELECT id, eruptions, CASE WHEN id % 4 > 0 THEN waiting END FROM faithful ORDER BY id', '{"draws": 20, "missing": "skip"}') a FULL JOIN dpmm_cluster('SELECT id, x FROM faithful WHERE id % 4 > 0 ORDER BY id', '{"draws": 20}') b USING (id)$$, 'columns');
SELECT same_rows($$SELECT i.rows, i.skipped FROM (SELECT dpmm_fit(CASE id % 4 WHEN 0 THEN ARRAY[NULL, 1] WHEN 1 THEN NULL ELSE x END, '{"missing": "skip", "draws": 4}') AS m FROM faithful) f, bayes_info(m) i$$, $$SELECT count(*) FILTER (WHERE id % 4 > 1), count(*) FILTER (WHERE id % 4 <= 1) FROM faithful$$, 'rows left out are counted');
SELECT same_rows($$SELECT f.method, i.rows, e.clusters, c.mean, c.covariance[1][1] > 0 FROM (SELECT method, dpmm_fit('{5.5,-2}'::float8[], jsonb_build_object('method', method)) AS m FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) method GROUP BY 1) f, bayes_info(m) i, dpmm_estimate(m) e, dpmm_clusters(m) c ORDER BY 1$$,
  $$SELECT m, 1::bigint, 1, '{5.5,-2}'::float8[], true FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) m ORDER BY 1$$, 'one row, by every method');
SELECT same_rows($$SELECT f.method, sum(c.count)::int, all_true(near(c.mean, '{5.5,-2}') AND c.covariance[1][1] > 0) FROM (SELECT method, dpmm_fit('{5.5,-2}'::float8[], jsonb_build_object('method', method) || CASE method WHEN 'vi' THEN '{}' ELSE '{"draws": 50}'::jsonb END) AS m FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) method, generate_series(1, 30) GROUP BY 1) f, dpmm_clusters(m) c GROUP BY 1 ORDER BY 1$$,
  $$SELECT m, 30, true FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) m ORDER BY 1$$, 'rows that are all alike, by every method');
SELECT is((SELECT count(*) FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) m, unnest('{full,diagonal,spherical}'::text[]) c, LATERAL (SELECT dpmm_fit(ARRAY[7, i % 3, 7], jsonb_build_object('method', m, 'covariance', c) || CASE m WHEN 'vi' THEN '{}' ELSE '{"draws": 20}'::jsonb END) AS model FROM generate_series(1, 30) i) f WHERE model IS NOT NULL), 12::bigint, 'columns that are constant');
SELECT results_eq($$SELECT id, cluster, probability FROM dpmm_cluster('SELECT ''only'', 3')$$, $$VALUES ('only', 1, 1::float8)$$, 'one row is one cluster of one');
SELECT is((SELECT array_agg(id) FROM dpmm_cluster(statement, '{"draws": 4}')), ids::text[], 'ids: ' || statement) FROM (VALUES
  ('VALUES (1, 5), (1, 6), (NULL, 7)', '{1,1,NULL}'),
  ('VALUES (''a b'', 5), ('''', 6), (''é'', 7)', '{a b,"",é}'),
  ('VALUES (true, 5), (false, 6)', '{t,f}'),
  ('VALUES (1.50, 5), (''NaN'', 6)', '{1.50,NaN}'),
  ('SELECT date ''2026-11-21'' + i, i FROM generate_series(1, 2) i', '{2026-11-22,2026-11-23}'),
  ('SELECT ''00000000-0000-0000-0000-000000000001''::uuid, 1', '{00000000-0000-0000-0000-000000000001}'),
  ('SELECT ARRAY[i, NULL], i FROM generate_series(1, 2) i', '{"{1,NULL}","{2,NULL}"}'),
  ('SELECT (i, ''x''), i FROM generate_series(1, 2) i', '{"(1,x)","(2,x)"}'),
  ('SELECT ''{"a": 1}''::jsonb, 1', '{"{\"a\": 1}"}'),
  ('SELECT repeat(''x'', 20), 1', '{xxxxxxxxxxxxxxxxxxxx}')) v(statement, ids);
SELECT is((SELECT sum(length(id)) FROM dpmm_cluster('SELECT repeat(''long'', 100000), i FROM generate_series(1, 3) i', '{"draws": 4}')), 1200000::bigint, 'long ids');
SELECT is((SELECT count(*) FROM dpmm_cluster('SELECT gmm_fit(x, 1), 1 FROM galaxies', '{"draws": 4}')), 1::bigint, 'even a model');
-- Names go to disk when there are many, and are not left there.
SET work_mem = '64kB';
SELECT is((SELECT count(DISTINCT id) FROM dpmm_cluster('SELECT repeat(''x'', 50) || i, NULL::float8[] FROM generate_series(1, 20000) i')), 20000::bigint, 'many ids in little memory');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT repeat(''x'', 50) || i, NULL::float8[] FROM generate_series(1, 20000) i')$$, 'of which nothing can be said');
SELECT is((SELECT count(*) FROM dpmm_similarity('SELECT repeat(''x'', 50) || i, CASE WHEN i % 500 = 0 THEN ARRAY[i] END FROM generate_series(1, 20000) i', '{"draws": 4}')), 780::bigint, 'or of some');
RESET work_mem;

-- ---- the same again ----

SELECT never($$SELECT method, shape, bits(model) <> (SELECT bits(dpmm_fit(x, options ORDER BY id)) FROM iris) AS wrong FROM fits f WHERE data = 'iris'$$, 'the same rows and options make the same model');
SELECT never($$SELECT method, shape, bits(model) <> (SELECT bits(dpmm_fit(x, i.options ORDER BY id)) FROM galaxies) AS wrong FROM infos i JOIN fits f USING (data, method, shape) WHERE data = 'galaxies'$$, 'so do the options of bayes_info');
SELECT isnt((SELECT bits(dpmm_fit(x, '{"draws": 10, "seed": 2}' ORDER BY id)) FROM galaxies), (SELECT bits(dpmm_fit(x, '{"draws": 10, "seed": 3}' ORDER BY id)) FROM galaxies), 'another seed makes another');
SET pg_bayes.threads = 1;
CREATE TABLE one_thread AS SELECT m, (SELECT bits(dpmm_fit(x, m ORDER BY id)) FROM digits) AS b FROM unnest(ARRAY['{"method": "slice", "covariance": "diagonal", "draws": 6}', '{"method": "vi", "covariance": "spherical", "max_iter": 5, "restarts": 2, "tol": 1e6}']::jsonb[]) m;
SET pg_bayes.threads = 2;
SELECT never($$SELECT m, b <> (SELECT bits(dpmm_fit(x, m ORDER BY id)) FROM digits) AS wrong FROM one_thread$$, 'two threads make the same as one');
RESET pg_bayes.threads;

-- ---- stored, written, read ----

SELECT never($$SELECT data, method, shape, model::text::bayes_model::text <> model::text OR bayes_model_send(model::text::bayes_model) <> bayes_model_send(model) AS wrong FROM fits$$, 'text and back, to the last bit');
SELECT never($$SELECT data, method, shape, bayes_model_send((model::jsonb)::bayes_model) <> bayes_model_send(model) AS wrong FROM fits$$, 'jsonb and back');
CREATE TABLE stored (data text, method text, shape text, model bayes_model);
INSERT INTO stored SELECT data, method, shape, model::text::bayes_model FROM fits;
SELECT never($$SELECT data, method, dpmm_predict(model, s.x) <> s.label OR dpmm_probabilities(model, s.x) <> s.p OR dpmm_log_density(model, s.x) <> s.density AS wrong FROM stored JOIN scores s USING (data, method, shape)$$, 'a model read back scores as before, to the last bit');
SELECT never($$SELECT data, method, (SELECT array_agg(c) FROM dpmm_clusters(s.model) c)::text <> (SELECT array_agg(c) FROM dpmm_clusters(f.model) c)::text OR (SELECT array_agg(e) FROM dpmm_estimate(s.model) e)::text <> (SELECT array_agg(e) FROM dpmm_estimate(f.model) e)::text AS wrong FROM stored s JOIN fits f USING (data, method, shape)$$, 'and says the same of itself');
SELECT never($$SELECT data, method, shape, chain, draw, (a.clusters, a.concentration, a.log_joint) IS DISTINCT FROM (b.clusters, b.concentration, b.log_joint) AS wrong FROM (SELECT data, method, shape, d.* FROM stored s, dpmm_draws(model) d WHERE method <> 'vi') a FULL JOIN draws b USING (data, method, shape, chain, draw)$$, 'its draws too');

SELECT same_rows($$SELECT id, cluster FROM dpmm_cluster('SELECT id, smoke = 1, ht = 1 FROM birthwt ORDER BY id', '{"likelihood": "bernoulli", "draws": 40}')$$,
  $$SELECT id, cluster FROM dpmm_cluster('SELECT id, smoke, ht FROM birthwt ORDER BY id', '{"likelihood": "bernoulli", "draws": 40}')$$, 'columns of booleans are 0 and 1');

-- Partitions put together in another order have one density, so that rounding errors are not taken for chains that disagree.
SELECT ok((SELECT count(DISTINCT log_joint) FROM dpmm_draws(model)) < 6, 'draws of one partition have one density')
  FROM (SELECT dpmm_fit(x, '{"prior": {"m": [5], "c": 1, "a": 4, "B": 8}, "concentration": 0.0001}') AS model FROM (VALUES ('{10}'::float8[]), ('{2}'), ('{4}')) AS v(x)) AS f;
SELECT ok(NOT optimal, 'what is most probable among the draws may not be among all') FROM (SELECT dpmm_fit(x, '{"estimate": "map", "draws": 20}') AS model FROM iris) AS f, dpmm_estimate(model);
SELECT throws_like($$SELECT dpmm_fit(array_fill(i % 2, '{1600}'), '{"likelihood": "categorical", "categories": 10000, "draws": 20}') FROM generate_series(1, 50) AS i$$, '%MB beside the rows, but the limit is%', 'parameters beyond all memory');
SELECT throws_like($$SELECT dpmm_fit(array_fill(i % 2, '{1600}'), '{"likelihood": "categorical", "categories": 10000, "method": "vi"}') FROM generate_series(1, 50) AS i$$, '%MB beside the rows, but the limit is%', 'by vi too');

SELECT * FROM finish();
