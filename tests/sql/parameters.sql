-- bayes_parameters: the numbers of a model with their intervals.
SELECT plan(39);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE customers AS
SELECT i AS id, CASE WHEN i % 10 > 0 THEN 22 + 14 * (i % 3) + i % 9 END AS age,
       60 + 90 * (i % 3) + 20 * sin(i) AS spend, i % 3 = 2 OR i % 7 = 0 AS newsletter,
       (ARRAY['basic', 'Familie', 'größer'])[1 + (i + (i / 4) % 2) % 3] AS plan
FROM generate_series(1, 300) AS i;
CREATE TABLE names AS SELECT string_to_array('abcbabcbabcbcbcabcbabacabcabcabaababcbababcb', NULL)
  AS s;

-- ---- gmm ----

CREATE TABLE fits AS SELECT covariance || ' ' || type AS name, gmm_fit(x, 3, jsonb_build_object(
    'covariance', covariance, 'prior', jsonb_build_object('type', type), 'linear_response',
    false)) AS model
  FROM iris, (VALUES ('full', 'linked'), ('full', 'independent'), ('diagonal', 'linked'),
    ('spherical', 'linked'), ('tied', 'linked')) AS v(covariance, type) GROUP BY covariance, type;
SELECT never($$SELECT name, p.*, value <> CASE parameter WHEN 'weight' THEN weight ELSE
    mean[element] END AS wrong
  FROM fits, bayes_parameters(model) AS p JOIN gmm_components(model) USING (component)
  WHERE parameter <> 'sd'$$, 'weights and means are those of the components');
SELECT set_eq($$SELECT name, count(*), count(element) AS of_elements,
    count(DISTINCT parameter) AS names FROM fits, bayes_parameters(model) GROUP BY 1$$,
  $$SELECT name, 27::bigint AS a, 24::bigint AS b, 3::bigint AS c FROM fits$$,
  'one row for every number');
SELECT never($$SELECT name, p.*, value / sqrt(covariance[element][element]) NOT BETWEEN 1 AND 3
    AS wrong
  FROM fits, bayes_parameters(model) AS p JOIN gmm_components(model) USING (component)
  WHERE parameter = 'sd'$$, 'standard deviations are at least those of the components');
-- The posterior in SQL: moments of beta, Student t and inverse gamma distributions.
SELECT never($$SELECT name, p.*, abs(sd / sqrt(CASE parameter
    WHEN 'weight' THEN value * (1 - value) / (whole + 1)
    WHEN 'mean' THEN coalesce(s[element][element], b[element][element] / (c * (nu - 2)))
    WHEN 'sd' THEN b[element][element] / (nu - 2) - value ^ 2 END) - 1) > 1e-6 AS wrong
  FROM fits, bayes_parameters(model) AS p JOIN gmm_posterior(model) USING (component),
    (SELECT sum(alpha) AS whole FROM fits AS f, gmm_posterior(f.model) WHERE f.name = 'tied linked')
      AS w, LATERAL (SELECT CASE WHEN name ~ 'full|tied' THEN a - 3 ELSE a END AS nu) AS n$$,
  'deviations are those of the posterior');
SELECT never($$SELECT name, a.*, NOT (b.lower BETWEEN a.lower AND a.value
    AND b.upper BETWEEN a.value AND a.upper AND a.lower < b.lower) AS wrong
  FROM fits, bayes_parameters(model) AS a JOIN LATERAL bayes_parameters(model, 0.5) AS b
    USING (component, parameter) WHERE a.element IS NOT DISTINCT FROM b.element$$,
  'a lower level, a shorter interval');
SELECT never($$SELECT name, a.*, a <> b AS wrong FROM fits, bayes_parameters(model)
    WITH ORDINALITY AS a JOIN LATERAL bayes_parameters(model, 0.95) WITH ORDINALITY AS b
    USING (ordinality)$$, 'the level is 0.95');
