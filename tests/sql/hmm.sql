-- Hidden Markov models: what fits say in every form, on real data, and every answer against a sum over all paths written out in SQL.
SELECT * FROM no_plan();
\ir ../lib/checks.sql
SET client_min_messages = error;

-- All of a model that could differ.
CREATE FUNCTION bits(model bayes_model) RETURNS text RETURN (model::jsonb - 'seconds')::text;
-- What it says: chain and emissions, rounded.
CREATE FUNCTION rounded(model bayes_model, digits int DEFAULT 6) RETURNS text RETURN
  (SELECT string_agg(round(initial::numeric, digits)::text, ' ' ORDER BY state) FROM hmm_states(model)) || '; ' || (SELECT string_agg(round(probability::numeric, digits)::text, ' ' ORDER BY from_state, to_state) FROM hmm_transitions(model)) || '; ' ||
  (SELECT string_agg(coalesce(symbol || ' ' || round(probability::numeric, digits), (SELECT string_agg(round(v::numeric, digits)::text, ' ') FROM unnest(mean || covariance) v)), ', ' ORDER BY state, element, symbol) FROM hmm_emissions(model));
CREATE FUNCTION row_of(m float8[], i int) RETURNS float8[] IMMUTABLE RETURN (SELECT array_agg(m[i][j] ORDER BY j) FROM generate_subscripts(m, 2) j);
CREATE TABLE nothing (id int, x float8[]);

-- ---- sequences: names, numbers, vectors, booleans, counts ----

CREATE TABLE letters AS SELECT page, string_to_array(left(trim(BOTH '_' FROM regexp_replace(lower(body), '[^a-z]+', '_', 'g')), 3000), NULL) AS x FROM tutorial;
CREATE TABLE words AS SELECT page, array_agg(least(length(w), 12) ORDER BY i) AS x FROM tutorial, regexp_split_to_table(body, '\W+') WITH ORDINALITY AS s(w, i) WHERE w <> '' GROUP BY page;
CREATE TABLE eruptions AS SELECT t / 60 AS day, array_agg(waiting ORDER BY t) AS waiting, array_agg(duration > 3 ORDER BY t) AS long, array_agg(ARRAY[waiting, duration] ORDER BY t) AS duo, array_agg(ARRAY[waiting, (duration > 3)::int] ORDER BY t) AS mixed FROM geyser GROUP BY 1;
CREATE TABLE returns AS SELECT array_agg(ARRAY[d, s, c, f] ORDER BY day) AS x, array_agg(d ORDER BY day) AS dax FROM
  (SELECT day, 100 * ln(dax / lag(dax) OVER w) AS d, 100 * ln(smi / lag(smi) OVER w) AS s, 100 * ln(cac / lag(cac) OVER w) AS c, 100 * ln(ftse / lag(ftse) OVER w) AS f FROM eustockmarkets WINDOW w AS (ORDER BY day)) AS r WHERE d IS NOT NULL;
CREATE FUNCTION options_of(method text) RETURNS jsonb RETURN jsonb_build_object('method', method) || CASE method WHEN 'gibbs' THEN '{"draws": 20, "chains": 2}' WHEN 'svi' THEN '{"restarts": 2, "max_iter": 40}' ELSE '{"restarts": 2, "max_iter": 30, "tol": 1e-4}' END::jsonb;
CREATE TABLE methods AS SELECT method, options_of(method) AS o FROM unnest('{em,map,vi,svi,gibbs}'::text[]) method;
CREATE TABLE fits AS
  SELECT 'letters' AS data, method, (SELECT hmm_fit(x, 2, o ORDER BY page) FROM letters) AS model FROM methods
  UNION ALL SELECT 'words', method, (SELECT hmm_fit(x, 3, o ORDER BY page) FROM words) FROM methods
  UNION ALL SELECT 'counts', method, (SELECT hmm_fit(x, 2, o || '{"emission": "poisson"}' ORDER BY page) FROM words) FROM methods
  UNION ALL SELECT 'waiting', method, (SELECT hmm_fit(waiting, 2, o ORDER BY day) FROM eruptions) FROM methods
  UNION ALL SELECT 'exponential', method, (SELECT hmm_fit(waiting, 2, o || '{"emission": "exponential"}' ORDER BY day) FROM eruptions) FROM methods
  UNION ALL SELECT 'long', method, (SELECT hmm_fit(long, 2, o ORDER BY day) FROM eruptions) FROM methods
  UNION ALL SELECT 'duo ' || c, method, (SELECT hmm_fit(duo, 3, o || jsonb_build_object('covariance', c) ORDER BY day) FROM eruptions) FROM methods, unnest('{full,diagonal,spherical,tied}'::text[]) c
  UNION ALL SELECT 'mixed', method, (SELECT hmm_fit(mixed, 2, o || '{"emission": ["normal", "bernoulli"]}' ORDER BY day) FROM eruptions) FROM methods
  UNION ALL SELECT 'returns', method, (SELECT hmm_fit(x, 2, o) FROM returns) FROM methods;
SELECT is((SELECT count(*) FROM fits WHERE model IS NOT NULL), 60::bigint, 'everything is fitted by every method');
-- How many sequences and steps.
CREATE TABLE sizes AS SELECT 'letters' AS data, count(*) AS sequences, sum(cardinality(x)) AS steps, 1 AS elements FROM letters UNION ALL SELECT unnest('{words,counts}'::text[]), count(*), sum(cardinality(x)), 1 FROM words
  UNION ALL SELECT unnest('{waiting,exponential,long}'::text[]), count(*), sum(cardinality(long)), 1 FROM eruptions UNION ALL SELECT unnest('{duo full,duo diagonal,duo spherical,duo tied,mixed}'::text[]), count(*), sum(cardinality(long)), 2 FROM eruptions UNION ALL SELECT 'returns', 1, 1859, 4 FROM returns;
