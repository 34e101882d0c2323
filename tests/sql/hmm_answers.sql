-- Answers of hidden Markov models against sums over all paths, written out in SQL.
SELECT plan(34);
\ir ../lib/hmm.sql

-- All paths through the steps whose densities under every state are e (steps x K), and their joint
-- probabilities.
CREATE FUNCTION all_paths(p float8[], a float8[], e float8[])
  RETURNS TABLE (states int[], probability float8) IMMUTABLE LANGUAGE sql AS $$
  WITH RECURSIVE way AS (
    SELECT 1 AS t, ARRAY[s] AS states, p[s] * e[1][s] AS probability
      FROM generate_subscripts(p, 1) s
    UNION ALL SELECT t + 1, states || s, probability * a[states[t]][s] * e[t + 1][s]
      FROM way, generate_subscripts(p, 1) s WHERE t < array_length(e, 1))
  SELECT states, probability FROM way WHERE t = array_length(e, 1) $$;
CREATE FUNCTION first_of(m bayes_model) RETURNS float8[]
  RETURN (SELECT array_agg(initial ORDER BY state) FROM hmm_states(m));
CREATE FUNCTION moves_of(m bayes_model) RETURNS float8[]
  RETURN (SELECT array_agg(r ORDER BY from_state)
  FROM (SELECT from_state, array_agg(probability ORDER BY to_state) AS r FROM hmm_transitions(m)
  GROUP BY 1) t);
-- Densities of the steps, from what hmm_emissions says of the states. NULL and unknown symbols: 1
-- (of the latter hmm_log_likelihood says more: unseen_labels.sql).
CREATE FUNCTION densities(m bayes_model, x text[]) RETURNS float8[]
  RETURN (SELECT array_agg(r ORDER BY t) FROM (SELECT t, array_agg(coalesce(probability, 1)
  ORDER BY s.state) AS r FROM hmm_states(m) s CROSS JOIN unnest(x) WITH ORDINALITY AS o(symbol, t)
  LEFT JOIN hmm_emissions(m) e ON (e.state, e.symbol) = (s.state, o.symbol) GROUP BY t) d);
CREATE FUNCTION density(family text, x float8, mean float8, variance float8)
  RETURNS float8 IMMUTABLE RETURN CASE WHEN x IS NULL THEN 1
  WHEN family = 'normal' THEN exp(-((x - mean) ^ 2) / (2 * variance)) / sqrt(2 * pi() * variance)
  WHEN family = 'poisson' THEN exp(-mean) * mean ^ x / factorial(x::bigint)::float8
    WHEN family = 'exponential' THEN exp(-x / mean) / mean WHEN family = 'bernoulli' THEN CASE x
    WHEN 1 THEN mean ELSE 1 - mean END END;
CREATE FUNCTION densities(m bayes_model, x float8[], families text[]) RETURNS float8[]
  RETURN (SELECT array_agg(r ORDER BY t) FROM (SELECT t, array_agg(p ORDER BY state) AS r FROM (
  SELECT t, state, exp(sum(ln(density(families[coalesce(element, 1)], CASE array_ndims(x)
    WHEN 1 THEN x[t] ELSE x[t][element] END, coalesce(mean[1], probability), covariance[1][1]))))
    AS p FROM hmm_emissions(m), generate_subscripts(x, 1) t GROUP BY 1, 2) d GROUP BY t) d);
CREATE FUNCTION densities2(m bayes_model, x float8[]) RETURNS float8[]
  RETURN (SELECT array_agg(r ORDER BY t) FROM (SELECT t,
  array_agg(coalesce(CASE WHEN num_nulls(x[t][1], x[t][2]) = 0 THEN
    exp(-(c[2][2] * (x[t][1] - mean[1]) ^ 2 - 2 * c[1][2] * (x[t][1] - mean[1])
      * (x[t][2] - mean[2]) + c[1][1] * (x[t][2] - mean[2]) ^ 2)
      / (2 * (c[1][1] * c[2][2] - c[1][2] ^ 2)))
      / (2 * pi() * sqrt(c[1][1] * c[2][2] - c[1][2] ^ 2))
    WHEN x[t][1] IS NOT NULL THEN exp(-((x[t][1] - mean[1]) ^ 2) / (2 * c[1][1]))
      / sqrt(2 * pi() * c[1][1])
    WHEN x[t][2] IS NOT NULL THEN exp(-((x[t][2] - mean[2]) ^ 2) / (2 * c[2][2]))
      / sqrt(2 * pi() * c[2][2]) END, 1) ORDER BY state) AS r
  FROM (SELECT state, mean, covariance AS c FROM hmm_emissions(m)) e, generate_subscripts(x, 1) t
    GROUP BY t) d);

