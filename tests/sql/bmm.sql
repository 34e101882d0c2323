-- Bernoulli mixtures and mixtures of products.
SELECT plan(98);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE answers AS SELECT ARRAY[a - 1, b - 1, c - 1, d - 1] AS x, count FROM role_conflict;
CREATE TABLE each AS SELECT x, ARRAY(SELECT v = 1 FROM unnest(x) AS v) AS yes FROM answers,
  generate_series(1, count);
CREATE TABLE m AS SELECT bmm_fit(x, 2) AS vi, bmm_fit(x, 2, '{"method": "em"}') AS em,
  bmm_fit(x, 2, '{"method": "map"}') AS map, bmm_fit(x, 2, '{"method": "svi"}') AS svi,
  bmm_fit(x, 2, '{"method": "gibbs"}') AS gibbs,
    bmm_fit(x, 2, '{"method": "collapsed"}') AS collapsed,
    bmm_fit(x, 2, '{"method": "mcem"}') AS mcem FROM each;

-- ---- what is fitted ----

-- Goodman (1974), R's poLCA: log-likelihood -504.4677, shares 0.7203 and 0.2797.
SELECT ok(abs(log_likelihood - -504.4677) < 1e-3, 'em finds the published optimum') FROM m,
  bayes_info(em);
SELECT ok(abs(weight - 0.7203) < 2e-3, 'and its shares') FROM m, bmm_components(em)
  WHERE component = 1;
SELECT is((SELECT count(*) FROM m, bmm_components(vi)), 2::bigint,
  'as many components as asked for');
SELECT ok(abs(sum(weight) - 1) < 1e-12 AND abs(sum(count) - 216) < 1e-9,
  'weights and counts add up for method ' || method)
  FROM m, LATERAL (VALUES ('vi', vi), ('em', em), ('map', map), ('gibbs', gibbs),
    ('collapsed', collapsed), ('mcem', mcem)) AS v(method, model), bmm_components(model)
  GROUP BY method;
SELECT ok(abs(g.weight - c.weight) < 0.05, 'both samplers have one posterior: component '
  || component) FROM m, LATERAL (SELECT * FROM bmm_components(gibbs)) AS g
JOIN LATERAL (SELECT * FROM bmm_components(collapsed)) AS c USING (component);
SELECT same((SELECT bmm_fit(x, 2, '{"method": "em"}', count)::jsonb - 'seconds' - 'rows' - 'counts'
  FROM answers), (SELECT em::jsonb - 'seconds' - 'rows' - 'counts' FROM m),
  'a weighted row is a repeated one');
SELECT same((SELECT bmm_fit(yes, 2)::jsonb - 'seconds' FROM each),
  (SELECT vi::jsonb - 'seconds' FROM m), 'bool[] is 0 and 1');
SELECT same((SELECT bmm_fit(x::numeric[], 2)::jsonb - 'seconds' FROM each),
  (SELECT vi::jsonb - 'seconds' FROM m), 'as are other numbers');
SELECT same_rows($$SELECT component, weight FROM bmm_fit('SELECT x FROM each', 2) ORDER BY 1$$,
  $$SELECT component, weight FROM m, bmm_components(vi) ORDER BY 1$$,
  'the relation form is the same');
SELECT is((SELECT count(*) FROM (SELECT bmm_cluster(x, 2) OVER () AS c, x FROM each) AS q, m
  WHERE c <> bmm_predict(vi, x)), 0::bigint, 'and so is the window form');
SELECT is((SELECT array_agg(k) FROM bmm_select('SELECT x FROM each', '{1,2}')), '{1,2}',
  'bmm_select tries every k');
SELECT is((SELECT array_length(bmm_select(x, '{1,2,3}'), 1) FROM each), 3, 'as an aggregate too');
SELECT is((SELECT count(DISTINCT quantity) FROM m, bayes_draws(gibbs)), 4::bigint,
  'samplers leave draws');
SELECT throws_ok('SELECT bayes_draws(vi) FROM m', '22023', NULL, 'others do not');
SELECT ok(abs((SELECT bmm_fit(x, (SELECT vi FROM m))::jsonb->>'objective' FROM each)::float8
  - (vi::jsonb->>'objective')::float8) < 1e-3, 'a fit can go on from a model') FROM m;
SELECT is((SELECT rows FROM bayes_info((SELECT bmm_update(x, (SELECT vi FROM m)) FROM each))),
  216::bigint, 'or learn on');

