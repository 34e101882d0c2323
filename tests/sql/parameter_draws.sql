-- bayes_draws(model, draws): draws of the parameters that bayes_parameters lists.
SELECT plan(36);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE shops AS
SELECT i AS id, 20 + 40 * k + i % 9 AS age,
  (ARRAY['cash', 'card', 'card'])[1 + (i + i / 4) % 3] AS pays,
  900 + 500 * k + 60 * sin(i) AS spend, i % 4 + 3 * k AS visits, i % 7 < 2 + 3 * k AS member
FROM generate_series(1, 120) AS i, LATERAL (SELECT (i % 3 = 0)::int AS k) AS r;
CREATE TABLE words AS SELECT id, string_to_array(CASE WHEN id % 2 = 0 THEN 'a b a c' ELSE 'd e d c'
  END, ' ') AS doc FROM generate_series(1, 40) AS id;

CREATE TABLE fits (name text PRIMARY KEY, model bayes_model);
INSERT INTO fits SELECT 'gmm ' || covariance, gmm_fit(r, 2, jsonb_build_object('method', 'gibbs',
    'covariance', covariance, 'chains', 2, 'draws', 400, 'stored_draws', 800))
  FROM shops, LATERAL (SELECT age, spend) AS r,
    unnest('{full,diagonal,spherical,tied}'::text[]) AS covariance GROUP BY covariance;
INSERT INTO fits SELECT 'bmm', bmm_fit(r, 2, '{"method": "gibbs", "draws": 1000, "stored_draws":
    1000, "likelihood": {"visits": "poisson"}}')
  FROM shops, LATERAL (SELECT age, pays, visits, member) AS r;
INSERT INTO fits SELECT 'dpmm', dpmm_fit(r, '{"draws": 1000, "stored_draws": 1000}')
  FROM shops, LATERAL (SELECT age, spend) AS r;
INSERT INTO fits SELECT 'hmm', hmm_fit(s, 2, '{"method": "gibbs", "chains": 2, "draws": 300,
    "stored_draws": 600}') FROM (SELECT array_agg(spend ORDER BY id) AS s FROM shops) AS g;
INSERT INTO fits SELECT 'hmm symbols', hmm_fit(s, 2, '{"method": "gibbs", "draws": 200}')
  FROM (SELECT array_agg(pays ORDER BY id) AS s FROM shops) AS g;
INSERT INTO fits SELECT 'lda', lda_fit(doc, 2, '{"method": "gibbs", "draws": 600,
    "stored_draws": 600}') FROM words;
INSERT INTO fits SELECT 'linreg', linreg_fit(spend, r, '{"method": "gibbs", "chains": 2, "draws":
    800, "stored_draws": 1600}') FROM shops, LATERAL (SELECT age, pays) AS r;
INSERT INTO fits SELECT 'glm', glm_fit(visits, r, '{"response": "poisson", "method": "slice",
    "draws": 800, "stored_draws": 1600}') FROM shops, LATERAL (SELECT age, pays) AS r;
INSERT INTO fits SELECT 'levels', glm_fit(visits / 3, age, '{"response": "ordinal", "method":
    "slice", "draws": 800, "stored_draws": 1600}') FROM shops;
INSERT INTO fits SELECT 'shares', beta_bernoulli_fit(member) FROM shops;
INSERT INTO fits SELECT 'rates', gamma_poisson_fit(visits) FROM shops;
INSERT INTO fits SELECT 'means', normal_inverse_gamma_fit(spend) FROM shops;
INSERT INTO fits SELECT 'labels', dirichlet_categorical_fit(pays) FROM shops;
CREATE FUNCTION asked(model bayes_model) RETURNS int STABLE
  RETURN (SELECT coalesce(nullif(stored_draws, 0) / (SELECT max(chain) FROM bayes_draws(model)),
    2000) FROM bayes_info(model));
CREATE TABLE drawn AS SELECT name, d.* FROM fits, bayes_draws(model,
  CASE WHEN name IN ('shares', 'rates', 'means', 'labels') THEN 2000 ELSE asked(model) END) AS d;

-- Means and deviations as bayes_parameters has them, under its names, and no others. The weights of
-- topics are no parameters, and their probabilities have no deviation there.
CREATE VIEW drawn_moments AS SELECT name, parameter, component, coalesce(column_name, '') AS place,
  coalesce(label, '') AS label, avg(value) AS mean, stddev(value) AS drawn_sd FROM drawn
GROUP BY 1, 2, component, 4, 5;
CREATE VIEW known AS SELECT name, parameter, component, coalesce(column_name, element::text, '')
  AS place, coalesce(label, category::text, '') AS label, value, sd
FROM fits, bayes_parameters(model) WHERE name <> 'lda' OR parameter <> 'weight';
SELECT ok(bool_and(abs(mean - value) <= 0.25 * coalesce(sd, drawn_sd) + 1e-9
    AND coalesce(abs(drawn_sd - sd) <= 0.25 * sd + 1e-9, true))
  AND count(*) = (SELECT count(*) FROM known AS k WHERE k.name = d.name)
  AND count(*) = (SELECT count(*) FROM drawn_moments AS m WHERE m.name = d.name),
  name || ': as bayes_parameters')