SELECT never($$SELECT data, f.method, (i.family, i.method, i.rows, i.skipped, i.dimension, i.seed) IS DISTINCT FROM ('hmm', f.method, sequences, 0::bigint, elements, 1::bigint) OR i.components <> CASE WHEN data LIKE 'duo%' OR data = 'words' THEN 3 ELSE 2 END AS wrong FROM fits f JOIN sizes USING (data), bayes_info(model) i$$, 'bayes_info tells what was fitted');
CREATE TABLE states AS SELECT data, method, s.* FROM fits, hmm_states(model) s;
CREATE TABLE transitions AS SELECT data, method, t.* FROM fits, hmm_transitions(model) t;
CREATE TABLE emissions AS SELECT data, method, e.* FROM fits, hmm_emissions(model) e;
SELECT never($$SELECT data, method, NOT near(sum(initial), 1) OR NOT near(sum(visits), steps, 1e-6) OR NOT near(sum(stationary), 1) OR max(state) <> count(*) OR min(state) <> 1 AS wrong FROM states s JOIN sizes USING (data) GROUP BY data, method, steps$$, 'states: probabilities sum to 1, visits to the steps');
SELECT never($$SELECT a.data, a.method, b.visits > a.visits + 1e-9 AS wrong FROM states a JOIN states b USING (data, method) WHERE b.state = a.state + 1$$, 'by falling visits');
SELECT never($$SELECT data, method, from_state, NOT near(sum(probability), 1) OR min(probability) < 0 AS wrong FROM transitions GROUP BY 1, 2, 3$$, 'transitions sum to 1');
SELECT never($$SELECT data, method, NOT near(sum(count), steps - sequences, 1e-6) AS wrong FROM transitions t JOIN sizes USING (data) GROUP BY 1, 2, steps, sequences$$, 'and their counts to the steps after the first ones');
SELECT never($$SELECT data, method, s.state, NOT near(dwell, 1 / (1 - probability), 1e-6) AS wrong FROM states s JOIN transitions t USING (data, method) WHERE from_state = state AND to_state = state$$, 'dwell is the mean of a geometric distribution');
SELECT never($$SELECT data, method, to_state, NOT near(sum(s.stationary * probability), n.stationary) AS wrong FROM states s JOIN transitions t USING (data, method) JOIN states n USING (data, method) WHERE s.state = from_state AND n.state = to_state GROUP BY 1, 2, 3, n.stationary$$, 'stationary stays what it is in a step');
SELECT never($$SELECT data, method, state, NOT near(sum(probability), 1) OR count(DISTINCT symbol) <> count(*) OR min(probability) < 0 AS wrong FROM emissions WHERE data IN ('letters', 'words') GROUP BY 1, 2, 3$$, 'probabilities of symbols sum to 1');
SELECT is((SELECT count(DISTINCT symbol) FROM emissions WHERE data = 'letters'), (SELECT count(DISTINCT c) FROM letters, unnest(x) c), 'all symbols are there');
SELECT never($$SELECT data, method, (mean IS NULL) <> (data IN ('letters', 'words', 'long') OR (data = 'mixed' AND element = 2)) OR (mean IS NULL) <> (covariance IS NULL) OR (symbol IS NULL) <> (mean IS NOT NULL) OR (element IS NULL) <> (data LIKE 'duo%' OR data IN ('returns', 'waiting')) AS wrong FROM emissions$$, 'numbers have means and covariances, names probabilities');
SELECT never($$SELECT data, method, state, (array_length(mean, 1) <> elements OR array_dims(covariance) <> format('[1:%s][1:%1$s]', elements) OR covariance[1][2] <> covariance[2][1] OR (data IN ('duo diagonal', 'duo spherical')) <> (covariance[1][2] = 0)) AS wrong FROM emissions JOIN sizes USING (data) WHERE elements > 1 AND element IS NULL$$, 'covariances have their shape');
SELECT never($$SELECT a.method, a.covariance <> b.covariance AS wrong FROM emissions a JOIN emissions b USING (data, method) WHERE data = 'duo tied'$$, 'tied ones are one');
SELECT never($$SELECT data, method, (initial_sd IS NULL) <> (method IN ('em', 'map')) OR (initial_alpha IS NULL) <> (method NOT IN ('vi', 'svi')) AS wrong FROM states s$$, 'standard deviations where there is a posterior');
SELECT never($$SELECT data, method, (sd IS NULL) <> (method IN ('em', 'map')) OR (alpha IS NULL) <> (method NOT IN ('vi', 'svi')) AS wrong FROM transitions t$$, 'of transitions too');
SELECT never($$SELECT data, method, (sd IS NULL) <> (method IN ('em', 'map')) AS wrong FROM emissions WHERE symbol IS NOT NULL$$, 'and of symbols');
SELECT never($$SELECT data, method, from_state, to_state, NOT near(probability, alpha / a) OR NOT near(sd, sqrt(alpha / a * (1 - alpha / a) / (a + 1))) AS wrong FROM (SELECT *, sum(alpha) OVER (PARTITION BY data, method, from_state) AS a FROM transitions WHERE alpha IS NOT NULL) t$$, 'the posterior of a row is a Dirichlet');
SELECT never($$SELECT data, method, NOT near(sum(alpha - 1), steps - sequences, 1e-6) AS wrong FROM transitions JOIN sizes USING (data) WHERE method = 'vi' GROUP BY 1, 2, steps, sequences$$, 'whose parameters count the prior and the steps');
SELECT never($$SELECT data, state, symbol, NOT near(e.probability, p.value[1] / (SELECT sum(q.value[1]) FROM hmm_posterior(model) q WHERE q.state = p.state AND q.parameter = p.parameter), 1e-9) AS wrong FROM fits, hmm_posterior(model) p JOIN hmm_emissions(model) e USING (state, symbol) WHERE method = 'vi' AND data = 'letters'$$, 'so is that of symbols');
SELECT never($$SELECT data, f.method, NOT near(i.log_likelihood, i.objective, 1e-9) AS wrong FROM fits f, bayes_info(model) i WHERE f.method = 'em'$$, 'em: the objective is the log likelihood');
SELECT never($$SELECT data, f.method, objective < before - 1e-7 * abs(before) AS wrong FROM (SELECT data, method, restart, iteration, objective, lag(objective) OVER (PARTITION BY data, method, restart ORDER BY iteration) AS before FROM fits, bayes_trace(model) WHERE method IN ('em', 'map', 'vi')) f WHERE before IS NOT NULL$$, 'objectives rise');
SELECT never($$SELECT data, f.method, objective <> (SELECT max(last) FROM (SELECT DISTINCT ON (restart) objective AS last FROM bayes_trace(model) ORDER BY restart, iteration DESC) t) AS wrong FROM fits f, bayes_info(model) i WHERE f.method <> 'gibbs'$$, 'the best restart counts');
SELECT never($$SELECT data, count(*) <> 60 OR array_agg(DISTINCT quantity ORDER BY quantity) <> '{log_joint,log_likelihood,states}' OR max(chain) <> 2 OR max(draw) <> 10 OR count(*) FILTER (WHERE quantity = 'states' AND value NOT IN (1, 2, 3)) > 0 AS wrong FROM fits, bayes_draws(model) d WHERE method = 'gibbs' GROUP BY data$$, 'draws of gibbs');
SELECT never($$SELECT data, i.objective <> (SELECT max(value) FROM bayes_draws(model) WHERE quantity = 'log_joint') AS wrong FROM fits, bayes_info(model) i WHERE fits.method = 'gibbs'$$, 'its objective is the best of them');
SELECT never($$SELECT data, f.method, NOT near(log_likelihood, (SELECT sum(hmm_log_likelihood(model, x)) FROM letters), 1e-9) AS wrong FROM fits f, bayes_info(model) i WHERE data = 'letters'$$, 'the log likelihood is that of the sequences');
SELECT never($$SELECT data, f.method, NOT near(log_likelihood, (SELECT hmm_log_likelihood(model, x) FROM returns), 1e-9) AS wrong FROM fits f, bayes_info(model) i WHERE data = 'returns' AND f.method IN ('em', 'map', 'gibbs')$$, 'of vectors too');
-- What is known of these data.
SELECT is((SELECT string_agg(symbol, '' ORDER BY symbol) FROM (SELECT DISTINCT ON (symbol) symbol, state FROM (SELECT hmm_fit(x, 2, '{"method": "em"}') AS m FROM letters) f, hmm_emissions(m) ORDER BY symbol, probability DESC) s WHERE state = 2 AND symbol <> 'q'), '_aeiou', 'two states of letters are vowels and consonants (Cave and Neuwirth 1980)');
SELECT ok(min(probability) FILTER (WHERE from_state <> to_state) > 0.7 AND near(max(probability), 1, 1e-3), 'after a short eruption comes a long one (Zucchini and MacDonald 2009, section 10.2)') FROM (SELECT hmm_fit(long, 2, '{"method": "em"}') AS m FROM (SELECT array_agg(duration > 3 ORDER BY t) AS long FROM geyser) g) f, hmm_transitions(m);
SELECT ok((SELECT max(covariance[1][1]) > 2.5 * min(covariance[1][1]) FROM hmm_emissions(m)) AND (SELECT min(dwell) > 5 FROM hmm_states(m)), 'markets are calm or nervous, for a week and more') FROM (SELECT hmm_fit(x, 2, '{"method": "em"}') AS m FROM returns) f;

-- ---- answers, against sums over all paths ----

-- All paths through the steps whose densities under every state are e (steps x K), and their joint probabilities.
CREATE FUNCTION all_paths(p float8[], a float8[], e float8[]) RETURNS TABLE (states int[], probability float8) IMMUTABLE LANGUAGE sql AS $$
  WITH RECURSIVE way AS (
    SELECT 1 AS t, ARRAY[s] AS states, p[s] * e[1][s] AS probability FROM generate_subscripts(p, 1) s
    UNION ALL SELECT t + 1, states || s, probability * a[states[t]][s] * e[t + 1][s] FROM way, generate_subscripts(p, 1) s WHERE t < array_length(e, 1))
  SELECT states, probability FROM way WHERE t = array_length(e, 1) $$;
CREATE FUNCTION first_of(m bayes_model) RETURNS float8[] RETURN (SELECT array_agg(initial ORDER BY state) FROM hmm_states(m));
CREATE FUNCTION moves_of(m bayes_model) RETURNS float8[] RETURN (SELECT array_agg(r ORDER BY from_state) FROM (SELECT from_state, array_agg(probability ORDER BY to_state) AS r FROM hmm_transitions(m) GROUP BY 1) t);
-- Densities of the steps, from what hmm_emissions says of the states. NULL and unknown symbols: 1.
CREATE FUNCTION densities(m bayes_model, x text[]) RETURNS float8[] RETURN (SELECT array_agg(r ORDER BY t) FROM (SELECT t, array_agg(coalesce(probability, 1) ORDER BY s.state) AS r FROM hmm_states(m) s CROSS JOIN unnest(x) WITH ORDINALITY AS o(symbol, t) LEFT JOIN hmm_emissions(m) e ON (e.state, e.symbol) = (s.state, o.symbol) GROUP BY t) d);
CREATE FUNCTION density(family text, x float8, mean float8, variance float8) RETURNS float8 IMMUTABLE RETURN CASE WHEN x IS NULL OR x = 'NaN' THEN 1 WHEN family = 'normal' THEN exp(-((x - mean) ^ 2) / (2 * variance)) / sqrt(2 * pi() * variance)
  WHEN family = 'poisson' THEN exp(-mean) * mean ^ x / factorial(x::bigint)::float8 WHEN family = 'exponential' THEN exp(-x / mean) / mean WHEN family = 'bernoulli' THEN CASE x WHEN 1 THEN mean ELSE 1 - mean END END;
CREATE FUNCTION densities(m bayes_model, x float8[], families text[]) RETURNS float8[] RETURN (SELECT array_agg(r ORDER BY t) FROM (SELECT t, array_agg(p ORDER BY state) AS r FROM (
  SELECT t, state, exp(sum(ln(density(families[coalesce(element, 1)], CASE array_ndims(x) WHEN 1 THEN x[t] ELSE x[t][element] END, coalesce(mean[1], probability), covariance[1][1])))) AS p FROM hmm_emissions(m), generate_subscripts(x, 1) t GROUP BY 1, 2) d GROUP BY t) d);
CREATE FUNCTION densities2(m bayes_model, x float8[]) RETURNS float8[] RETURN (SELECT array_agg(r ORDER BY t) FROM (SELECT t, array_agg(coalesce(CASE WHEN x[t][1] + x[t][2] <> 'NaN' THEN
    exp(-(c[2][2] * (x[t][1] - mean[1]) ^ 2 - 2 * c[1][2] * (x[t][1] - mean[1]) * (x[t][2] - mean[2]) + c[1][1] * (x[t][2] - mean[2]) ^ 2) / (2 * (c[1][1] * c[2][2] - c[1][2] ^ 2))) / (2 * pi() * sqrt(c[1][1] * c[2][2] - c[1][2] ^ 2)) END, 1) ORDER BY state) AS r
  FROM (SELECT state, mean, covariance AS c FROM hmm_emissions(m)) e, generate_subscripts(x, 1) t GROUP BY t) d);