-- ---- what it answers ----

SELECT ok(abs(sum(exp(bayes_log_density(model, ARRAY[i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1])))
  - 1) < 1e-9, 'probabilities of all rows sum to 1: ' || method)
  FROM m, LATERAL (VALUES ('vi', vi), ('em', em), ('map', map), ('gibbs', gibbs),
    ('collapsed', collapsed), ('mcem', mcem)) AS v(method, model), generate_series(0, 15) AS i
  GROUP BY method;
SELECT ok(abs((SELECT sum(p) FROM unnest(bayes_probabilities(vi, '{0,1,0,1}'::int[])) AS p) - 1)
  < 1e-12, 'probabilities of the components sum to 1') FROM m;
SELECT ok(abs(mean[1] - 0.21) < 0.01 AND covariance[1][2] = covariance[2][1] AND covariance[1][2]
  > 0, 'moments of the mixture') FROM m, bmm_moments(em);
SELECT is((SELECT count(*) FROM m, bayes_sample(gibbs, 10, 1)), 10::bigint, 'it can be sampled');
SELECT ok(bayes_log_density_mcse(gibbs, x) BETWEEN 1e-9 AND 0.1 AND (SELECT max(p) BETWEEN 1e-12
  AND 0.1 FROM unnest(bayes_probabilities_mcse(gibbs, x)) AS p), 'predictions have standard errors')
  FROM (SELECT gibbs, array_fill(1, ARRAY[dimension]) AS x FROM m, bayes_info(gibbs)) AS r;
SELECT throws_ok('SELECT bayes_probabilities_mcse(vi, ''{1,1,1,1}''::int[]) FROM m', '22023',
  'model has no posterior draws', 'after sampling');
SELECT is((SELECT stored_draws FROM m, bayes_info(gibbs)), 500::bigint, 'of 500 draws');
SELECT is((SELECT count(*) FROM m, bayes_parameters(vi) WHERE sd > 0), 10::bigint,
  'parameters have deviations');
SELECT is((SELECT count(*) FROM m, bmm_posterior(vi)), 2::bigint, 'and a posterior');
SELECT same((SELECT (model::text::bayes_model)::text FROM (SELECT vi AS model FROM m) AS q),
  (SELECT vi::text FROM m), 'text and back');
SELECT same((SELECT (gibbs::text::bayes_model)::text FROM m), (SELECT gibbs::text FROM m),
  'with draws too');

-- ---- linear response ----

CREATE TABLE births AS SELECT ARRAY[age, CASE WHEN age <> 20 THEN smoke END, race, ftv] AS x
  FROM birthwt;
CREATE TABLE o AS SELECT '{"likelihood": ["normal", "bernoulli", "categorical", "poisson"],
  "missing": "marginalize"}'::jsonb AS o;
CREATE TABLE narrow AS SELECT bmm_fit(x, 2, '{"linear_response": false}') AS vi FROM each;
CREATE TABLE corrected AS SELECT bmm_fit(x, 2, '{"linear_response": true}') AS model FROM each;
SELECT ok(bool_and(l.sd BETWEEN v.sd AND 3 * v.sd) AND max(l.sd / v.sd) > 1.2
  AND bool_and(abs(l.value - v.value) < 1e-3), 'linear response widens deviations alone')
  FROM corrected, narrow, bayes_parameters(model) AS l
    JOIN LATERAL (SELECT * FROM narrow, bayes_parameters(vi))
  AS v USING (component, element);
SELECT ok(bool_and(l.sd BETWEEN 1.2 * v.sd AND 3 * v.sd AND l.upper - l.lower > v.upper - v.lower),
  'those of weights too') FROM corrected, narrow, bayes_parameters(model) AS l JOIN LATERAL
  (SELECT * FROM narrow, bayes_parameters(vi)) AS v USING (component, parameter)
  WHERE parameter = 'weight';
SELECT same((SELECT (model::text::bayes_model)::text FROM corrected),
  (SELECT model::text FROM corrected), 'text and back');
SELECT is((SELECT options -> 'linear_response' || (options -> 'tol') FROM corrected,
  bayes_info(model)), '[true, 1e-8]', 'it is among the options, with its tolerance');
SELECT ok(NOT vi::jsonb ? 'deviations' AND options ->> 'linear_response' = 'false',
  'without it nothing is stored') FROM narrow, bayes_info(vi);
