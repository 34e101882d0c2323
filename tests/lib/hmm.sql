-- What the SQL tests of hidden Markov models share: sequences from real data, fits of them by every
-- method, two models of given numbers, and sequences made up. Read by psql's \ir.
\ir checks.sql
SET client_min_messages = error;

-- All of a model that could differ.
-- But for the time, and for what of the prior was given and not found.
CREATE FUNCTION bits(model bayes_model) RETURNS text
  RETURN (model::jsonb - '{seconds,given_prior}'::text[])::text;
-- What it says: chain and emissions, rounded.
CREATE FUNCTION rounded(model bayes_model, digits int DEFAULT 6) RETURNS text RETURN
  (SELECT string_agg(round(initial::numeric, digits)::text, ' ' ORDER BY state)
    FROM hmm_states(model)) || '; ' || (SELECT string_agg(round(probability::numeric, digits)::text,
    ' ' ORDER BY from_state, to_state) FROM hmm_transitions(model)) || '; ' ||
  (SELECT string_agg(coalesce(symbol || ' ' || round(probability::numeric, digits),
    (SELECT string_agg(round(v::numeric, digits)::text, ' ') FROM unnest(mean || covariance) v)),
    ', ' ORDER BY state, element, symbol) FROM hmm_emissions(model));
CREATE FUNCTION row_of(m float8[], i int) RETURNS float8[] IMMUTABLE
  RETURN (SELECT array_agg(m[i][j] ORDER BY j) FROM generate_subscripts(m, 2) j);
CREATE TABLE nothing (id int, x float8[]);

-- ---- sequences: names, numbers, vectors, booleans, counts ----

CREATE TABLE letters AS SELECT page, string_to_array(left(trim(BOTH '_'
  FROM regexp_replace(lower(body), '[^a-z]+', '_', 'g')), 3000), NULL) AS x FROM tutorial;
CREATE TABLE words AS SELECT page, array_agg(least(length(w), 12) ORDER BY i) AS x
  FROM tutorial, regexp_split_to_table(body, '\W+') WITH ORDINALITY AS s(w, i) WHERE w <> ''
  GROUP BY page;
CREATE TABLE eruptions AS SELECT t / 60 AS day, array_agg(waiting ORDER BY t) AS waiting,
  array_agg(duration > 3 ORDER BY t) AS long, array_agg(ARRAY[waiting, duration] ORDER BY t) AS duo,
  array_agg(ARRAY[waiting, (duration > 3)::int] ORDER BY t) AS mixed FROM geyser GROUP BY 1;
CREATE TABLE returns AS SELECT array_agg(ARRAY[d, s, c, f] ORDER BY day) AS x,
  array_agg(d ORDER BY day) AS dax FROM
  (SELECT day, 100 * ln(dax / lag(dax) OVER w) AS d, 100 * ln(smi / lag(smi) OVER w) AS s,
    100 * ln(cac / lag(cac) OVER w) AS c, 100 * ln(ftse / lag(ftse) OVER w) AS f
    FROM eustockmarkets WINDOW w AS (ORDER BY day)) AS r WHERE d IS NOT NULL;
CREATE FUNCTION options_of(method text) RETURNS jsonb RETURN jsonb_build_object('method', method)
  || CASE method WHEN 'gibbs' THEN '{"draws": 20, "chains": 2}'
  WHEN 'svi' THEN '{"restarts": 2, "max_iter": 40}'
  ELSE '{"restarts": 2, "max_iter": 30, "tol": 0.03}' END::jsonb;
CREATE TABLE methods AS SELECT method, options_of(method) AS o
  FROM unnest('{em,map,vi,svi,gibbs}'::text[]) method;
CREATE TABLE fits AS
  SELECT 'letters' AS data, method, (SELECT hmm_fit(x, 2, o ORDER BY page) FROM letters) AS model
    FROM methods
  UNION ALL SELECT 'words', method, (SELECT hmm_fit(x, 3, o ORDER BY page) FROM words) FROM methods
  UNION ALL SELECT 'counts', method, (SELECT hmm_fit(x, 2, o || '{"emission": "poisson"}'
    ORDER BY page) FROM words) FROM methods
  UNION ALL SELECT 'waiting', method, (SELECT hmm_fit(waiting, 2, o ORDER BY day) FROM eruptions)
    FROM methods
  UNION ALL SELECT 'exponential', method, (SELECT hmm_fit(waiting, 2,
    o || '{"emission": "exponential"}' ORDER BY day) FROM eruptions) FROM methods
  UNION ALL SELECT 'long', method, (SELECT hmm_fit(long, 2, o ORDER BY day) FROM eruptions)
    FROM methods
  UNION ALL SELECT 'duo ' || c, method, (SELECT hmm_fit(duo, 3,
    o || jsonb_build_object('covariance', c) ORDER BY day) FROM eruptions)
    FROM methods, unnest('{full,diagonal,spherical,tied}'::text[]) c
  UNION ALL SELECT 'mixed', method, (SELECT hmm_fit(mixed, 2,
    o || '{"emission": ["normal", "bernoulli"]}' ORDER BY day) FROM eruptions) FROM methods
  UNION ALL SELECT 'returns', method, (SELECT hmm_fit(x, 2, o) FROM returns) FROM methods;

-- A model of what is given: nothing is learned in no iteration.
CREATE TABLE tiny AS SELECT hmm_fit(x, 2, '{"method": "em", "max_iter": 0, "init": {"initial": '
  '[0.6, 0.4], "transitions": [[0.7, 0.3], [0.2, 0.8]], "probabilities": [{"a": 0.9, "b": 0.1}, '
  '{"a": 0.25, "b": 0.75}]}}') AS m FROM (VALUES ('{a,b,b}'::text[])) v(x);
-- States that are left in one direction only.
CREATE TABLE stairs AS SELECT hmm_fit(x, 3, '{"method": "em", "topology": "left-to-right", '
  '"max_iter": 5}') AS m FROM (VALUES ('{a,a,b,b,c,c}'::text[]), ('{a,b,b,b,c}')) v(x);
