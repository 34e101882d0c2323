-- Labels that no row of the fit had: in log densities each has the probability of one more category
-- in its component, a / (a + sum of the component's Dirichlet parameters); components and classes
-- are predicted without them.
SELECT plan(38);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- One component: everything is known in closed form. 10 rows, 3 labels, a = 1.
CREATE TABLE cars AS
SELECT i AS id, (ARRAY['Compact', 'Sedan', 'Van'])[1 + i % 3] AS type, i % 2 = 0 AS imported
FROM generate_series(1, 10) AS i;
CREATE TABLE one AS
SELECT method, bmm_fit(c, 1, jsonb_build_object('method', method)) AS model
FROM (SELECT type FROM cars) AS c, unnest('{em,map,vi,gibbs}'::text[]) AS method GROUP BY method;
CREATE TABLE rows AS
SELECT type FROM unnest('{Compact,Tank,Boat}'::text[]) AS type;
SELECT ok(abs(bayes_log_density(model, r) - ln(1.0 / 14)) < 1e-9,
  method || ': the share of one more')
FROM one, (SELECT type FROM rows WHERE type = 'Tank') AS r ORDER BY method;
SELECT is(bayes_log_density(model, r), 0::float8, method || ': NULL is no evidence')
FROM one, (SELECT NULL::text AS type) AS r ORDER BY method;
SELECT ok((SELECT bayes_log_density(model, r) FROM rows AS r WHERE type = 'Tank')
  < (SELECT bayes_log_density(model, r) FROM rows AS r WHERE type = 'Compact'),
  method || ': Tank is stranger than Compact') FROM one ORDER BY method;
SELECT ok(abs(bayes_log_density(bmm_fit(c, 1, '{"method": "vi", "prior": {"category_alpha": 0.5}}'),
    (SELECT r FROM (SELECT 'Tank'::text AS type) AS r)) - ln(0.5 / (10 + 4 * 0.5))) < 1e-9,
  'a is that of the prior') FROM (SELECT type FROM cars) AS c;

SELECT ok(abs((SELECT (bmm_fit_statistics(model, r)).log_likelihood FROM rows AS r)
    - (SELECT sum(bayes_log_density(model, r)) FROM rows AS r)) < 1e-9, 'fit statistics count it')
FROM one WHERE method = 'em';

-- Several components: predictions as with NULL, and the density mixes the shares.
CREATE TABLE fleet AS
SELECT (ARRAY['Compact', 'Sedan', 'Van', 'Bus'])[1 + i % 2 + 2 * (i % 3 / 2)] AS type,
  20 * (i % 3 / 2) + i % 5 AS seats FROM generate_series(1, 90) AS i;
CREATE TABLE families AS
SELECT 'bmm' AS family, bmm_fit(c, 2) AS model FROM (SELECT type, seats FROM fleet) AS c
UNION ALL
SELECT 'dpmm', dpmm_fit(c, '{"draws": 50, "chains": 1}') FROM (SELECT type, seats FROM fleet) AS c;
CREATE TABLE tank AS
SELECT family, CASE family WHEN 'bmm' THEN
    bayes_probabilities(model, r) = bayes_probabilities(model, n)
    ELSE bayes_probabilities(model, r) = bayes_probabilities(model, n) END AS same,
  CASE family WHEN 'bmm' THEN bayes_log_density(model, r) - bayes_log_density(model, n)
    ELSE bayes_log_density(model, r) - bayes_log_density(model, n) END AS more
FROM families, (SELECT 'Tank'::text AS type, 3 AS seats) AS r,
  (SELECT NULL::text AS type, 3 AS seats) AS n;
SELECT ok(same, family || ': probabilities are those without it') FROM tank ORDER BY family;
-- 60 rows are of the component with few seats, which has 2 of 4 labels.
SELECT ok(abs(more - ln(1.0 / 65)) < 0.1, family || ': the density mixes the shares')
FROM tank ORDER BY family;
SELECT ok((SELECT bayes_log_density_mcse(model, r) > 0
    FROM (SELECT 'Tank'::text AS type, 3 AS seats) AS r), 'dpmm: an error of it')
FROM families WHERE family = 'dpmm';

-- Naive Bayes: the classes' shares, mixed.
CREATE TABLE classes AS
SELECT nb_fit(imported::text, c) AS columns,
  nb_fit(imported::text, jsonb_build_object('type', cars.type)) AS names
FROM cars, LATERAL (SELECT cars.type) AS c;
SELECT ok(abs(bayes_log_density(columns, r) - ln(1.0 / 9)) < 1e-9, 'nb: the share of one more')
FROM classes, (SELECT 'Tank'::text AS type) AS r;
SELECT ok(abs(bayes_log_density(names, '{"type": "Tank"}'::jsonb) - ln(1.0 / 9)) < 1e-9,
  'nb, objects: the share of one more') FROM classes;
SELECT is(nb_probability(columns, r, 'true'), nb_probability(columns, n, 'true'),
  'nb: predictions are those without it')
FROM classes, (SELECT 'Tank'::text AS type) AS r, (SELECT NULL::text AS type) AS n;
SELECT ok(abs(bayes_log_density(nb_fit(imported::text, ARRAY[i % 3],
    '{"likelihood": "categorical"}'),
    ARRAY[7]) - ln(1.0 / 9)) < 1e-9, 'nb: a whole number that no row had')
FROM (SELECT id AS i, imported FROM cars) AS c;

-- Hidden Markov models: one state, so the likelihood is a product.
CREATE TABLE chains AS
SELECT method, hmm_fit(ARRAY['a', 'b', 'a', 'c'], 1, jsonb_build_object('method', method)) AS model
FROM unnest('{em,vi,gibbs}'::text[]) AS method GROUP BY method;
SELECT ok(abs(hmm_log_likelihood(model, ARRAY['a', 'z', NULL])
    - hmm_log_likelihood(model, ARRAY['a', NULL, NULL]) - ln(1.0 / 8)) < 1e-9,
  method || ': the share of one more symbol') FROM chains ORDER BY method;
SELECT is(hmm_probabilities(model, ARRAY['a', 'z', 'b']),
  hmm_probabilities(model, ARRAY['a', NULL, 'b']), 'hmm: states are those without it')
FROM (SELECT hmm_fit(ARRAY['a', 'b', 'a', 'c'], 2) AS model) AS m;
SELECT ok(hmm_log_likelihood(m, ARRAY[r, z]) < hmm_log_likelihood(m, ARRAY[r, n]) - ln(4),
  'hmm: a column of labels')
FROM (SELECT hmm_fit(s, 2) AS m FROM (SELECT array_agg(f) AS s FROM fleet AS f) AS all_) AS fit,
  (SELECT ('Van', 3)::fleet AS r, ('Tank', 20)::fleet AS z, (NULL, 20)::fleet AS n) AS rows;

SELECT ok(abs(bayes_log_density(model, 'Tank') - ln(1.0 / 14)) < 1e-12
    AND abs(exp(bayes_log_density(model, 'Tank')) - 1.0 / 14) < 1e-12,
  'dirichlet_categorical: the share of one more')
FROM (SELECT dirichlet_categorical_fit(type) AS model FROM cars) AS m;

-- A model of yesterday against its refit, on rows of which some have the new category.
CREATE TABLE sales AS
SELECT i, (i / 200)::int AS day, CASE WHEN i % 10 < 3 AND i >= 200 THEN 'new'
    ELSE (ARRAY['old', 'older'])[1 + i % 2] END AS product, i % 7 + 3 * (i % 2) AS pieces
FROM generate_series(0, 599) AS i;
CREATE VIEW later AS SELECT product, pieces FROM sales WHERE day = 2;
SELECT ok((SELECT avg(bayes_log_density(champion, s)) FROM later AS s)
  < (SELECT avg(bayes_log_density(challenger, s)) FROM later AS s),
  'the stale model loses: bmm')
FROM (SELECT bmm_fit(s, 2, '{"likelihood": {"pieces": "poisson"}}') AS champion
    FROM (SELECT product, pieces FROM sales WHERE day = 0) AS s) AS a,
  (SELECT bmm_fit(s, 2, '{"likelihood": {"pieces": "poisson"}}') AS challenger
    FROM (SELECT product, pieces FROM sales WHERE day <= 1) AS s) AS b;
SELECT ok((SELECT avg(bayes_log_density(champion, s)) FROM later AS s)
  < (SELECT avg(bayes_log_density(challenger, s)) FROM later AS s),
  'the stale model loses: nb')
FROM (SELECT nb_fit(pieces > 4, s) AS champion
    FROM sales, LATERAL (SELECT sales.product) AS s WHERE day = 0) AS a,
  (SELECT nb_fit(pieces > 4, s) AS challenger
    FROM sales, LATERAL (SELECT sales.product) AS s WHERE day <= 1) AS b;
SELECT ok(hmm_log_likelihood(champion, s) < hmm_log_likelihood(challenger, s),
  'the stale model loses: hmm')
FROM (SELECT array_agg(product ORDER BY i) AS s FROM sales WHERE day = 2) AS c,
  (SELECT hmm_fit(array_agg, 2) AS champion
    FROM (SELECT array_agg(product ORDER BY i) FROM sales WHERE day = 0) AS s) AS a,
  (SELECT hmm_fit(array_agg, 2) AS challenger
    FROM (SELECT array_agg(product ORDER BY i) FROM sales WHERE day <= 1) AS s) AS b;

-- Topics: terms that the model does not know. One topic: 4 tokens of 2 terms, eta 0.5.
CREATE TABLE topics AS
SELECT method, lda_fit(d, 1, jsonb_build_object('method', method) || CASE method WHEN 'em' THEN '{}'
    ELSE '{"prior": {"eta": 0.5, "alpha": 1}}'::jsonb END) AS model
FROM (VALUES ('{a,b}'::text[]), ('{a,a}')) AS v(d), unnest('{vi,em,collapsed}'::text[]) AS method
GROUP BY method;
SELECT ok(near(lda_perplexity(model, '{z,y}'::text[], NULL),
  CASE method WHEN 'em' THEN 7 ELSE 11 END),
  method || ': the share of one more term') FROM topics GROUP BY method, model ORDER BY method;
SELECT ok(near(lda_perplexity(model, '{z}'::text[], '{"method": "left-to-right"}'), 11),
  'from left to right') FROM topics WHERE method = 'vi' GROUP BY model;
SELECT is(lda_proportions(model, '{a,z}'::text[]), lda_proportions(model, '{a}'::text[]),
  'proportions are those without it') FROM topics WHERE method = 'vi';
CREATE TABLE news AS
SELECT i / 100 AS day, (SELECT array_agg(CASE WHEN (i * 7 + j) % 10 < 2 AND i >= 100
    THEN 'crypto' ELSE 'word' || (i * j) % 30 END) FROM generate_series(1, 20) AS j) AS words
FROM generate_series(0, 299) AS i;
SELECT ok((SELECT lda_perplexity(champion, words, NULL) FROM news WHERE day = 2)
  > (SELECT lda_perplexity(challenger, words, NULL) FROM news WHERE day = 2),
  'the stale model loses: lda')
FROM (SELECT lda_fit(words, 2) AS champion FROM news WHERE day = 0) AS a,
  (SELECT lda_fit(words, 2) AS challenger FROM news WHERE day <= 1) AS b;
SELECT * FROM finish();