SELECT is((SELECT array_agg(DISTINCT sd_method) FROM narrow, bayes_parameters(vi)), '{mean field}',
  'and it is said that sd is that of the mean field');
SELECT ok(vi::jsonb ? 'deviations' AND NOT options ? 'linear_response'
  AND (SELECT bool_and(p.sd_method = 'linear response' AND abs(p.sd / c.sd - 1) < 0.01)
       FROM bayes_parameters(vi) AS p JOIN LATERAL (SELECT * FROM corrected,
       bayes_parameters(model))
         AS c USING (component, parameter) WHERE p.element IS NOT DISTINCT FROM c.element),
  'it is the default where it costs less than the fit') FROM m, bayes_info(vi);
SELECT ok(bool_and(sd IS NULL AND change_in_sd IS NULL AND difference IS NOT NULL),
  'changes cannot be judged by deviations that are too small')
  FROM narrow, corrected, bayes_compare(vi, model);
SELECT ok(bool_and(sd > 0 AND change_in_sd IS NOT NULL), 'by others they can')
  FROM m, corrected, bayes_compare(vi, model);
SELECT ok(bool_and(abs(a.sd / b.sd - 1) < 1e-9), 'a weighted row is a repeated one')
  FROM corrected, bayes_parameters(model) AS a JOIN
  bayes_parameters((SELECT bmm_fit(x, 2, '{"linear_response": true}', count) FROM answers)) AS b
  USING (component, element);
SELECT throws_ok(format($$SELECT bmm_fit(x, 2, '{"linear_response": true, "method": "%s"}')
  FROM each$$, method), '22023', 'option "linear_response" does not apply to method ' || method,
  'not for method ' || method) FROM unnest('{svi,em,map,gibbs,collapsed,mcem}'::text[]) AS method;
SELECT throws_ok($$SELECT bmm_fit(x, 2, '{"linear_response": "yes"}') FROM each$$, '22023',
  'option "linear_response" is "yes", but must be true or false', 'it is true or false');
SELECT throws_ok($$SELECT bmm_fit(array_fill(i % 2, ARRAY[500]), 2, '{"linear_response": true}')
  FROM generate_series(1, 4) AS i$$, '54000', 'option "linear_response" takes posteriors of at '
  'most 2000 natural parameters, but that of this model has 2002', 'of moderate size');
SELECT throws_ok($$SELECT bmm_fit(x, 2, '{"linear_response": true, "tol": 1}') FROM each$$,
  '22003', 'option "linear_response": the fit has not converged', 'near a maximum');
-- Equal components stay equal, as at a saddle.
CREATE TABLE saddle AS SELECT bayes_model(jsonb_set(jsonb_set(bmm_fit(x, 2,
  '{"method": "em"}')::jsonb, '{point,weights}', '[0.5, 0.5]'), '{point,bernoulli,probability}',
  '[[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]')::text) AS model FROM each;
SELECT throws_ok($$SELECT bmm_fit(x, (SELECT model FROM saddle),
  '{"linear_response": true, "method": "vi"}') FROM each$$, '22003',
  'option "linear_response": the fit has not ended at a maximum of its objective', 'at a maximum');
SELECT is((SELECT bmm_fit(x, (SELECT model FROM saddle),
  '{"linear_response": true, "method": "vi", "on_error": "null"}') FROM each), NULL,
  'or there is no model');
SELECT throws_like(format('SELECT %L::bayes_model', jsonb_set(model::jsonb, '{deviations}',
  to_jsonb('{{-1,0,0,0,0,0,0,0},{0,0,0,0,0,0,0,0}}'::float8[]))),
  '%member "deviations" must not be negative', 'stored deviations are checked') FROM corrected;
SELECT throws_like(format('SELECT %L::bayes_model', jsonb_set(model::jsonb, '{weight_deviations}',
  '[0.1, -0.1]')), '%member "weight_deviations" must not be negative', 'of weights too')
  FROM corrected;
SELECT is((SELECT array_agg(coalesce(p.sd, -1)) FROM corrected,
    bayes_parameters((model::jsonb - 'weight_deviations')::text::bayes_model) AS p
    WHERE element IS NULL), '{-1,-1}', 'a model without them does not know them');
SELECT ok(bool_and(l.sd > v.sd) AND count(*) = 14, 'rows with missing values, of any likelihoods')
  FROM bayes_parameters((SELECT bmm_fit(x, 2, o || '{"linear_response": true}') FROM births,
  o)) AS l
  JOIN bayes_parameters((SELECT bmm_fit(x, 2, o || '{"linear_response": false}')
    FROM births, o)) AS v
  USING (component, element, parameter) WHERE l.category IS NOT DISTINCT FROM v.category;