SELECT never($$SELECT name, a.*, a <> b AS wrong FROM fits, bayes_parameters(model)
    WITH ORDINALITY AS a JOIN LATERAL bayes_parameters(model::text::bayes_model)
    WITH ORDINALITY AS b USING (ordinality)$$, 'of a model that was a text too');
SELECT set_eq($$SELECT method, sd_method, p.sd IS NULL AS s, p.lower IS NULL AS l,
    p.upper IS NULL AS u
  FROM unnest('{em,map,mcem,kmeans,gibbs,collapsed,svi,vi}'::text[]) AS method,
    LATERAL (SELECT gmm_fit(x, 2, jsonb_build_object('method', method)) AS model
             FROM faithful) AS f, bayes_parameters(model) AS p$$,
  $$VALUES ('em', NULL, true, true, true), ('map', NULL, true, true, true),
    ('mcem', NULL, true, true, true), ('kmeans', NULL, true, true, true),
    ('gibbs', 'draws', false, false, false), ('collapsed', 'draws', false, false, false),
    ('svi', 'mean field', false, false, false), ('vi', 'linear response', false, false, false)$$,
  'one point has no posterior');
SELECT never($$SELECT *, abs(a.lower - b.lower) > 0.2 * a.sd OR abs(a.upper - b.upper) > 0.2 * a.sd
      OR abs(a.sd / b.sd - 1) > 0.1 AS wrong
  FROM bayes_parameters((SELECT gmm_fit(x, 2) FROM faithful)) AS a
  JOIN bayes_parameters((SELECT gmm_fit(x, 2, '{"method": "collapsed"}') FROM faithful)) AS b
    USING (component, parameter) WHERE a.element IS NOT DISTINCT FROM b.element$$,
  'where components hardly overlap all methods agree');
-- Two eruptions in three, or states of few steps.
CREATE TABLE doubtful AS SELECT 'gmm' AS family, gmm_fit(x, 3) AS model FROM faithful
  UNION ALL SELECT 'bmm', bmm_fit(ARRAY[id % 2 = 0, id % 3 = 0, id % 5 = 0], 2) FROM faithful
  UNION ALL SELECT 'hmm', hmm_fit(s, 2) FROM (SELECT array_agg(x[2] ORDER BY id) AS s
    FROM faithful WHERE id <= 40 AND x[1] > 3) AS f;
SELECT never($$SELECT family, p.*, NOT (sd IS NULL AND lower IS NULL AND upper IS NULL
    AND value IS NOT NULL AND sd_method = 'components overlap') AS wrong
  FROM doubtful, bayes_parameters(model) AS p$$,
  'where rows do not tell components apart nothing is known');
SELECT ok(bool_and(sd IS NULL AND change_in_sd IS NULL) AND count(difference) > 0,
  'nor whether they have changed')
  FROM doubtful, bayes_compare(model, model) WHERE family = 'gmm';
SELECT never($$SELECT t.*, sd IS NOT NULL AS wrong FROM doubtful, hmm_transitions(model) AS t
  WHERE family = 'hmm'$$, 'nor of transitions');
SELECT never($$SELECT p.*, sd IS NULL AS wrong FROM bayes_parameters((SELECT gmm_fit(x, 3,
  '{"linear_response": true}') FROM faithful)) AS p$$, 'those of the optimum on request');

-- ---- columns and labels ----

CREATE TABLE records AS SELECT bmm_fit(c, 3) AS bmm, dpmm_fit(c, '{"draws": 200}') AS dpmm
  FROM (SELECT age, spend, newsletter, plan FROM customers WHERE age IS NOT NULL) AS c;
SELECT set_eq($$SELECT DISTINCT element, column_name, likelihood, parameter, category, label
    FROM records, bayes_parameters(bmm)$$, $$VALUES
  (NULL, NULL, NULL, 'weight', NULL::bigint, NULL), (1, 'age', 'normal', 'mean', NULL, NULL),
  (1, 'age', 'normal', 'sd', NULL, NULL), (2, 'spend', 'normal', 'mean', NULL, NULL),
  (2, 'spend', 'normal', 'sd', NULL, NULL),
  (3, 'newsletter', 'bernoulli', 'probability', NULL, NULL),
  (4, 'plan', 'categorical', 'probability', 0, 'Familie'),
  (4, 'plan', 'categorical', 'probability', 1, 'basic'),
  (4, 'plan', 'categorical', 'probability', 2, 'größer')$$, 'columns and labels have their names');