-- Models of method gibbs, and each of their draws as a model of its own; below without draws.
CREATE TABLE sampled AS SELECT data, model FROM fits WHERE method = 'gibbs';
CREATE FUNCTION part(a jsonb, s int, n int) RETURNS jsonb RETURN (SELECT jsonb_agg(e ORDER BY i)
  FROM jsonb_array_elements(a) WITH ORDINALITY AS r(e, i)
  WHERE (i - 1) / (jsonb_array_length(a) / n) = s);
CREATE TABLE single AS SELECT data, (jsonb_set(m, '{point}', point) - 'draws_of_parameters')::text
  ::bayes_model AS model FROM sampled, LATERAL (SELECT model::text::jsonb) AS j(m),
  LATERAL (SELECT (m #>> '{draws_of_parameters,count}')::int) AS c(n), generate_series(0, n - 1) s,
  LATERAL (SELECT jsonb_object_agg(key, CASE WHEN key = 'initial' THEN value -> s
    WHEN jsonb_typeof(value) = 'array' THEN part(value, s, n)
    ELSE (SELECT jsonb_object_agg(k, part(v, s, n)) FROM jsonb_each(value) AS f(k, v)) END)
    FROM jsonb_each(m -> 'draws_of_parameters') WHERE key <> 'count') AS d(point)
  WHERE data <> 'duo tied';
UPDATE fits SET model = (model::text::jsonb - 'draws_of_parameters')::text::bayes_model
  WHERE method = 'gibbs';

SELECT results_eq('SELECT round(initial::numeric, 12) FROM tiny, hmm_states(m)',
  'VALUES (0.6), (0.4)', 'the given model: initial');
SELECT results_eq('SELECT from_state, to_state, round(probability::numeric, 12) '
  'FROM tiny, hmm_transitions(m)', 'VALUES (1, 1, 0.7), (1, 2, 0.3), (2, 1, 0.2), (2, 2, 0.8)',
  'transitions');
SELECT results_eq('SELECT state, symbol, round(probability::numeric, 12) '
  'FROM tiny, hmm_emissions(m)', $$VALUES (1, 'a', 0.9), (1, 'b', 0.1), (2, 'a', 0.25),
  (2, 'b', 0.75)$$, 'probabilities');
SELECT results_eq('SELECT i.iterations, i.converged FROM tiny, bayes_info(m) i', 'VALUES (0, true)',
  'no iterations');
-- By hand, in numbers.
SELECT is(round(exp(hmm_log_likelihood(m, '{a}'::text[]))::numeric, 12), 0.6 * 0.9 + 0.4 * 0.25,
  'one step') FROM tiny;
SELECT is(round(exp(hmm_log_likelihood(m, '{a,b}'::text[]))::numeric, 12),
  0.54 * (0.7 * 0.1 + 0.3 * 0.75) + 0.1 * (0.2 * 0.1 + 0.8 * 0.75), 'two steps') FROM tiny;
SELECT is(hmm_decode(m, '{a,b,b}'::text[]), '{1,2,2}', 'the best path') FROM tiny;
SELECT ok(near(f[1][1], 0.54 / 0.64) AND near(f[2][2], (0.54 * 0.3 + 0.1 * 0.8) / 0.64),
  'a filter, whose missing step only goes on') FROM tiny, hmm_filter(m, '{a,NULL}'::text[]) f;

CREATE TABLE cases (name text, m bayes_model, p float8[], a float8[], e float8[], loglik float8,
  decoded int[], smooth float8[], filter float8[], paths jsonb);
-- Steps of any type go in as an array; `of` makes their densities.
CREATE FUNCTION answer(case_name text, model bayes_model, x anyarray, e float8[])
  RETURNS void LANGUAGE sql AS $$
  INSERT INTO cases SELECT case_name, model, first_of(model), moves_of(model), e,
    hmm_log_likelihood(model, x), hmm_decode(model, x), hmm_probabilities(model, x),
    hmm_filter(model, x), (SELECT jsonb_agg(p ORDER BY rank) FROM hmm_paths(model, x, 20) p) $$;
SELECT answer('letters ' || x::text, m, x, densities(m, x))
  FROM tiny, (VALUES ('{a,b,b}'::text[]), ('{b}'), ('{b,a,b,a,a}'), ('{a,NULL,b}'),
  ('{NULL,NULL,NULL}'), ('{a,what,b}'), ('[5:7]={b,a,b}')) v(x);
SELECT answer('text ' || method, model, x[1:5], densities(model, x[1:5])) FROM fits, letters
  WHERE data = 'letters' AND page = 'tutorial-agg';
SELECT answer('whole numbers ' || method, model, x[1:5], densities(model, x[1:5]::text[]))
  FROM fits, words WHERE data = 'words' AND page = 'tutorial-agg';
SELECT answer('counts ' || method, model, x[1:6], densities(model, x[1:6]::float8[], '{poisson}'))
  FROM fits, words WHERE data = 'counts' AND method IN ('em', 'map', 'gibbs')
  AND page = 'tutorial-agg';
SELECT answer('numbers ' || method, model, waiting[1:3] || ARRAY[NULL, NULL, waiting[9]]::float8[],
  densities(model, waiting[1:3] || ARRAY[NULL, NULL, waiting[9]]::float8[], '{normal}'))
  FROM fits, eruptions WHERE data = 'waiting' AND method IN ('em', 'map', 'gibbs') AND day = 1;
SELECT answer('exponential ' || method, model, waiting[1:6],
  densities(model, waiting[1:6], '{exponential}')) FROM fits, eruptions WHERE data = 'exponential'
  AND method IN ('em', 'map', 'gibbs') AND day = 1;
SELECT answer('booleans ' || method, model, long[1:5] || NULL::boolean,
  densities(model, (SELECT array_agg(l::int ORDER BY i) FROM unnest(long[1:5] || NULL::boolean) WITH
  ORDINALITY u(l, i))::float8[], '{bernoulli}')) FROM fits, eruptions WHERE data = 'long'
  AND day = 1;
SELECT answer(data || ' ' || method, model, duo[1:4], densities2(model, duo[1:4]))
  FROM fits, eruptions WHERE data LIKE 'duo%' AND method IN ('em', 'map', 'gibbs') AND day = 1;
SELECT answer('missing ' || data || ' ' || method, model,
  duo[1:2] || ARRAY[ARRAY[NULL, 3], ARRAY[55, NULL]]::float8[] || duo[5:5],
  densities2(model, duo[1:2] || ARRAY[ARRAY[NULL, 3], ARRAY[55, NULL]]::float8[] || duo[5:5]))
  FROM fits, eruptions WHERE data LIKE 'duo%' AND method = 'em' AND day = 1;
SELECT answer('mixed ' || method, model, mixed[1:3] || ARRAY[ARRAY[NULL, 1], ARRAY[55, NULL],
  ARRAY[NULL, NULL]]::float8[], densities(model, mixed[1:3] || ARRAY[ARRAY[NULL, 1],
  ARRAY[55, NULL], ARRAY[NULL, NULL]]::float8[], '{normal,bernoulli}')) FROM fits, eruptions
  WHERE data = 'mixed' AND method IN ('em', 'map', 'gibbs') AND day = 1;
SELECT answer('left to right', m, '{a,b,a,c}'::text[], densities(m, '{a,b,a,c}'::text[]))
  FROM stairs;
SELECT is((SELECT count(*) FROM cases), 51::bigint, 'cases');
CREATE TABLE paths AS SELECT name, p.* FROM cases c, all_paths(c.p, c.a, e) p;
SELECT never($$SELECT name, loglik, l, near(loglik, l) IS NOT TRUE AND name !~ 'what' AS wrong
  FROM cases FULL JOIN (SELECT name, ln(sum(probability)) AS l FROM paths GROUP BY 1) p
    USING (name)$$,
  'hmm_log_likelihood sums over all paths');
SELECT never($$SELECT name, decoded, NOT near(max(p.probability), sum(p.probability) FILTER
  (WHERE states = decoded), 1e-12) AS wrong FROM cases JOIN paths p USING (name) GROUP BY 1, 2$$,
  'hmm_decode finds the best of them');
SELECT never($$SELECT name, NOT near(smooth, s) AS wrong FROM cases,
  LATERAL (SELECT array_agg(r ORDER BY t) AS s FROM (SELECT t, array_agg(p ORDER BY s) AS r
  FROM (SELECT t, s, coalesce(sum(probability) FILTER (WHERE states[t] = s), 0)
  / sum(probability) AS p FROM paths, generate_subscripts(states, 1) t,
  generate_series(1, array_length(e, 2)) s WHERE paths.name = cases.name GROUP BY 1, 2) a
  GROUP BY t) b) c$$, 'hmm_probabilities are shares of their probability');
SELECT never($$SELECT name, t, NOT near(row_of(filter, t), f) AS wrong
  FROM cases, generate_subscripts(e, 1) t, LATERAL (SELECT array_agg(p ORDER BY s) AS f
  FROM (SELECT s, coalesce(sum(probability) FILTER (WHERE states[t] = s), 0) / sum(probability) AS p
  FROM all_paths(cases.p, cases.a, e[1:t]), generate_series(1, array_length(e, 2)) s GROUP BY 1) a)
  c$$, 'hmm_filter are those of the paths so far');
SELECT never($$SELECT c.name, rank, NOT near(log_probability, ln(probability)) AS wrong
  FROM cases c, LATERAL (SELECT row_number() OVER (ORDER BY probability DESC) AS r, probability
  FROM paths p WHERE p.name = c.name AND probability > 0) b,
  jsonb_to_recordset(paths) AS g(rank int, log_probability float8, states int[]) WHERE r = rank$$,
  'hmm_paths are the best ones');
SELECT never($$SELECT c.name, g.states, NOT near(log_probability, ln(p.probability))
  OR p.probability IS NULL AS wrong FROM cases c, jsonb_to_recordset(c.paths) AS g(rank int,
  log_probability float8, states int[]) LEFT JOIN LATERAL (SELECT p.probability FROM paths p
  WHERE p.name = c.name AND p.states = g.states) p ON true$$, 'each with its probability');
SELECT never($$SELECT c.name, count(*) <> least(20, (SELECT count(*) FROM paths p
  WHERE p.name = c.name AND probability > 0)) OR count(DISTINCT states) <> count(*)
  OR min(states::text) FILTER (WHERE rank = 1) <> decoded::text OR max(rank) <> count(*)
  OR count(DISTINCT rank) <> count(*) AS wrong
  FROM cases c, jsonb_to_recordset(c.paths) AS g(rank int, log_probability float8, states int[])
  GROUP BY c.name, decoded$$, 'as many as there are, each once, the first as hmm_decode says');
-- After gibbs: averages over the draws.
CREATE FUNCTION added(a float8[], b float8[]) RETURNS float8[] IMMUTABLE STRICT
  RETURN (SELECT array_agg(r ORDER BY t) FROM (SELECT t, array_agg(a[t][i] + b[t][i] ORDER BY i)
  AS r FROM generate_subscripts(b, 1) t, generate_subscripts(b, 2) i GROUP BY t) s);
CREATE AGGREGATE total(float8[]) (SFUNC = added, STYPE = float8[]);
CREATE FUNCTION shares(a float8[], n bigint) RETURNS float8[] IMMUTABLE
  RETURN (SELECT array_agg(r ORDER BY t) FROM (SELECT t, array_agg(a[t][i] / n ORDER BY i) AS r
  FROM generate_subscripts(a, 1) t, generate_subscripts(a, 2) i GROUP BY t) s);
CREATE FUNCTION of_draws(name text, x anyarray) RETURNS TABLE (what text, wrong boolean)
LANGUAGE plpgsql AS $$
DECLARE m bayes_model := (SELECT model FROM sampled WHERE data = name);
BEGIN
  RETURN QUERY SELECT 'number', count(*) <> 20 FROM single WHERE data = name;
  RETURN QUERY SELECT 'likelihood', NOT near(hmm_log_likelihood(m, x),
    ln(avg(exp(hmm_log_likelihood(model, x))))) FROM single WHERE data = name;
  RETURN QUERY SELECT 'smoothing', NOT near(hmm_probabilities(m, x),
    shares(total(hmm_probabilities(model, x)), 20)) FROM single WHERE data = name;
  RETURN QUERY SELECT 'filter', NOT near(hmm_filter(m, x), shares(total(hmm_filter(model, x)), 20))
    FROM single WHERE data = name;
  RETURN QUERY SELECT 'prediction', NOT near(array_remove(ARRAY[p.probability, p.mean, p.variance],
    NULL), (SELECT array_remove(ARRAY[avg(q.probability), avg(q.mean),
    avg(q.variance + q.mean ^ 2) - avg(q.mean) ^ 2], NULL) FROM single, hmm_predict(model, x) q
    WHERE data = name AND (q.element, q.symbol) IS NOT DISTINCT FROM (p.element, p.symbol)), 1e-9)
    FROM hmm_predict(m, x) p;
  RETURN QUERY SELECT 'paths', NOT near(p.log_probability, (SELECT avg(q.log_probability)
    FROM single, hmm_paths(model, x, 1000) q WHERE data = name AND q.states = p.states))
    FROM hmm_paths(m, x, 1000) p;
  RETURN QUERY SELECT 'decoding', hmm_decode(m, x) <> (SELECT q.states FROM single,
    hmm_paths(model, x, 1000) q WHERE data = name GROUP BY 1 ORDER BY avg(log_probability) DESC
    LIMIT 1);
END $$;
SELECT never($$SELECT o.* FROM letters, of_draws('letters', x[1:5]) o WHERE page = 'tutorial-agg'$$,
  'after gibbs: names, averages over the draws');
SELECT never($$SELECT o.* FROM eruptions, of_draws('duo full', duo[1:4]) o WHERE day = 1$$,
  'vectors');
SELECT never($$SELECT o.* FROM eruptions, of_draws('mixed', mixed[1:3]) o WHERE day = 1$$,
  'columns');
-- What comes next.
SELECT same_rows($$SELECT element, symbol, round(probability::numeric, 12), mean, variance
  FROM tiny, hmm_predict(m, '{a,b,b}'::text[])$$,
  $$SELECT 1, symbol, round((sum(f[3][1] * a.probability * e.probability) FILTER
  (WHERE from_state = 1) + sum(f[3][2] * a.probability * e.probability) FILTER
  (WHERE from_state = 2))::numeric, 12), NULL::float8, NULL::float8
  FROM tiny, hmm_filter(m, '{a,b,b}'::text[]) f, hmm_transitions(m) a, hmm_emissions(m) e
    WHERE e.state = to_state GROUP BY symbol ORDER BY symbol$$,
    'hmm_predict: of names their probabilities');
SELECT results_eq($$SELECT symbol, round(probability::numeric, 12)
  FROM tiny, hmm_predict(m, '{}'::text[])$$, $$VALUES ('a', 0.6 * 0.9 + 0.4 * 0.25),
  ('b', 0.6 * 0.1 + 0.4 * 0.75)$$, 'before the first step: what a sequence begins with');
SELECT never($$SELECT data, method, element, NOT near(p.mean, mu) OR NOT near(p.variance, v, 1e-6)
  OR p.symbol IS NOT NULL OR p.probability IS NOT NULL AS wrong
  FROM (SELECT *, duo[1:4] AS x FROM fits, eruptions WHERE data = 'duo full'
  AND method IN ('em', 'map', 'gibbs') AND day = 1) d, hmm_predict(model, x) p,
    LATERAL (SELECT sum(w * e.mean[p.element]) AS mu,
      sum(w * (e.covariance[p.element][p.element] + e.mean[p.element] ^ 2))
      - sum(w * e.mean[p.element]) ^ 2 AS v FROM (SELECT to_state,
      sum((row_of(hmm_filter(model, x), 4))[from_state] * probability) AS w
      FROM hmm_transitions(model) GROUP BY 1) n JOIN hmm_emissions(model) e ON to_state = e.state)
      b$$, 'of numbers mean and variance');
SELECT never($$SELECT data, method, (variance <= 0 OR mean NOT BETWEEN 0 AND 120
  OR variance IS NULL) AS wrong FROM fits, eruptions, hmm_predict(model, duo) WHERE data LIKE 'duo%'
  AND method IN ('vi', 'svi')$$, 'under a posterior too');
SELECT is((SELECT count(*) FROM fits, eruptions, hmm_predict(model, mixed) WHERE data = 'mixed'),
  2 * 5 * (SELECT count(*) FROM eruptions), 'a row for each element');
-- Empty sequences.
SELECT results_eq($$SELECT hmm_decode(m, '{}'::text[]), hmm_probabilities(m, '{}'::text[]),
  hmm_filter(m, '{}'::text[]), hmm_log_likelihood(m, '{}'::text[]) FROM tiny$$,
  $$VALUES ('{}'::int[], '{}'::float8[], '{}'::float8[], 0::float8)$$, 'an empty sequence');
SELECT results_eq($$SELECT p.* FROM tiny, hmm_paths(m, '{}'::text[], 5) p$$,
  $$VALUES (1, 0::float8, '{}'::int[])$$, 'has one path');
SELECT results_eq($$SELECT hmm_decode(m, NULL::text[]), hmm_probabilities(m, NULL::text[]),
  hmm_filter(NULL, '{a}'::text[]), hmm_log_likelihood(NULL, '{a}'::text[]) FROM tiny$$,
  $$VALUES (NULL::int[], NULL::float8[], NULL::float8[], NULL::float8)$$, 'NULL gives NULL');
SELECT is((SELECT count(*) FROM tiny, hmm_paths(m, NULL::text[], 5)) + (SELECT count(*)
  FROM tiny, hmm_predict(m, NULL::text[])) + (SELECT count(*) FROM hmm_states(NULL)), 0::bigint,
  'or no rows');
SELECT is((SELECT count(*) FROM tiny, hmm_paths(m, '{a,b,a,b,a,b,a,b,a,b,a,b}'::text[], 1000)),
  1000::bigint, 'a thousand paths');
-- Long sequences: windows of steps, and what lies at their borders.
CREATE TABLE lengths AS SELECT n, (SELECT array_agg(chr(97 + (i * i % 7 > 2)::int) ORDER BY i)
  FROM generate_series(1, n) i) AS x
  FROM unnest('{1,2,63,64,65,255,256,257,1023,1024,1025,4096,8191,8192,8193,20000}'::int[]) n;
SELECT never($$SELECT n, NOT near(row_of(f, n), row_of(s, n)) OR array_length(f, 1) <> n
  OR array_length(s, 1) <> n AS wrong FROM tiny, lengths,
  LATERAL (SELECT hmm_filter(m, x) AS f, hmm_probabilities(m, x) AS s OFFSET 0) a$$,
  'at the last step filter and smoother agree');
SELECT never($$SELECT n, cardinality(hmm_decode(m, x)) <> n OR hmm_decode(m, x) <> (SELECT states
  FROM hmm_paths(m, x, 2) WHERE rank = 1) AS wrong FROM tiny, lengths$$,
  'hmm_paths begins with what hmm_decode says');
SELECT never($$SELECT n, NOT near(best, by_hand, 1e-8) AS wrong FROM tiny, lengths,
  LATERAL (SELECT log_probability AS best, states AS s FROM hmm_paths(m, x, 1)) p,
  LATERAL (SELECT ln((first_of(m))[s[1]]) + coalesce((SELECT sum(ln(CASE s[t - 1] * 10 + s[t]
  WHEN 11 THEN 0.7 WHEN 12 THEN 0.3 WHEN 21 THEN 0.2 ELSE 0.8 END)) FROM generate_series(2, n) t),
  0) + (SELECT sum(ln(CASE s[t] || x[t] WHEN '1a' THEN 0.9 WHEN '1b' THEN 0.1 WHEN '2a' THEN 0.25
  ELSE 0.75 END)) FROM generate_series(1, n) t) AS by_hand) h WHERE n < 5000$$,
  'whose probability is that of its moves');
-- However improbable an observation is under all states, the filter goes on.
SELECT never($$SELECT t, NOT near(row_of(f, t), row_of(hmm_probabilities(m, x[1:t]), t))
    OR (f IS NULL) AS wrong
  FROM (SELECT hmm_fit(days, 3, '{"method": "em", "max_iter": 0}') AS m
        FROM (SELECT array_agg(waiting ORDER BY t) AS days FROM geyser WHERE t <= 100) AS s) AS m,
       (VALUES ('{70,1e6,60,-1e6,70}'::float8[])) AS v(x),
       LATERAL (SELECT hmm_filter(m, x) AS f OFFSET 0) AS a, generate_series(1, 5) AS t$$,
  'steps far from every state');

-- Categories of an element of a vector.
CREATE TABLE kinds AS SELECT hmm_fit(mixed, 2, '{"method": "em", "restarts": 2,
  "emission": ["normal", "categorical"]}' ORDER BY day) AS m FROM eruptions;
SELECT same_rows($$SELECT element, symbol, round(probability::numeric, 9), mean IS NULL AND
  variance IS NULL FROM kinds, eruptions, hmm_predict(m, mixed[1:4]) WHERE day = 1
  AND element = 2$$,
  $$SELECT 2, symbol, round(sum(w * e.probability)::numeric, 9), true FROM kinds,
  hmm_emissions(m) e, LATERAL (SELECT sum((row_of(hmm_filter(m, mixed[1:4]), 4))[from_state]
  * probability) AS w FROM eruptions, hmm_transitions(m) WHERE day = 1 AND to_state = e.state) n
  WHERE element = 2 GROUP BY symbol$$, 'hmm_predict: of categories their probabilities');
SELECT * FROM finish();