-- ---- other likelihoods ----

SELECT lives_ok($$SELECT *
  FROM bayes_parameters(
  (SELECT bmm_fit(ARRAY[age, smoke, race - 1, ftv], 2,
  '{"likelihood": ["normal", "bernoulli", "categorical", "poisson"]}') FROM birthwt))$$,
  'mixed rows');
SELECT lives_ok($$SELECT bmm_fit(ARRAY[age, smoke, race - 1, ftv], 2,
  ('{"likelihood": ["normal", "bernoulli", "categorical", "poisson"], "method": "' || method
  || '"}')::jsonb) FROM birthwt,
  (VALUES ('em'), ('map'), ('svi'), ('gibbs'), ('collapsed'), ('mcem')) AS v(method)
  GROUP BY method$$, 'by every method');
SELECT throws_ok($$SELECT bmm_fit(ARRAY[age], 2) FROM birthwt$$, '22023', NULL,
  'an age is not yes or no');
SELECT throws_matching($$SELECT bmm_fit(ARRAY[0, 2], 1)$$, 'element 2 of row 1 is 2',
  'the element is named');
SELECT throws_ok($$SELECT bmm_fit(ARRAY[-1], 1, '{"likelihood": "poisson"}')$$, '22023', NULL,
  'counts are not negative');
SELECT throws_ok($$SELECT bmm_fit(ARRAY[0.5], 1, '{"likelihood": "poisson"}')$$, '22023', NULL,
  'counts are whole');
SELECT throws_matching(
  $$SELECT bmm_predict(bmm_fit(ARRAY[race - 1], 2, '{"likelihood": "categorical"}'), '{7}'::int[])
  FROM birthwt$$, 'element 1 is 7', 'a category never seen');
SELECT lives_ok(
  $$SELECT bmm_predict(
  bmm_fit(ARRAY[race - 1], 2, '{"likelihood": "categorical", "categories": 9}'), '{7}'::int[])
FROM birthwt$$, 'unless it was announced');

-- ---- what cannot be ----

SELECT throws_ok($$SELECT bmm_fit(x, 0) FROM each$$, '22023', NULL, 'k = 0');
SELECT throws_ok($$SELECT bmm_fit(x, 17) FROM each$$, '22023', NULL,
  'more components than distinct rows');
SELECT throws_ok($$SELECT bmm_fit(x, NULL::int) FROM each$$, '22004', NULL, 'k NULL');
SELECT throws_matching($$SELECT bmm_fit(x, 2, '{"metod": "em"}') FROM each$$,
  'unknown option "metod"', 'unknown option');
SELECT throws_ok($$SELECT bmm_fit(x, 2, '{"minimum": 0.1}') FROM each$$, '22023', NULL,
  'an option of another method');
SELECT throws_ok($$SELECT bmm_fit(x, 2, '{"method": "em", "minimum": 0.6}') FROM each$$, '22023',
  NULL, 'minimum above one half');
SELECT throws_ok($$SELECT bmm_fit(x, 2, '{"prior": {"a": 0}}') FROM each$$, '22023', NULL,
  'a prior that is none');
SELECT throws_ok($$SELECT bmm_fit(x, 2, '{"method": "map", "prior": {"a": 0.5}}') FROM each$$,
  '22023', NULL, 'a prior without a mode');
SELECT throws_ok($$SELECT bmm_fit(x, 2, '{"method": "gibbs"}', 2) FROM each$$, '22023', NULL,
  'weights with a sampler');
SELECT throws_ok($$SELECT bmm_fit(x, 2, '{"method": "gibbs", "draws": 10, "warmup": 10}')
  FROM each$$, '22023', NULL, 'warmup is below draws');
SELECT throws_ok($$SELECT bmm_fit(ARRAY[1, NULL], 1, '{"missing": "error"}')$$, '22004', NULL,
  'a NULL element');
SELECT lives_ok($$SELECT bmm_fit(x, 1, '{"missing": "marginalize"}')
  FROM (VALUES (ARRAY[1, NULL]), (ARRAY[0, 1]), (ARRAY[1, 1])) AS v(x)$$,
  'which may be integrated out');
SELECT throws_ok($$SELECT bmm_components(gmm_fit(x, 1)) FROM faithful$$, '42804', NULL,
  'a model of another family');