SELECT set_eq($$SELECT DISTINCT element, column_name, parameter, category, label
    FROM records, bayes_parameters(dpmm)$$,
  $$SELECT DISTINCT element, column_name, parameter, category, label
    FROM records, bayes_parameters(bmm)$$, 'those of clusters too');
SELECT never($$SELECT component, column_name, abs(sum(value) - 1) > 1e-12 AS wrong
  FROM records, bayes_parameters(bmm) WHERE label IS NOT NULL GROUP BY 1, 2$$,
  'probabilities of labels sum to 1');
SELECT set_eq($$SELECT column_name, parameter FROM bayes_parameters((SELECT gmm_fit(c, 1)
    FROM (SELECT spend AS "Spend €" FROM customers) AS c))$$,
  $$VALUES (NULL, 'weight'), ('Spend €', 'mean'), ('Spend €', 'sd')$$, 'names of any kind');
SELECT set_eq($$SELECT column_name FROM bayes_parameters((SELECT gmm_fit(ARRAY[spend], 1)
    FROM customers))$$, 'VALUES (NULL)', 'arrays have none');
SELECT never($$SELECT c.cluster, abs(p.value - c.weight) > 1e-12 AS wrong FROM records,
    dpmm_clusters(dpmm) AS c JOIN LATERAL bayes_parameters(dpmm) AS p ON p.component = c.cluster
  WHERE p.parameter = 'weight'$$, 'weights of clusters are those of dpmm_clusters');

-- ---- hmm ----

CREATE TABLE chains AS SELECT method, hmm_fit(s, 2, jsonb_build_object('method', method)
    || CASE method WHEN 'vi' THEN '{"linear_response": true}' ELSE '{}' END::jsonb) AS model
  FROM names, unnest('{vi,gibbs,em}'::text[]) AS method GROUP BY method;
SELECT set_eq($$SELECT DISTINCT element, likelihood, parameter, category, label
    FROM chains, bayes_parameters(model)$$, $$VALUES
  (NULL::int, NULL, 'initial', NULL::bigint, NULL), (NULL, NULL, 'transition', 1, '1'),
  (NULL, NULL, 'transition', 2, '2'), (1, 'categorical', 'probability', NULL, 'a'),
  (1, 'categorical', 'probability', NULL, 'b'), (1, 'categorical', 'probability', NULL, 'c')$$,
  'what a state has');
SELECT never($$SELECT method, t.*, p.value <> t.probability OR p.label <> t.to_state::text
    OR (method <> 'em' AND NOT (abs(p.sd / t.sd - 1) < 1e-9 AND p.lower < p.upper))
    OR (method = 'em' AND p.sd + p.lower + p.upper IS NOT NULL) AS wrong
  FROM chains, hmm_transitions(model) AS t JOIN LATERAL bayes_parameters(model) AS p
    ON (p.component, p.category) = (t.from_state, t.to_state) AND parameter = 'transition'$$,
  'transitions');
SELECT never($$SELECT method, e.*, p.value <> e.probability
    OR (method <> 'em' AND NOT (abs(p.sd / e.sd - 1) < 1e-9 AND p.lower < p.upper)) AS wrong
  FROM chains, hmm_emissions(model) AS e JOIN LATERAL bayes_parameters(model) AS p
    ON (p.component, p.label) = (e.state, e.symbol)$$, 'symbols');
SELECT never($$SELECT method, s.*, p.value <> s.initial OR (method <> 'em' AND NOT
    (abs(p.sd / s.initial_sd - 1) < 1e-9)) AS wrong
  FROM chains, hmm_states(model) AS s JOIN LATERAL bayes_parameters(model) AS p
    ON p.component = s.state AND parameter = 'initial'$$, 'initial probabilities');