-- A model of what is given: nothing is learned in no iteration.
CREATE TABLE tiny AS SELECT hmm_fit(x, 2, '{"method": "em", "max_iter": 0, "init": {"initial": [0.6, 0.4], "transitions": [[0.7, 0.3], [0.2, 0.8]], "probabilities": [{"a": 0.9, "b": 0.1}, {"a": 0.25, "b": 0.75}]}}') AS m FROM (VALUES ('{a,b,b}'::text[])) v(x);
SELECT results_eq('SELECT round(initial::numeric, 12) FROM tiny, hmm_states(m)', 'VALUES (0.6), (0.4)', 'the given model: initial');
SELECT results_eq('SELECT from_state, to_state, round(probability::numeric, 12) FROM tiny, hmm_transitions(m)', 'VALUES (1, 1, 0.7), (1, 2, 0.3), (2, 1, 0.2), (2, 2, 0.8)', 'transitions');
SELECT results_eq('SELECT state, symbol, round(probability::numeric, 12) FROM tiny, hmm_emissions(m)', $$VALUES (1, 'a', 0.9), (1, 'b', 0.1), (2, 'a', 0.25), (2, 'b', 0.75)$$, 'probabilities');
SELECT results_eq('SELECT i.iterations, i.converged FROM tiny, bayes_info(m) i', 'VALUES (0, true)', 'no iterations');
-- By hand, in numbers.
SELECT is(round(exp(hmm_log_likelihood(m, '{a}'::text[]))::numeric, 12), 0.6 * 0.9 + 0.4 * 0.25, 'one step') FROM tiny;
SELECT is(round(exp(hmm_log_likelihood(m, '{a,b}'::text[]))::numeric, 12), 0.54 * (0.7 * 0.1 + 0.3 * 0.75) + 0.1 * (0.2 * 0.1 + 0.8 * 0.75), 'two steps') FROM tiny;
SELECT is(hmm_decode(m, '{a,b,b}'::text[]), '{1,2,2}', 'the best path') FROM tiny;
SELECT ok(near(f[1][1], 0.54 / 0.64) AND near(f[2][2], (0.54 * 0.3 + 0.1 * 0.8) / 0.64), 'a filter, whose missing step only goes on') FROM tiny, hmm_filter(m, '{a,NULL}'::text[]) f;