SELECT throws_ok($$SELECT bmm_predict(vi, '{0,1}'::int[]) FROM m$$, '2202E', NULL,
  'a row of another length');
SELECT ok((SELECT bmm_fit(x, 2) FROM each WHERE false) IS NULL, 'no rows give NULL');

-- ---- waiting times ----

-- One component, Gamma(2, 5) on the rate, rows 10 and 2: the posterior is Gamma(4, 17).
CREATE TABLE waits AS SELECT bmm_fit(ARRAY[v], 1,
  jsonb_build_object('likelihood', likelihood, 'method', method, 'prior', prior)) AS model, method
  FROM unnest('{10,2}'::float8[]) AS v, unnest('{vi,gibbs,collapsed}'::text[]) AS method,
    (VALUES ('"exponential"'::jsonb, '{"shape": 2, "rate": 5}'::jsonb),
      ('["exponential"]', '{"exponential": {"shape": 2, "rate": 5}}')) AS o(likelihood, prior)
    GROUP BY method, likelihood, prior;
SELECT ok(all_true(abs(bayes_log_density(model, '{3}'::float8[])
  - ln(4 / 17.0 * power(1 + 3 / 17.0, -5))) < 1e-9), 'the predictive density is Lomax''s')
FROM waits;
SELECT ok(all_true(abs(probability[1] - 17 / 3.0) < 1e-9),
  'the expected waiting time is that of the predictive') FROM waits, bmm_components(model);
SELECT ok(all_true(abs(mean[1] - 17 / 3.0) < 1e-9 AND abs(covariance[1][1] - power(17 / 3.0, 2) * 2)
  < 1e-9), 'and so are the moments') FROM waits, bmm_moments(model);
SELECT ok(abs(avg(x[1]) - 17 / 3.0) < 5 * stddev(x[1]) / 200, 'as rows drawn from the model say')
  FROM waits, bayes_sample(model, 40000, 1) WHERE method = 'vi';
SELECT throws_like(
  $$SELECT bmm_fit(ARRAY[v], 2,
  '{"likelihood": "exponential", "method": "map", "prior": {"shape": 1}}')
FROM unnest('{1,2,3}'::float8[]) AS v$$, '%needs a prior with a mode%', 'a rate of 0 is no mode');
-- Moments of all rows do not depend on how components are numbered: by enumeration of the
-- partitions of these six rows the mean is 2.25 (Gamma(2, 0.7), k = 2).
SELECT ok(abs(mean[1] - 2.25) < 0.2, 'moments are those of the posterior by ' || method || ', seed '
  || seed)
  FROM unnest('{gibbs,collapsed}'::text[]) AS method, generate_series(1, 3) AS seed,
    LATERAL (SELECT bmm_fit(ARRAY[x], 2,
      jsonb_build_object('likelihood', 'exponential', 'method', method, 'seed', seed, 'draws', 4000,
      'prior', '{"shape": 2, "rate": 0.7}'::jsonb) ORDER BY id) AS model
      FROM unnest('{.1,.3,5,9,.2,2}'::float8[]) WITH ORDINALITY AS r(x, id)) AS f,
        bmm_moments(model);

-- Weights that make the posterior a point leave the density of em, in every family.
SELECT never($$SELECT likelihood, w, vi, em, NOT near(vi, em, 1e-9) AS wrong
  FROM (SELECT likelihood, w,
      bayes_log_density(bmm_fit(ARRAY[x], 1, jsonb_build_object('likelihood', likelihood), w),
        ARRAY[1.0]) AS vi,
      bayes_log_density(bmm_fit(ARRAY[x], 1, jsonb_build_object('likelihood', likelihood,
        'method', 'em'), w), ARRAY[1.0]) AS em
    FROM unnest('{1e10,1e12,1e15,1e20}'::float8[]) AS w,
      jsonb_array_elements('["normal", "log_normal", "poisson", "exponential", "geometric",
        "bernoulli", "categorical", {"family": "gamma", "shape": 2},
        {"family": "negative_binomial", "size": 3}, {"family": "binomial", "trials": 9}]')
        AS likelihood,
      LATERAL (SELECT CASE WHEN likelihood = '"bernoulli"' THEN i % 2 ELSE 1 + i % 4 END AS x
        FROM generate_series(1, 41) AS i) AS r GROUP BY 1, 2) AS f$$, 'heavy rows');

SELECT * FROM finish();