SELECT is((SELECT string_agg(concat(component, coalesce(element, 0), left(parameter, 1)), ' ')
  FROM bayes_parameters((SELECT hmm_fit(s, 2) FROM (SELECT array_agg(x ORDER BY id) AS s
    FROM faithful) AS g))), '10i 10t 10t 11m 11s 12m 12s 20i 20t 20t 21m 21s 22m 22s',
  'states in turn');

-- ---- draws on request ----

CREATE TABLE regressions AS SELECT name, model FROM (VALUES
  ('linreg', (SELECT linreg_fit(spend, ROW(age, plan)) FROM customers WHERE age IS NOT NULL)),
  ('linreg vi', (SELECT linreg_fit(spend, age, '{"method": "vi"}') FROM customers)),
  ('known noise', (SELECT linreg_fit(spend, ARRAY[age], '{"intercept": false,
    "noise_variance": 100}') FROM customers)),
  ('logreg', (SELECT logreg_fit(newsletter, ARRAY[age, id]) FROM customers)),
  ('counts', (SELECT glm_fit(age::int, id, '{"response": "negative_binomial"}') FROM customers)),
  ('levels', (SELECT glm_fit(age::int / 20, id, '{"response": "ordinal"}') FROM customers)),
  ('tails', (SELECT glm_fit(spend, age, '{"response": "student_t", "df": "learned"}')
    FROM customers))) AS v(name, model);
-- 4000 independent draws: five standard errors, and what a parameter described as the exponential
-- of a normal one, or by the curvature of cuts, may be off.
SELECT ok(bool_and(abs(mean - value) <= 0.2 * p.sd AND abs(d.sd - p.sd) <= 0.1 * p.sd)
  AND count(*) = (SELECT count(*) FROM bayes_parameters(model)), name || ': draws on request')
FROM regressions, LATERAL (SELECT quantity, avg(value) AS mean, stddev(value) AS sd
    FROM bayes_draws(model, 4000) GROUP BY quantity) AS d,
  bayes_parameters(model) AS p WHERE quantity = coalesce(label, parameter)
GROUP BY name, model ORDER BY name;
SELECT ok(abs(covar_samp(a.value, b.value) / d.sd ^ 2 + 1) < 0.15, 'they know of correlations')
FROM (SELECT linreg_fit(spend, ARRAY[age, age + id / 1000.0]) AS model FROM customers) AS f,
  bayes_draws(model, 2000) AS a, bayes_draws(model, 2000) AS b,
  bayes_coefficients(model) AS d
WHERE a.quantity = 'x1' AND b.quantity = 'x2' AND a.draw = b.draw AND d.term = 'x1' GROUP BY d.sd;
SELECT is((SELECT array_agg(value) FROM bayes_draws(model, 5, 7)),
  (SELECT array_agg(value) FROM bayes_draws(model, 5, 7)), 'the same seed, the same draws')
FROM regressions WHERE name = 'tails';
SELECT throws_ok($$SELECT * FROM regressions, bayes_draws(model, -1)$$, '22023',
  'n is -1, the number of draws cannot be negative', 'fewer than none');
SELECT throws_ok($$SELECT bayes_draws(probit_fit(newsletter, age, '{"method": "em"}'), 3)
  FROM customers$$, '22023', 'there are no draws of a model of family probit by method em',
  'of a point estimate there are none');

-- ---- what cannot be ----

SELECT throws_ok(format('SELECT * FROM fits, bayes_parameters(model, %L)', level), '22023',
  format('level is %s, but must be between 0 and 1', level), 'level ' || level)
  FROM unnest('{0,1,NaN}'::text[]) AS level;
SELECT is((SELECT count(*) FROM fits, bayes_parameters(model, NULL)), 0::bigint,
  'no level, no rows');
SELECT * FROM finish();