FROM drawn_moments AS d JOIN known AS k USING (name, parameter, place, label)
WHERE d.component IS NOT DISTINCT FROM k.component GROUP BY name ORDER BY name;

-- Parameters of a draw belong together.
SELECT never($$SELECT name, chain, draw, abs(sum(value) - 1) > 1e-9 AS wrong FROM drawn
  WHERE parameter = 'weight' AND name <> 'dpmm' GROUP BY 1, 2, 3$$, 'weights sum to 1');
SELECT never($$SELECT name, chain, draw, abs(sum(value) - 1) > 1e-9 AS wrong FROM drawn
  WHERE parameter = 'transition' GROUP BY name, chain, draw, component$$, 'so do transitions');
SELECT never($$SELECT name, chain, draw, abs(sum(value) - 1) > 1e-9 AS wrong FROM drawn
  WHERE name IN ('lda', 'labels') GROUP BY name, chain, draw, component$$, 'and labels');
SELECT is((SELECT array_agg(DISTINCT name ORDER BY name) FROM (SELECT name FROM drawn
    WHERE parameter = 'sd' AND name ~ 'gmm' GROUP BY name, chain, draw, column_name
    HAVING count(*) = 2 AND max(value) - min(value) < 1e-9) AS d), '{gmm tied}',
  'components that share a covariance share it in every draw');
SELECT ok(corr(i.value, a.value) < -0.7, 'coefficients know of each other') FROM drawn AS i
  JOIN drawn AS a USING (name, chain, draw)
WHERE name = 'linreg' AND i.quantity = '(intercept)' AND a.quantity = 'age';

-- Names.
SELECT is(string_agg(DISTINCT quantity, ' '), expected, name || ': quantities')
FROM drawn JOIN (VALUES ('gmm full', 'mean[1,age] mean[1,spend] mean[2,age] mean[2,spend] '
    'sd[1,age] sd[1,spend] sd[2,age] sd[2,spend] weight[1] weight[2]'),
  ('linreg', '(intercept) age noise_variance pays=cash'), ('labels', 'card cash'),
  ('hmm symbols', 'initial[1] initial[2] probability[1,1,card] probability[1,1,cash] '
    'probability[2,1,card] probability[2,1,cash] transition[1,1] transition[1,2] '
    'transition[2,1] transition[2,2]')) AS v(name, expected) USING (name)
GROUP BY name, expected ORDER BY name;
SELECT is(string_agg(DISTINCT quantity, ' '), 'alpha coefficient[alpha] log_joint',
  'a term that another quantity is called like')
FROM bayes_draws((SELECT linreg_fit(spend, r, '{"method": "gibbs", "draws": 50, "prior":
  {"lambda": 1}}') FROM shops, LATERAL (SELECT age AS alpha) AS r)) WHERE draw < 3;

-- Chains, and how many.
SELECT is((SELECT concat_ws(' ', array_agg(DISTINCT chain), max(draw), count(*)) FROM fits,
    bayes_draws(model, 10) WHERE name = 'linreg' AND quantity = 'age'), '{1,2} 10 20',
  'so many of each chain');
SELECT is((SELECT array_agg(value) FROM fits, bayes_draws(model, 9, 3) WHERE name = 'gmm full'),
  (SELECT array_agg(value) FROM fits, bayes_draws(model, 9, 3) WHERE name = 'gmm full'),
  'the same seed, the same draws');
SELECT throws_ok($$SELECT bayes_draws(model, 201) FROM fits WHERE name = 'gmm full'$$, '22023',
  '201 draws of each chain are asked for, but the model stores 200', 'no more than there are');
SELECT throws_ok($$SELECT bayes_draws(beta_bernoulli_fit(true), 1000001)$$, '22023',
  '1000001 draws are asked for, but one call makes at most 1000000', 'nor more than fit');
SELECT is((SELECT concat_ws(' ', array_agg(DISTINCT chain), max(draw), count(*)) FROM fits,
    bayes_draws((model::jsonb - 'draws')::bayes_model, 10) WHERE name = 'gmm full'), '{1} 10 100',
  'stored draws without quantities count as one chain');
SELECT throws_ok(format('SELECT bayes_draws(%s, 2) FROM shops', call), state, NULL, call)
FROM (VALUES ('gmm_fit(ARRAY[age, spend], 2)', '22023'),
  ('gmm_fit(ARRAY[age, spend], 2, ''{"method": "em"}'')', '22023'),
  ('pmf_fit(pays, id, age, 1, ''{"draws": 20}'')', '42804'),
  ('normal_inverse_gamma_fit(age, ''{"prior": {"m": 0, "c": 0, "a": 0, "b": 0}}'') FILTER (WHERE '
    'id = 1)', '22023')) AS v(call, state);
SELECT throws_ok($$SELECT bayes_draws(bayes_condition(model, g), 2)
  FROM fits, (SELECT 30 AS age) AS g WHERE name = 'gmm full'$$, '22023',
  'a conditional model has no draws of its parameters', 'a conditional model');
SELECT * FROM finish();