CREATE TABLE cases (name text, m bayes_model, e float8[], loglik float8, decoded int[], smooth float8[], filter float8[], paths jsonb);
-- Steps of any type go in as an array; `of` makes their densities.
CREATE FUNCTION answer(case_name text, model bayes_model, x anyarray, e float8[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO cases SELECT case_name, model, e, hmm_log_likelihood(model, x), hmm_decode(model, x), hmm_probabilities(model, x), hmm_filter(model, x), (SELECT jsonb_agg(p ORDER BY rank) FROM hmm_paths(model, x, 20) p) $$;
SELECT answer('letters ' || x::text, m, x, densities(m, x)) FROM tiny, (VALUES ('{a,b,b}'::text[]), ('{b}'), ('{b,a,b,a,a}'), ('{a,NULL,b}'), ('{NULL,NULL,NULL}'), ('{a,what,b}'), ('[5:7]={b,a,b}')) v(x);
SELECT answer('text ' || method, model, x[1:5], densities(model, x[1:5])) FROM fits, letters WHERE data = 'letters' AND page = 'tutorial-agg';
SELECT answer('whole numbers ' || method, model, x[1:5], densities(model, x[1:5]::text[])) FROM fits, words WHERE data = 'words' AND page = 'tutorial-agg';
SELECT answer('counts ' || method, model, x[1:6], densities(model, x[1:6]::float8[], '{poisson}')) FROM fits, words WHERE data = 'counts' AND method IN ('em', 'map', 'gibbs') AND page = 'tutorial-agg';
SELECT answer('numbers ' || method, model, waiting[1:3] || ARRAY[NULL, 'NaN', waiting[9]]::float8[], densities(model, waiting[1:3] || ARRAY[NULL, 'NaN', waiting[9]]::float8[], '{normal}')) FROM fits, eruptions WHERE data = 'waiting' AND method IN ('em', 'map', 'gibbs') AND day = 1;
SELECT answer('exponential ' || method, model, waiting[1:6], densities(model, waiting[1:6], '{exponential}')) FROM fits, eruptions WHERE data = 'exponential' AND method IN ('em', 'map', 'gibbs') AND day = 1;
SELECT answer('booleans ' || method, model, long[1:5] || NULL::boolean, densities(model, (SELECT array_agg(l::int ORDER BY i) FROM unnest(long[1:5] || NULL::boolean) WITH ORDINALITY u(l, i))::float8[], '{bernoulli}')) FROM fits, eruptions WHERE data = 'long' AND day = 1;
SELECT answer(data || ' ' || method, model, duo[1:4], densities2(model, duo[1:4])) FROM fits, eruptions WHERE data LIKE 'duo%' AND method IN ('em', 'map', 'gibbs') AND day = 1;
SELECT answer('missing ' || data || ' ' || method, model, duo[1:2] || ARRAY[ARRAY[NULL, 3], ARRAY[55, 'NaN']]::float8[] || duo[5:5], densities2(model, duo[1:2] || ARRAY[ARRAY[NULL, 3], ARRAY[55, 'NaN']]::float8[] || duo[5:5])) FROM fits, eruptions WHERE data LIKE 'duo%' AND method = 'em' AND day = 1;
SELECT answer('mixed ' || method, model, mixed[1:3] || ARRAY[ARRAY[NULL, 1], ARRAY[55, NULL], ARRAY[NULL, NULL]]::float8[], densities(model, mixed[1:3] || ARRAY[ARRAY[NULL, 1], ARRAY[55, NULL], ARRAY[NULL, NULL]]::float8[], '{normal,bernoulli}')) FROM fits, eruptions WHERE data = 'mixed' AND method IN ('em', 'map', 'gibbs') AND day = 1;
-- What cannot be: states are left in one direction only.
CREATE TABLE stairs AS SELECT hmm_fit(x, 3, '{"method": "em", "topology": "left-to-right", "max_iter": 5}') AS m FROM (VALUES ('{a,a,b,b,c,c}'::text[]), ('{a,b,b,b,c}')) v(x);
SELECT answer('left to right', m, '{a,b,a,c}'::text[], densities(m, '{a,b,a,c}'::text[])) FROM stairs;
SELECT is((SELECT count(*) FROM cases), 51::bigint, 'cases');
CREATE TABLE paths AS SELECT name, p.* FROM cases, all_paths(first_of(m), moves_of(m), e) p;
SELECT never($$SELECT name, loglik, l, near(loglik, l) IS NOT TRUE AS wrong FROM cases FULL JOIN (SELECT name, ln(sum(probability)) AS l FROM paths GROUP BY 1) p USING (name)$$, 'hmm_log_likelihood sums over all paths');
SELECT never($$SELECT name, decoded, NOT near(max(p.probability), sum(p.probability) FILTER (WHERE states = decoded), 1e-12) AS wrong FROM cases JOIN paths p USING (name) GROUP BY 1, 2$$, 'hmm_decode finds the best of them');
SELECT never($$SELECT name, NOT near(smooth, s) AS wrong FROM cases, LATERAL (SELECT array_agg(r ORDER BY t) AS s FROM (SELECT t, array_agg(p ORDER BY s) AS r FROM (SELECT t, s, coalesce(sum(probability) FILTER (WHERE states[t] = s), 0) / sum(probability) AS p FROM paths, generate_subscripts(states, 1) t, generate_series(1, array_length(e, 2)) s WHERE paths.name = cases.name GROUP BY 1, 2) a GROUP BY t) b) c$$, 'hmm_probabilities are shares of their probability');
SELECT never($$SELECT name, t, NOT near(row_of(filter, t), f) AS wrong FROM cases, generate_subscripts(e, 1) t, LATERAL (SELECT array_agg(p ORDER BY s) AS f FROM (SELECT s, coalesce(sum(probability) FILTER (WHERE states[t] = s), 0) / sum(probability) AS p FROM all_paths(first_of(m), moves_of(m), e[1:t]), generate_series(1, array_length(e, 2)) s GROUP BY 1) a) c$$, 'hmm_filter are those of the paths so far');
SELECT never($$SELECT c.name, rank, NOT near(log_probability, ln(probability)) AS wrong FROM cases c, LATERAL (SELECT row_number() OVER (ORDER BY probability DESC) AS r, probability FROM paths p WHERE p.name = c.name AND probability > 0) b, jsonb_to_recordset(paths) AS g(rank int, log_probability float8, states int[]) WHERE r = rank$$, 'hmm_paths are the best ones');
SELECT never($$SELECT c.name, g.states, NOT near(log_probability, ln(p.probability)) OR p.probability IS NULL AS wrong FROM cases c, jsonb_to_recordset(c.paths) AS g(rank int, log_probability float8, states int[]) LEFT JOIN LATERAL (SELECT p.probability FROM paths p WHERE p.name = c.name AND p.states = g.states) p ON true$$, 'each with its probability');
SELECT never($$SELECT c.name, count(*) <> least(20, (SELECT count(*) FROM paths p WHERE p.name = c.name AND probability > 0)) OR count(DISTINCT states) <> count(*) OR min(states::text) FILTER (WHERE rank = 1) <> decoded::text OR max(rank) <> count(*) OR count(DISTINCT rank) <> count(*) AS wrong FROM cases c, jsonb_to_recordset(c.paths) AS g(rank int, log_probability float8, states int[]) GROUP BY c.name, decoded$$, 'as many as there are, each once, the first as hmm_decode says');
-- What comes next.
SELECT same_rows($$SELECT element, symbol, round(probability::numeric, 12), mean, variance FROM tiny, hmm_predict(m, '{a,b,b}'::text[])$$, $$SELECT 1, symbol, round((sum(f[3][1] * a.probability * e.probability) FILTER (WHERE from_state = 1) + sum(f[3][2] * a.probability * e.probability) FILTER (WHERE from_state = 2))::numeric, 12), NULL::float8, NULL::float8
  FROM tiny, hmm_filter(m, '{a,b,b}'::text[]) f, hmm_transitions(m) a, hmm_emissions(m) e WHERE e.state = to_state GROUP BY symbol ORDER BY symbol$$, 'hmm_predict: of names their probabilities');
SELECT results_eq($$SELECT symbol, round(probability::numeric, 12) FROM tiny, hmm_predict(m, '{}'::text[])$$, $$VALUES ('a', 0.6 * 0.9 + 0.4 * 0.25), ('b', 0.6 * 0.1 + 0.4 * 0.75)$$, 'before the first step: what a sequence begins with');
SELECT never($$SELECT data, method, element, NOT near(p.mean, mu) OR NOT near(p.variance, v, 1e-6) OR p.symbol IS NOT NULL OR p.probability IS NOT NULL AS wrong FROM (SELECT *, duo[1:4] AS x FROM fits, eruptions WHERE data = 'duo full' AND method IN ('em', 'map', 'gibbs') AND day = 1) d, hmm_predict(model, x) p,
    LATERAL (SELECT sum(w * e.mean[p.element]) AS mu, sum(w * (e.covariance[p.element][p.element] + e.mean[p.element] ^ 2)) - sum(w * e.mean[p.element]) ^ 2 AS v FROM (SELECT to_state, sum((row_of(hmm_filter(model, x), 4))[from_state] * probability) AS w FROM hmm_transitions(model) GROUP BY 1) n JOIN hmm_emissions(model) e ON to_state = e.state) b$$, 'of numbers mean and variance');
SELECT never($$SELECT data, method, (variance <= 0 OR mean NOT BETWEEN 0 AND 120 OR variance IS NULL) AS wrong FROM fits, eruptions, hmm_predict(model, duo) WHERE data LIKE 'duo%' AND method IN ('vi', 'svi')$$, 'under a posterior too');
SELECT is((SELECT count(*) FROM fits, eruptions, hmm_predict(model, mixed) WHERE data = 'mixed'), 2 * 5 * (SELECT count(*) FROM eruptions), 'a row for each element');
-- Empty sequences.
SELECT results_eq($$SELECT hmm_decode(m, '{}'::text[]), hmm_probabilities(m, '{}'::text[]), hmm_filter(m, '{}'::text[]), hmm_log_likelihood(m, '{}'::text[]) FROM tiny$$, $$VALUES ('{}'::int[], '{}'::float8[], '{}'::float8[], 0::float8)$$, 'an empty sequence');
SELECT results_eq($$SELECT p.* FROM tiny, hmm_paths(m, '{}'::text[], 5) p$$, $$VALUES (1, 0::float8, '{}'::int[])$$, 'has one path');
SELECT results_eq($$SELECT hmm_decode(m, NULL::text[]), hmm_probabilities(m, NULL::text[]), hmm_filter(NULL, '{a}'::text[]), hmm_log_likelihood(NULL, '{a}'::text[]) FROM tiny$$, $$VALUES (NULL::int[], NULL::float8[], NULL::float8[], NULL::float8)$$, 'NULL gives NULL');
SELECT is((SELECT count(*) FROM tiny, hmm_paths(m, NULL::text[], 5)) + (SELECT count(*) FROM tiny, hmm_predict(m, NULL::text[])) + (SELECT count(*) FROM hmm_states(NULL)), 0::bigint, 'or no rows');
SELECT is((SELECT count(*) FROM tiny, hmm_paths(m, '{a,b,a,b,a,b,a,b,a,b,a,b}'::text[], 1000)), 1000::bigint, 'a thousand paths');
-- Long sequences: windows of steps, and what lies at their borders.
CREATE TABLE lengths AS SELECT n, (SELECT array_agg(chr(97 + (i * i % 7 > 2)::int) ORDER BY i) FROM generate_series(1, n) i) AS x FROM unnest('{1,2,63,64,65,255,256,257,1023,1024,1025,4096,8191,8192,8193,20000}'::int[]) n;
SELECT never($$SELECT n, NOT near(row_of(f, n), row_of(s, n)) OR array_length(f, 1) <> n OR array_length(s, 1) <> n AS wrong FROM tiny, lengths, LATERAL (SELECT hmm_filter(m, x) AS f, hmm_probabilities(m, x) AS s OFFSET 0) a$$, 'at the last step filter and smoother agree');
SELECT never($$SELECT n, cardinality(hmm_decode(m, x)) <> n OR hmm_decode(m, x) <> (SELECT states FROM hmm_paths(m, x, 2) WHERE rank = 1) AS wrong FROM tiny, lengths$$, 'hmm_paths begins with what hmm_decode says');
SELECT never($$SELECT n, NOT near(best, by_hand, 1e-8) AS wrong FROM tiny, lengths, LATERAL (SELECT log_probability AS best, states AS s FROM hmm_paths(m, x, 1)) p, LATERAL (SELECT ln((first_of(m))[s[1]]) + coalesce((SELECT sum(ln(CASE s[t - 1] * 10 + s[t] WHEN 11 THEN 0.7 WHEN 12 THEN 0.3 WHEN 21 THEN 0.2 ELSE 0.8 END)) FROM generate_series(2, n) t), 0) + (SELECT sum(ln(CASE s[t] || x[t] WHEN '1a' THEN 0.9 WHEN '1b' THEN 0.1 WHEN '2a' THEN 0.25 ELSE 0.75 END)) FROM generate_series(1, n) t) AS by_hand) h WHERE n < 5000$$, 'whose probability is that of its moves');

-- ---- windows: a row for every step ----

CREATE TABLE rows AS SELECT page, t::int, letter FROM letters, unnest(x) WITH ORDINALITY AS u(letter, t) WHERE page < 'tutorial-d';
CREATE TABLE window_answers AS SELECT method, page, t, hmm_decode(model, letter) OVER w AS state, hmm_probabilities(model, letter) OVER w AS p, hmm_filter(model, letter) OVER w AS f FROM fits, rows WHERE data = 'letters' WINDOW w AS (PARTITION BY method, page ORDER BY t);
CREATE TABLE array_answers AS SELECT method, page, hmm_decode(model, x) AS state, hmm_probabilities(model, x) AS p, hmm_filter(model, x) AS f FROM fits, letters WHERE data = 'letters' AND page IN (SELECT page FROM rows);
SELECT never($$SELECT method, page, t, w.state IS DISTINCT FROM a.state[t] OR w.p IS DISTINCT FROM row_of(a.p, t) OR w.f IS DISTINCT FROM row_of(a.f, t) AS wrong FROM window_answers w JOIN array_answers a USING (method, page)$$, 'windows say what arrays say, to the last bit');
SELECT is((SELECT count(*) FROM window_answers WHERE state IN (1, 2) AND p IS NOT NULL AND f IS NOT NULL), 5 * (SELECT count(*) FROM rows), 'for every row');
CREATE TABLE portion AS SELECT m, page, t, letter FROM rows, (SELECT model AS m FROM fits WHERE data = 'letters' AND method = 'em') f WHERE t <= 200;
SELECT never(format($$SELECT page, t, a IS DISTINCT FROM b OR c IS DISTINCT FROM d OR e IS DISTINCT FROM f AS wrong FROM (SELECT page, t, hmm_decode(m, letter) OVER v AS a, hmm_decode(m, letter) OVER w AS b, hmm_probabilities(m, letter) OVER v AS c, hmm_probabilities(m, letter) OVER w AS d, hmm_filter(m, letter) OVER v AS e, hmm_filter(m, letter) OVER w AS f FROM portion
  WINDOW v AS (PARTITION BY page ORDER BY t), w AS (PARTITION BY page ORDER BY t %s)) s$$, frame), 'frame: ' || frame)
  FROM unnest('{ROWS BETWEEN 5 PRECEDING AND CURRENT ROW,ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING,ROWS BETWEEN 3 FOLLOWING AND 2 FOLLOWING,RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING,GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW,ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES}'::text[]) frame;
SELECT same_rows($$SELECT t, hmm_decode(m, o) OVER w, hmm_probabilities(m, o) OVER w, hmm_filter(m, o) OVER w FROM tiny, unnest('{a,NULL,b,NULL}'::text[]) WITH ORDINALITY u(o, t) WINDOW w AS (ORDER BY t)$$, $$SELECT t::bigint, (hmm_decode(m, x))[t], row_of(hmm_probabilities(m, x), t), row_of(hmm_filter(m, x), t) FROM tiny, (SELECT '{a,NULL,b,NULL}'::text[] AS x) a, generate_series(1, 4) t$$, 'NULL observations are missing, and have results');
SELECT same_rows($$SELECT hmm_decode(m, o) OVER (ORDER BY t NULLS FIRST) FROM tiny, (VALUES (1, 'b'), (2, 'b'), (NULL, 'a')) v(t, o) ORDER BY t NULLS FIRST$$, $$SELECT unnest(hmm_decode(m, '{a,b,b}'::text[])) FROM tiny$$, 'NULL order keys are in the order of the window');
SELECT same_rows('SELECT hmm_decode(m, o) OVER (), hmm_filter(m, o) OVER (), hmm_probabilities(m, o) OVER () FROM tiny, (VALUES (NULL::text)) v(o)', $$SELECT 1, p, p FROM (SELECT array_agg(initial ORDER BY state) AS p FROM tiny, hmm_states(m)) s$$, 'one row, of which nothing is known');
SELECT results_eq($$SELECT o, count(*), min(d), max(d), count(DISTINCT p), all_true(near(p, f)) FROM (SELECT o, hmm_decode(m, o) OVER w AS d, hmm_probabilities(m, o) OVER w AS p, hmm_filter(m, o) OVER w AS f FROM tiny, (SELECT id, chr(97 + id % 2) AS o FROM generate_series(1, 20000) id) r WINDOW w AS (PARTITION BY id)) s GROUP BY o ORDER BY o$$, $$VALUES ('a', 10000::bigint, 1, 1, 1::bigint, true), ('b', 10000, 2, 2, 1, true)$$, 'twenty thousand partitions of one row');
SELECT is_empty('SELECT hmm_decode(m, letter) OVER () FROM portion WHERE false', 'no rows');
SELECT same_rows($$SELECT count(*), count(d), count(p), count(f) FROM (SELECT hmm_decode(NULL, letter) OVER () AS d, hmm_probabilities(NULL, letter) OVER () AS p, hmm_filter(NULL, letter) OVER () AS f FROM portion) s$$, 'SELECT count(*), 0::bigint, 0::bigint, 0::bigint FROM portion', 'a NULL model gives NULLs');
SELECT same_rows($$SELECT page, count(d), count(p), count(f) FROM (SELECT page, hmm_decode(n, letter) OVER w AS d, hmm_probabilities(n, letter) OVER w AS p, hmm_filter(n, letter) OVER w AS f FROM (SELECT *, CASE WHEN page <> 'tutorial-agg' THEN m END AS n FROM portion) s WINDOW w AS (PARTITION BY page ORDER BY t)) s GROUP BY 1 ORDER BY 1$$,
  $$SELECT page, n, n, n FROM (SELECT page, count(*) FILTER (WHERE page <> 'tutorial-agg') AS n FROM portion GROUP BY 1) s ORDER BY 1$$, 'even for one partition between others');
SELECT never($$SELECT p.page, p.d <> a.d[t] AS wrong FROM (SELECT page, t, hmm_decode(model, letter) OVER (PARTITION BY page ORDER BY t) AS d FROM portion JOIN (SELECT row_number() OVER (ORDER BY method) AS n, model FROM fits WHERE data = 'letters') f ON n = 1 + length(page) % 5) p JOIN (SELECT page, hmm_decode(model, x) AS d FROM (SELECT page, array_agg(letter ORDER BY t) AS x FROM portion GROUP BY 1) s JOIN (SELECT row_number() OVER (ORDER BY method) AS n, model FROM fits WHERE data = 'letters') f ON n = 1 + length(page) % 5) a USING (page)$$, 'each partition has its own model');
CREATE TABLE pairs AS SELECT t, waiting, duration, ARRAY[waiting, duration] AS x, model FROM geyser, fits WHERE data = 'duo full' AND method = 'vi';
CREATE TABLE pairs_array AS SELECT hmm_decode(model, x) AS da, hmm_probabilities(model, x) AS pa, hmm_filter(model, x) AS fa FROM (SELECT array_agg(x ORDER BY t) AS x FROM pairs) p, fits WHERE data = 'duo full' AND method = 'vi';
CREATE TYPE eruption AS (waiting smallint, duration numeric);
SELECT never(format($$SELECT t, d <> da[t] OR NOT near(p, row_of(pa, t), 1e-12) OR NOT near(f, row_of(fa, t), 1e-12) AS wrong FROM (SELECT t, hmm_decode(model, %s) OVER w AS d, hmm_probabilities(model, %1$s) OVER w AS p, hmm_filter(model, %1$s) OVER w AS f FROM pairs WINDOW w AS (ORDER BY t)) w, pairs_array a$$, o), 'vectors: ' || o)
  FROM unnest('{"ROW(waiting, duration)","ROW(x)","ROW(x::numeric[])","ROW(waiting::int, duration::numeric)","ROW(waiting, duration)::eruption"}'::text[]) o;
SELECT never($$SELECT t, d <> da[t] AS wrong FROM (SELECT t, hmm_decode(model, e) OVER (ORDER BY t) AS d FROM pairs, LATERAL (SELECT waiting, duration) e) w, pairs_array$$, 'a row of a table is a vector');
SELECT same_rows($$SELECT hmm_decode(model, o) OVER w, hmm_probabilities(model, o) OVER w FROM pairs, LATERAL (SELECT CASE t % 4 WHEN 0 THEN ROW(waiting, NULL::float8) WHEN 1 THEN NULL WHEN 2 THEN ROW('NaN'::float8, duration) ELSE ROW(waiting, duration) END AS o) r WHERE t <= 40 WINDOW w AS (ORDER BY t)$$,
  $$SELECT (hmm_decode(model, x))[t], row_of(hmm_probabilities(model, x), t) FROM (SELECT array_agg(CASE WHEN t % 4 = 3 THEN x ELSE '{NULL,NULL}' END ORDER BY t) AS x FROM pairs WHERE t <= 40) p, fits, generate_series(1, 40) t WHERE data = 'duo full' AND method = 'vi' ORDER BY t$$, 'of a multivariate normal a step is missing as a whole');
SELECT same_rows($$SELECT hmm_decode(model, ROW(NULL::float8[])) OVER (), hmm_decode(model, ROW('{NULL,1}'::float8[])) OVER (ORDER BY t) IN (1, 2, 3) FROM pairs WHERE t = 1$$, $$SELECT (hmm_decode(model, '{{NULL,NULL}}'::float8[]))[1], true FROM fits WHERE data = 'duo full' AND method = 'vi'$$, 'or by a NULL array');
SELECT never($$SELECT t, NOT (a = b AND b = c AND c = d AND d = e) AS wrong FROM (SELECT t, hmm_decode(model, waiting) OVER w AS a, hmm_decode(model, waiting::int) OVER w AS b, hmm_decode(model, waiting::numeric) OVER w AS c, hmm_decode(model, waiting::smallint) OVER w AS d, hmm_decode(model, waiting::real) OVER w AS e FROM geyser, fits WHERE data = 'waiting' AND method = 'em' WINDOW w AS (ORDER BY t)) s$$, 'numbers of every type');
SELECT never($$SELECT t, NOT (a = b AND b = c) AS wrong FROM (SELECT t, hmm_decode(model, duration > 3) OVER w AS a, hmm_decode(model, (duration > 3)::int) OVER w AS b, hmm_decode(model, (duration > 3)::int::float8) OVER w AS c FROM geyser, fits WHERE data = 'long' AND method = 'em' WINDOW w AS (ORDER BY t)) s$$, 'booleans are 0 and 1');
SELECT never($$SELECT t, NOT (a = b AND b = c AND c = d) AS wrong FROM (SELECT t, hmm_decode(m, letter::varchar) OVER w AS a, hmm_decode(m, letter::"char") OVER w AS b, hmm_decode(m, letter::name) OVER w AS c, hmm_decode(m, letter::char(3)) OVER w AS e, hmm_decode(m, letter) OVER w AS d FROM portion WINDOW w AS (PARTITION BY page ORDER BY t)) s$$, 'names of every type');
SELECT never($$SELECT t, (n <> t OR c <> least(t, 2) OR (t < 190 AND d <> state[t])) AS wrong FROM (SELECT t, hmm_decode(m, letter) OVER w AS d, row_number() OVER w AS n, count(*) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS c FROM portion WHERE page = 'tutorial-agg' WINDOW w AS (ORDER BY t)) s, array_answers a WHERE a.method = 'em' AND page = 'tutorial-agg'$$, 'beside other window functions');

-- ---- a relation ----

SELECT results_eq($$SELECT pg_typeof(sequence)::text, pg_typeof(t)::text, pg_typeof(state)::text, pg_typeof(probability)::text FROM hmm_decode('SELECT page, x FROM letters', 1) LIMIT 1$$, $$VALUES ('text', 'bigint', 'integer', 'double precision')$$, 'types of the relation');
CREATE TABLE decoded AS SELECT method, d.* FROM methods, LATERAL hmm_decode('SELECT page, x FROM letters ORDER BY page', 2, o) d;
SELECT never($$SELECT method, sequence, t, (d.state, d.probability) IS DISTINCT FROM (a.state, a.probability) AS wrong FROM decoded d FULL JOIN (SELECT method, page AS sequence, t, s[t] AS state, p[t][s[t]] AS probability FROM (SELECT method, page, x, hmm_decode(model, x) AS s, hmm_probabilities(model, x) AS p FROM fits, letters WHERE data = 'letters') a, generate_subscripts(x, 1) t) a USING (method, sequence, t)$$, 'relation = aggregate and hmm_decode');
SELECT results_eq($$SELECT sequence, t FROM hmm_decode('VALUES (1, ''{a,b}''::text[]), (NULL, ''{c}''), (3, NULL), (4, ''{}''), (1, ''{a,a}'')', 1)$$, $$VALUES ('1', 1::bigint), ('1', 2), (NULL, 1), ('1', 1), ('1', 2)$$, 'sequences in their order; NULL and empty ones have no steps');
SELECT same_rows($$SELECT sequence, t, state FROM hmm_decode('SELECT day, duo FROM eruptions ORDER BY day', 2, NULL)$$, $$SELECT d::text, t::bigint, s[t] FROM (SELECT day AS d, hmm_decode((SELECT hmm_fit(duo, 2 ORDER BY day) FROM eruptions), duo) AS s FROM eruptions) e, generate_subscripts(s, 1) t ORDER BY d, t$$, 'of vectors, options NULL');
SELECT is_empty($$SELECT * FROM hmm_decode('SELECT id, x FROM nothing', 2)$$, 'no sequences, no rows');
SELECT is_empty($$SELECT * FROM hmm_decode('SELECT 1, NULL::text[] FROM letters', 2)$$, 'nor of NULLs');
SELECT is((SELECT count(*) FROM generate_series(1, 2) k, LATERAL hmm_decode('SELECT day, long FROM eruptions', k)), 2 * 299::bigint, 'called laterally');
SELECT is((SELECT count(*) FROM hmm_decode('SELECT 1, array_agg(state ORDER BY sequence, t) FROM hmm_decode(''SELECT day, long FROM eruptions'', 2)', 2)), 299::bigint, 'a fit within a fit');

-- ---- what goes into a fit ----

CREATE TABLE init AS SELECT '{"initial": [0.5, 0.5], "transitions": [[0.7, 0.3], [0.2, 0.8]], "probabilities": [{"a": 0.6, "b": 0.3}, {"a": 0.2, "b": 0.3}]}'::jsonb AS i;
CREATE TABLE short AS SELECT id, (SELECT array_agg(substr('abcab', 1 + (id * i * i + i / 3) % 5, 1) ORDER BY i) FROM generate_series(1, 2 + id % 9) i) AS x, 1 + id % 3 AS w FROM generate_series(1, 60) id;
SELECT results_eq($$SELECT state, symbol, round(probability::numeric, 12) FROM (SELECT hmm_fit(x, 2, jsonb_build_object('method', 'em', 'max_iter', 0, 'init', i)) AS m FROM short, init) f, hmm_emissions(m) ORDER BY 1, 2$$, $$VALUES (1, 'a', 0.6), (1, 'b', 0.3), (1, 'c', 0.1), (2, 'a', 0.2), (2, 'b', 0.3), (2, 'c', 0.5)$$, 'symbols that init does not name share what is left');
SELECT same((SELECT rounded(hmm_fit(x, 2, o, w)) FROM short), (SELECT rounded(hmm_fit(x, 2, o)) FROM short, generate_series(1, w)), 'a weight is a number of repetitions: ' || (o->>'method'))
  FROM init, LATERAL (SELECT jsonb_build_object('method', m, 'init', i, 'tol', 0, 'max_iter', 10) AS o FROM unnest('{em,map,vi}'::text[]) m) os;
SELECT same((SELECT bits(hmm_fit(x, 2, '{}', CASE WHEN id % 4 > 0 THEN 1 END)) FROM short), (SELECT replace(bits(hmm_fit(x, 2, '{}', 1)), '"skipped": 0', '"skipped": 15') FROM short WHERE id % 4 > 0), 'a NULL weight leaves the sequence out');
SELECT same((SELECT bits(hmm_fit(x, 2, '{}', CASE WHEN id % 4 > 0 THEN 1 ELSE 0 END)) FROM short), (SELECT replace(bits(hmm_fit(x, 2, '{}', 1)), '"skipped": 0', '"skipped": 15') FROM short WHERE id % 4 > 0), 'so does one of 0');
SELECT same((SELECT bits(hmm_fit(CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE x END, 2)) FROM short), (SELECT replace(bits(hmm_fit(x, 2)), '"skipped": 0', '"skipped": 30') FROM short WHERE id % 4 > 1), 'and NULL and empty sequences have no say');
SELECT results_eq($$SELECT i.rows, i.skipped FROM (SELECT hmm_fit(CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE x END, 2) AS m FROM short) f, bayes_info(m) i$$, 'VALUES (30::bigint, 30::bigint)', 'but are counted');
SELECT ok((SELECT hmm_fit(x, 2) FROM nothing) IS NULL AND (SELECT hmm_fit(NULL::text[], 2, '{}') FROM short) IS NULL AND (SELECT hmm_fit('{}'::int[], 2, '{}', 1) FROM short) IS NULL AND (SELECT hmm_fit(x, 2, '{}', NULL) FROM short) IS NULL AND (SELECT hmm_fit(x, NULL::int[], 2) FROM nothing) IS NULL, 'nothing to fit: NULL');
SELECT ok((SELECT hmm_fit(x, m) FROM nothing, tiny) IS NULL AND (SELECT hmm_update(x, m) FROM nothing, tiny) IS NULL AND (SELECT hmm_fit(NULL::text[], m, '{}', 1) FROM short, tiny) IS NULL, 'or to learn from');
SELECT same((SELECT bits(hmm_fit(x, 2, NULL)) FROM short), (SELECT bits(hmm_fit(x, 2)) FROM short), 'options NULL are options left out');
SELECT same((SELECT bits(hmm_fit(x, 2, '{"method": null, "emission": null, "prior": null, "init": null, "topology": null, "restarts": null}')) FROM short), (SELECT bits(hmm_fit(x, 2)) FROM short), 'so is a key whose value is null');
SELECT same((SELECT bits(hmm_fit(('[3:' || 2 + cardinality(x) || ']=' || x::text)::text[], 2)) FROM short), (SELECT bits(hmm_fit(x, 2)) FROM short), 'lower bounds do not matter');
SELECT same((SELECT rounded(hmm_fit(x::varchar[], 2)) FROM short), (SELECT rounded(hmm_fit(x, 2)) FROM short), 'varchar[]');
CREATE DOMAIN word AS text[];
SELECT same((SELECT rounded(hmm_fit(x::word, 2)) FROM short), (SELECT rounded(hmm_fit(x, 2)) FROM short), 'a domain');
SELECT same((SELECT bits(hmm_fit(x, 3 ORDER BY page)) FROM words), (SELECT bits(hmm_fit(x::bigint[], 3 ORDER BY page)) FROM words), 'whole numbers are names');
SELECT same((SELECT bits(hmm_fit(x::text[], 3 ORDER BY page)) FROM words), (SELECT bits(hmm_fit(x::bigint[], 3 ORDER BY page)) FROM words), 'by their text');
SELECT same((SELECT bits(hmm_fit(waiting::real[], 2 ORDER BY day)) FROM eruptions), (SELECT bits(hmm_fit(waiting::numeric[], 2 ORDER BY day)) FROM eruptions), 'numbers are numbers');
SELECT same((SELECT bits(hmm_fit(long, 2)) FROM eruptions), (SELECT bits(hmm_fit(ARRAY(SELECT l::int FROM unnest(long) WITH ORDINALITY u(l, i) ORDER BY i), 2, '{"emission": "bernoulli"}')) FROM eruptions), 'booleans are 1 and 0');
SELECT is((SELECT string_agg(symbol, ' ' ORDER BY symbol) FROM (SELECT hmm_fit(x, 1) AS m FROM (VALUES (ARRAY['2026-11-21', NULL, '2026-11-22']::date[])) v(x)) f, hmm_emissions(m)), '2026-11-21 2026-11-22', 'anything else is a name by its text');
SELECT is((SELECT string_agg(symbol, '|' ORDER BY symbol COLLATE "C") FROM (SELECT hmm_fit(x, 1) AS m FROM (VALUES (ARRAY['', ' ', E'\n', 'é', '"', repeat('x', 10000)])) v(x)) f, hmm_emissions(m)), E'|' || E'\n| |"|' || repeat('x', 10000) || '|é', 'strange names');
SELECT is((SELECT count(*) FROM (SELECT hmm_fit(ARRAY(SELECT md5(i::text) FROM generate_series(1, 10000) i), 1, '{"method": "em"}') AS m) f, hmm_emissions(m)), 10000::bigint, 'ten thousand names');
-- One step, one sequence, more states than steps, no variation, by every method.
SELECT never($$SELECT method, n, k, m IS NULL OR NOT near((SELECT sum(visits) FROM hmm_states(m)), n, 1e-6) OR cardinality(hmm_decode(m, '{a,b,a,b}'::text[])) <> 4 AS wrong FROM methods, unnest('{1,2,3}'::int[]) n, unnest('{1,5}'::int[]) k, LATERAL (SELECT hmm_fit(x[1:n], k, o) AS m FROM (VALUES ('{a,b,a}'::text[])) v(x)) f$$, 'more states than steps: names');
SELECT never($$SELECT method, n, k, e, m IS NULL OR NOT near((SELECT sum(visits) FROM hmm_states(m)), n, 1e-6) AS wrong FROM methods, unnest('{1,2,3}'::int[]) n, unnest('{1,5}'::int[]) k, unnest('{"\"normal\"","[\"normal\"]","\"poisson\"","\"exponential\"","\"categorical\""}'::jsonb[]) e, LATERAL (SELECT hmm_fit(x[1:n], k, o || jsonb_build_object('emission', e)) AS m FROM (VALUES ('{3,1,2}'::float8[])) v(x)) f$$, 'numbers');
SELECT never($$SELECT method, k, c, m IS NULL AS wrong FROM methods, unnest('{1,4}'::int[]) k, unnest('{full,diagonal,spherical,tied}'::text[]) c, LATERAL (SELECT hmm_fit(x, k, o || jsonb_build_object('covariance', c)) AS m FROM (VALUES ('{{3,3},{3,3},{3,3}}'::float8[]), ('{{3,3}}')) v(x)) f$$, 'observations that are all alike');
SELECT never($$SELECT method, m IS NULL OR NOT near((SELECT sum(visits) FROM hmm_states(m)), 4, 1e-6) AS wrong FROM methods, LATERAL (SELECT hmm_fit(x, 2, o) AS m FROM (VALUES (ARRAY[NULL, NULL, 'a']), (ARRAY[NULL]::text[])) v(x)) f$$, 'hardly any observation');
-- Missing steps.

CREATE TABLE gaps AS SELECT id, ARRAY(SELECT CASE WHEN (id + i) % 3 > 0 THEN s END FROM unnest(x) WITH ORDINALITY u(s, i) ORDER BY i) AS x, ARRAY(SELECT CASE WHEN (id + i) % 3 > 0 THEN ascii(s) + sin(i) END FROM unnest(x) WITH ORDINALITY u(s, i) ORDER BY i) AS n FROM short;
SELECT never($$SELECT method, log_likelihood, l, NOT near(log_likelihood, l) AS wrong FROM (SELECT o.method, m, log_likelihood FROM methods o, LATERAL (SELECT hmm_fit(x, 2, o) AS m FROM gaps) f, bayes_info(m) i) f, LATERAL (SELECT sum(hmm_log_likelihood(m, x)) AS l FROM gaps) g$$, 'missing steps are summed out, in fits as in answers');
SELECT never($$SELECT log_likelihood, l, NOT near(log_likelihood, l) AS wrong FROM (SELECT hmm_fit(n, 2, '{"method": "em"}') AS m FROM gaps) f, bayes_info(m) i, LATERAL (SELECT sum(hmm_log_likelihood(m, n)) AS l FROM gaps) g$$, 'numbers too');
SELECT same((SELECT bits(hmm_fit(n, 2)) FROM gaps), (SELECT bits(hmm_fit(ARRAY(SELECT coalesce(v, 'NaN') FROM unnest(n) WITH ORDINALITY u(v, i) ORDER BY i), 2)) FROM gaps), 'NaN is as good as NULL');
SELECT is((SELECT hmm_fit(x, 2, '{"missing": "error"}') IS NOT NULL FROM short), true, 'missing = error has nothing against sequences that are complete');
-- Known states.
CREATE TABLE labelled AS SELECT id, x, ARRAY(SELECT 1 + ((id + i) % 5 > 2)::int FROM generate_series(1, cardinality(x)) i ORDER BY i) AS s FROM short;
CREATE TABLE counted AS SELECT hmm_fit(x, s, 2, '{"method": "em", "minimum": 1e-12}') AS m FROM labelled;
SELECT never($$SELECT t.*, NOT near(count, n) OR NOT near(probability, n / "all") AS wrong FROM counted, hmm_transitions(m) t LEFT JOIN (SELECT a, b, count(*) AS n, sum(count(*)) OVER (PARTITION BY a) AS all FROM labelled, LATERAL (SELECT u AS b, lag(u) OVER (ORDER BY i) AS a FROM unnest(s) WITH ORDINALITY v(u, i)) w WHERE a IS NOT NULL GROUP BY 1, 2) c ON (a, b) = (from_state, to_state)$$, 'known states are counted: transitions');
SELECT never($$SELECT e.*, NOT near(probability, n / "all", 1e-8) AS wrong FROM counted, hmm_emissions(m) e LEFT JOIN (SELECT u, o, count(*) AS n, sum(count(*)) OVER (PARTITION BY u) AS all FROM labelled, unnest(x, s) v(o, u) GROUP BY 1, 2) c ON (u, o) = (state, symbol)$$, 'emissions');
SELECT never($$SELECT t.*, NOT near(initial, p, 1e-8) OR NOT near(visits, n) AS wrong FROM counted, hmm_states(m) t LEFT JOIN (SELECT s[1] AS u, count(*) / 60.0 AS p FROM labelled GROUP BY 1) c ON u = state LEFT JOIN (SELECT u, count(*) AS n FROM labelled, unnest(s) u GROUP BY 1) v USING (u)$$, 'initial and visits, states keeping their numbers');
SELECT same((SELECT rounded(hmm_fit(x, NULL::int[], 2)) FROM labelled), (SELECT rounded(hmm_fit(x, CASE id % 2 WHEN 0 THEN array_fill(0, ARRAY[cardinality(x)]) ELSE array_fill(NULL::int, ARRAY[cardinality(x)]) END, 2)) FROM labelled), 'no state known, in three ways of saying so');
SELECT never($$SELECT method, visits, visits < n - 1e-6 AS wrong FROM methods, LATERAL (SELECT hmm_fit(x, CASE WHEN id % 3 > 0 THEN ARRAY(SELECT CASE WHEN i % 2 = 0 THEN u END FROM unnest(s) WITH ORDINALITY v(u, i) ORDER BY i) END, 2, o) AS m FROM labelled) f, hmm_states(m), (SELECT u, count(*) AS n FROM labelled, unnest(s) WITH ORDINALITY v(u, i) WHERE id % 3 > 0 AND i % 2 = 0 GROUP BY 1) c WHERE u = state$$, 'some of them, by every method');
SELECT never($$SELECT method, NOT near(mean, ARRAY[w, d], 0.01) AS wrong FROM methods, LATERAL (SELECT hmm_fit(duo, ARRAY(SELECT 1 + (duo[i][2] <= 3)::int FROM generate_subscripts(duo, 1) i ORDER BY i), 2, o) AS m FROM eruptions) f, hmm_emissions(m), LATERAL (SELECT avg(waiting) AS w, avg(duration) AS d FROM geyser WHERE (duration <= 3) = (state = 2)) g$$, 'of vectors: means of those that are known');
-- What cannot be stays impossible.
SELECT never($$SELECT method, kind, from_state, to_state, (probability <> 0 OR count <> 0 OR alpha <> 0 OR sd <> 0) AS wrong FROM methods, LATERAL (SELECT 'topology' AS kind, (SELECT hmm_fit(x, 3, o || '{"topology": "left-to-right"}') AS m FROM short) UNION ALL SELECT 'init', (SELECT hmm_fit(x, 3, o || '{"init": {"transitions": [[0.5, 0.3, 0.2], [0, 0.5, 0.5], [0, 0, 1]]}}') FROM short)) f, hmm_transitions(m) WHERE to_state < from_state$$, 'zeros stay zeros');
SELECT never($$SELECT method, state, initial <> (state = 1)::int OR (state = 3) <> (dwell = 'Infinity') OR NOT near(stationary, (state = 3)::int) AS wrong FROM methods, LATERAL (SELECT hmm_fit(x, 3, o || '{"topology": "left-to-right"}') AS m FROM short) f, hmm_states(m)$$, 'left to right: begins at the left, ends at the right');
SELECT never($$SELECT method, u < before AS wrong FROM methods, LATERAL (SELECT hmm_fit(x, 3, o || '{"topology": "left-to-right"}') AS m FROM short) f, short, LATERAL (SELECT u, lag(u) OVER (ORDER BY i) AS before FROM unnest(hmm_decode(m, x)) WITH ORDINALITY v(u, i)) d WHERE before IS NOT NULL$$, 'and never turns back');
SELECT results_eq($$SELECT stationary FROM (SELECT hmm_fit(x, 2, '{"method": "em", "init": {"transitions": [[1, 0], [0, 1]]}}') AS m FROM short) f, hmm_states(m)$$, 'VALUES (NULL::float8), (NULL)', 'no stationary share where it depends on the beginning');
SELECT never($$SELECT method, e.state, init, abs(mean[1] - CASE jsonb_typeof(init->'means'->0) WHEN 'number' THEN 20 + 30 * e.state ELSE 110 - 30 * e.state END) > 15 AS wrong FROM methods, (VALUES ('{"means": [50, 80]}'::jsonb), ('{"means": [[80], [50]]}')) v(init), LATERAL (SELECT hmm_fit(waiting, 2, o || jsonb_build_object('init', init)) AS m FROM eruptions) f, hmm_emissions(m) e WHERE method <> 'gibbs'$$, 'states begin where init says, and keep their places');
-- Going on from a model.
SELECT never($$SELECT f.method, i.iterations, i.objective, o.objective, i.method <> f.method OR i.iterations > 5 OR i.objective < o.objective - 1e-9 * abs(o.objective) AS wrong FROM (SELECT method, hmm_fit(x, 2, options_of(method) || '{"max_iter": 500, "tol": 1e-7}' ORDER BY id) AS model FROM short, unnest('{em,map,vi}'::text[]) method GROUP BY 1) f, LATERAL (SELECT hmm_fit(x, model ORDER BY id) AS m FROM short) g, bayes_info(m) i, bayes_info(model) o$$, 'a fit that starts from a model has little left to do');
SELECT never($$SELECT f.data, f.method, o.method, (m IS NULL OR i.method <> o.method OR i.components <> 2) AS wrong FROM fits f, methods o, LATERAL (SELECT hmm_fit(waiting, model, options_of(o.method) - 'restarts') AS m FROM eruptions) g, bayes_info(m) i WHERE data = 'waiting'$$, 'by any method, from any other');
SELECT never($$SELECT data, method, m IS NULL AS wrong FROM fits f, LATERAL (SELECT CASE data WHEN 'mixed' THEN (SELECT hmm_fit(mixed, model) FROM eruptions) WHEN 'long' THEN (SELECT hmm_fit(long, model, '{}', 2) FROM eruptions) WHEN 'letters' THEN (SELECT hmm_fit(x, model, NULL) FROM letters) ELSE (SELECT hmm_fit(duo, model) FROM eruptions) END AS m) g WHERE method <> 'gibbs' AND (data IN ('mixed', 'long', 'letters') OR data LIKE 'duo%')$$, 'of every kind');
CREATE TABLE learnt AS SELECT hmm_update(x, (SELECT hmm_fit(x, 2) FROM short WHERE id <= 30)) AS m FROM short WHERE id > 30;
SELECT ok(near((SELECT sum(alpha - 1) FROM hmm_transitions(m)), (SELECT sum(cardinality(x) - 1) FROM short), 1e-6) AND near((SELECT sum(initial_alpha - 1) FROM hmm_states(m)), 60, 1e-6) AND near((SELECT sum(value[1] - 1) FROM hmm_posterior(m)), (SELECT sum(cardinality(x)) FROM short), 1e-6), 'an update counts the old sequences too') FROM learnt;
SELECT is((SELECT i.rows FROM learnt, bayes_info(m) i), 30::bigint, 'but has seen the new ones');
-- One state: learning in two steps is exact.
CREATE TABLE two AS SELECT hmm_update(waiting, (SELECT hmm_fit(waiting, 1) FROM eruptions WHERE day <= 2)) AS m FROM eruptions WHERE day > 2;
CREATE TABLE one AS SELECT hmm_fit(waiting, 1, (SELECT jsonb_build_object('prior', i.options->'prior') FROM (SELECT hmm_fit(waiting, 1) AS m FROM eruptions WHERE day <= 2) f, bayes_info(m) i)) AS m FROM eruptions;
SELECT never($$SELECT a.*, b.value, near(a.value, b.value, 1e-8) IS NOT TRUE AS wrong FROM (SELECT p.* FROM one, hmm_posterior(m) p) a FULL JOIN (SELECT p.* FROM two, hmm_posterior(m) p) b USING (state, parameter)$$, 'of one state, an update is exact');
-- The aggregate's manners.
SELECT never($$SELECT l, b <> (SELECT bits(hmm_fit(x, 2 ORDER BY id)) FROM short WHERE cardinality(x) = l) AS wrong FROM (SELECT cardinality(x) AS l, bits(hmm_fit(x, 2 ORDER BY id)) AS b FROM short GROUP BY 1) g$$, 'groups are fitted apart');
SELECT never($$SELECT id, b <> (SELECT bits(hmm_fit(x, 2, '{"restarts": 2}' ORDER BY id)) FROM short t WHERE t.id <= s.id) AS wrong FROM (SELECT id, bits(hmm_fit(x, 2, '{"restarts": 2}') OVER (ORDER BY id)) AS b FROM short WHERE id <= 20) s$$, 'over a growing frame: a state goes on after it was fitted');
SELECT never($$SELECT id, b <> (SELECT bits(hmm_fit(n, 2, '{"restarts": 2}' ORDER BY id)) FROM gaps t WHERE t.id BETWEEN s.id - 3 AND s.id) AS wrong FROM (SELECT id, bits(hmm_fit(n, 2, '{"restarts": 2}') OVER (ORDER BY id ROWS 3 PRECEDING)) AS b FROM gaps WHERE id <= 20) s$$, 'or a moving one');
SELECT same((SELECT bits(hmm_fit(x, 2) FILTER (WHERE id > 30)) FROM short), (SELECT bits(hmm_fit(x, 2)) FROM short WHERE id > 30), 'FILTER');
SELECT isnt((SELECT rounded(hmm_fit(x, 2, '{"method": "gibbs", "draws": 10, "seed": 2}')) FROM short), (SELECT rounded(hmm_fit(x, 2, '{"method": "gibbs", "draws": 10, "seed": 3}')) FROM short), 'another seed makes other draws');

-- ---- stored, written, read ----

SELECT never($$SELECT data, method, model::text::bayes_model::text <> model::text OR bayes_model_send(model::text::bayes_model) <> bayes_model_send(model) OR bayes_model_send((model::jsonb)::bayes_model) <> bayes_model_send(model) AS wrong FROM fits$$, 'text and back, to the last bit');
SELECT never($$SELECT data, method, (SELECT array_agg(s::text) FROM hmm_states(model) s) <> (SELECT array_agg(s::text) FROM hmm_states(back) s) OR (SELECT array_agg(s::text) FROM hmm_transitions(model) s) <> (SELECT array_agg(s::text) FROM hmm_transitions(back) s) OR (SELECT array_agg(s::text) FROM hmm_emissions(model) s) <> (SELECT array_agg(s::text) FROM hmm_emissions(back) s) AS wrong FROM fits, LATERAL (SELECT model::text::bayes_model AS back OFFSET 0) b$$, 'a model read back says the same');
SELECT never($$SELECT method, page, (hmm_probabilities(back, x) <> p OR hmm_decode(back, x) <> state) AS wrong FROM fits JOIN array_answers a USING (method) JOIN letters USING (page), LATERAL (SELECT model::text::bayes_model AS back OFFSET 0) b WHERE data = 'letters'$$, 'and answers the same, to the last bit');
SELECT never($$SELECT data, f.method, bits(model) <> (SELECT bits(hmm_fit(x, 2, i.options ORDER BY page)) FROM letters) AS wrong FROM fits f, bayes_info(model) i WHERE f.method <> 'gibbs' AND data = 'letters'$$, 'the options of bayes_info make the same model: letters');
SELECT never($$SELECT data, f.method, bits(model) <> (SELECT bits(hmm_fit(duo, 3, i.options ORDER BY day)) FROM eruptions) AS wrong FROM fits f, bayes_info(model) i WHERE data IN ('duo full', 'duo tied')$$, 'vectors');
SELECT never($$SELECT data, f.method, bits(model) <> (SELECT bits(hmm_fit(mixed, 2, i.options ORDER BY day)) FROM eruptions) AS wrong FROM fits f, bayes_info(model) i WHERE data = 'mixed'$$, 'mixed');
SELECT never($$SELECT data, f.method, bits(model) <> (SELECT bits(hmm_fit(x, i.components, i.options ORDER BY page)) FROM words) AS wrong FROM fits f, bayes_info(model) i WHERE data IN ('words', 'counts')$$, 'whole numbers');
CREATE TABLE one_thread AS SELECT data, method, bits(model) AS b FROM fits;
SET pg_bayes.threads = 2;
SELECT never($$SELECT method, b <> (SELECT bits(hmm_fit(x, 2, o ORDER BY page)) FROM letters) AS wrong FROM one_thread JOIN methods USING (method) WHERE data = 'letters'$$, 'two threads make the same as one');
RESET pg_bayes.threads;

-- ---- sequences that a model makes ----

SELECT results_eq($$SELECT count(*), min(t), max(t), count(DISTINCT t), count(x) FROM tiny, hmm_sample(m, 1000, 1)$$, 'VALUES (1000::bigint, 1, 1000, 1000::bigint, 0::bigint)', 'as many steps as were asked for');
SELECT same((SELECT array_agg(s)::text FROM tiny, hmm_sample(m, 50, 7) s), (SELECT array_agg(s)::text FROM tiny, hmm_sample(m, 50, 7) s), 'the same seed, the same sequence');
SELECT isnt((SELECT array_agg(s)::text FROM tiny, hmm_sample(m, 50, 7) s), (SELECT array_agg(s)::text FROM tiny, hmm_sample(m, 50, 8) s), 'another, another');
SELECT is_empty('SELECT * FROM tiny, hmm_sample(m, 0, 7)', 'no steps');
-- 100,000 steps: within 6 standard errors.
CREATE TABLE made AS SELECT t, state, lag(state) OVER (ORDER BY t) AS before, symbol FROM tiny, hmm_sample(m, 100000, 3);
SELECT never($$SELECT from_state, to_state, abs(p - probability) > 6 * sqrt(0.25 / n) AS wrong FROM tiny, hmm_transitions(m), LATERAL (SELECT avg((state = to_state)::int) AS p, count(*) AS n FROM made WHERE before = from_state) s$$, 'transitions as the model has them');
SELECT never($$SELECT e.state, e.symbol, abs(p - probability) > 6 * sqrt(0.25 / n) AS wrong FROM tiny, hmm_emissions(m) e, LATERAL (SELECT avg((symbol = e.symbol)::int) AS p, count(*) AS n FROM made WHERE made.state = e.state) s$$, 'and symbols');
SELECT never($$SELECT e.state, (abs(a - mean[1]) > 6 * sqrt(v / n) OR NOT near(v, covariance[1][1], 8 * sqrt(2.0 / n)) OR NOT near(c, covariance[1][2], 0.1 + abs(c) / 5)) AS wrong FROM fits, hmm_emissions(model) e, LATERAL (SELECT avg(x[1]) AS a, avg(x[2]) AS b, covar_pop(x[1], x[2]) AS c, var_pop(x[1]) AS v, count(*) AS n FROM hmm_sample(model, 20000, 1) s WHERE s.state = e.state) s WHERE data = 'duo full' AND method = 'em'$$, 'vectors have their means and covariances');
SELECT never($$SELECT data, method, t, (symbol IS NULL) <> (data NOT IN ('letters', 'words')) OR (x IS NULL) <> (data IN ('letters', 'words')) OR (data = 'long' AND x[1] NOT IN (0, 1)) OR (data = 'counts' AND x[1] <> floor(x[1])) OR (data = 'mixed' AND x[2] NOT IN (0, 1)) OR (data = 'exponential' AND x[1] < 0) AS wrong FROM fits, hmm_sample(model, 300, 1)$$, 'of every kind');
SELECT never($$SELECT t, state < before AS wrong FROM stairs, LATERAL (SELECT t, state, lag(state) OVER (ORDER BY t) AS before FROM hmm_sample(m, 500, 2)) s WHERE before IS NOT NULL$$, 'what cannot be is not made');
SELECT is((SELECT count(*) FROM fits, LATERAL (SELECT array_agg(symbol ORDER BY t) AS x FROM hmm_sample(model, 500, 1)) s WHERE data = 'letters' AND hmm_log_likelihood(model, x) < 0), 5::bigint, 'a model knows what it has made');

-- ---- what reviews found ----

-- A chain that hardly ever leaves a state: shares 2 : 1, to the last digits; one that stays for ever in either of two has none.
CREATE TABLE rare AS SELECT eps, hmm_fit(ARRAY['a', 'b'], 2, jsonb_build_object('method', 'em', 'max_iter', 0, 'init', jsonb_build_object('transitions', jsonb_build_array(jsonb_build_array(1 - eps, eps), jsonb_build_array(2 * eps, 1 - 2 * eps))))) AS m FROM unnest('{0,1e-12,1e-15,0.3}'::float8[]) eps GROUP BY eps;
SELECT never($$SELECT eps, state, eps > 0 AND NOT near(stationary, CASE state WHEN 1 THEN 2.0 ELSE 1.0 END / 3, 1e-9) OR NOT near(dwell, CASE WHEN eps = 0 THEN 'Infinity' ELSE 1 / (state * eps) END, 1e-9) OR (eps = 0) <> (stationary IS NULL) AS wrong FROM rare, hmm_states(m)$$, 'rare transitions keep their digits');
-- Symbols and starts do not depend on the order in which sequences come.
CREATE TABLE orders AS SELECT hmm_fit(x, 2, '{"restarts": 3}' ORDER BY page) AS there, hmm_fit(x, 2, '{"restarts": 3}' ORDER BY page DESC) AS back FROM letters;
SELECT same((SELECT there::jsonb->'symbols' FROM orders), (SELECT back::jsonb->'symbols' FROM orders), 'symbols stand in one order');
SELECT never($$SELECT a.state, symbol, NOT near(a.probability, b.probability, 1e-4) AS wrong FROM orders, hmm_emissions(there) a JOIN LATERAL hmm_emissions(back) b USING (state, symbol)$$, 'and have the same probabilities');
-- Many short sequences: a sample has some 2000 steps.
SELECT is((hmm_fit(ARRAY[i % 2, 1, 0], 2, '{"method": "svi", "max_iter": 1}')::jsonb->'options'->>'batch_size')::int, 667, 'samples grow where sequences are short') FROM generate_series(1, 5000) i;

SELECT * FROM finish();
