-- What goes into a fit of a hidden Markov model: types, lengths, missing steps, known states,
-- zeros,
-- other models; and the aggregate's manners.
SELECT plan(51);
\ir ../lib/hmm.sql

CREATE TABLE init AS SELECT '{"initial": [0.5, 0.5], "transitions": [[0.7, 0.3], [0.2, 0.8]], '
  '"probabilities": [{"a": 0.6, "b": 0.3}, {"a": 0.2, "b": 0.3}]}'::jsonb AS i;
CREATE TABLE short AS SELECT id, (SELECT array_agg(substr('abcab', 1 + (id * i * i + i / 3) % 5, 1)
  ORDER BY i) FROM generate_series(1, 2 + id % 9) i) AS x, 1 + id % 3 AS w
  FROM generate_series(1, 60) id;
SELECT results_eq($$SELECT state, symbol, round(probability::numeric, 12)
  FROM (SELECT hmm_fit(x, 2, jsonb_build_object('method', 'em', 'max_iter', 0, 'init', i)) AS m
  FROM short, init) f, hmm_emissions(m) ORDER BY 1, 2$$, $$VALUES (1, 'a', 0.6), (1, 'b', 0.3),
  (1, 'c', 0.1), (2, 'a', 0.2), (2, 'b', 0.3), (2, 'c', 0.5)$$,
  'symbols that init does not name share what is left');
SELECT same((SELECT rounded(hmm_fit(x, 2, o, w)) FROM short), (SELECT rounded(hmm_fit(x, 2, o))
  FROM short, generate_series(1, w)), 'a weight is a number of repetitions: ' || (o->>'method'))
  FROM init, LATERAL (SELECT jsonb_build_object('method', m, 'init', i, 'tol', 0, 'max_iter',
    10) AS o FROM unnest('{em,map,vi}'::text[]) m) os;
SELECT same((SELECT bits(hmm_fit(x, 2, '{}', CASE WHEN id % 4 > 0 THEN 1 END)) FROM short),
  (SELECT replace(bits(hmm_fit(x, 2, '{}', 1)), '"skipped": 0', '"skipped": 15') FROM short
  WHERE id % 4 > 0), 'a NULL weight leaves the sequence out');
SELECT same((SELECT bits(hmm_fit(x, 2, '{}', CASE WHEN id % 4 > 0 THEN 1 ELSE 0 END)) FROM short),
  (SELECT replace(bits(hmm_fit(x, 2, '{}', 1)), '"skipped": 0', '"skipped": 15') FROM short
  WHERE id % 4 > 0), 'so does one of 0');
SELECT same((SELECT bits(hmm_fit(CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE x END, 2))
  FROM short), (SELECT replace(bits(hmm_fit(x, 2)), '"skipped": 0', '"skipped": 30') FROM short
  WHERE id % 4 > 1), 'and NULL and empty sequences have no say');
SELECT results_eq($$SELECT i.rows, i.skipped FROM (SELECT hmm_fit(CASE id % 4 WHEN 0 THEN NULL
  WHEN 1 THEN '{}' ELSE x END, 2) AS m FROM short) f, bayes_info(m) i$$,
  'VALUES (30::bigint, 30::bigint)', 'but are counted');
SELECT ok((SELECT hmm_fit(x, 2) FROM nothing) IS NULL AND (SELECT hmm_fit(NULL::text[], 2, '{}')
  FROM short) IS NULL AND (SELECT hmm_fit('{}'::int[], 2, '{}', 1) FROM short) IS NULL
  AND (SELECT hmm_fit(x, 2, '{}', NULL) FROM short) IS NULL AND (SELECT hmm_fit(x, NULL::int[], 2)
  FROM nothing) IS NULL, 'nothing to fit: NULL');
SELECT ok((SELECT hmm_fit(x, m) FROM nothing, tiny) IS NULL AND (SELECT hmm_update(x, m)
  FROM nothing, tiny) IS NULL AND (SELECT hmm_fit(NULL::text[], m, '{}', 1) FROM short, tiny) IS
  NULL, 'or to learn from');
SELECT same((SELECT bits(hmm_fit(x, 2, NULL)) FROM short), (SELECT bits(hmm_fit(x, 2)) FROM short),
  'options NULL are options left out');
SELECT same((SELECT bits(hmm_fit(x, 2, '{"method": null, "emission": null, "prior": null, "init": '
  'null, "topology": null, "restarts": null}')) FROM short), (SELECT bits(hmm_fit(x, 2))
  FROM short), 'so is a key whose value is null');
SELECT same((SELECT bits(hmm_fit(('[3:' || 2 + cardinality(x) || ']=' || x::text)::text[], 2))
  FROM short), (SELECT bits(hmm_fit(x, 2)) FROM short), 'lower bounds do not matter');
SELECT same((SELECT rounded(hmm_fit(x::varchar[], 2)) FROM short), (SELECT rounded(hmm_fit(x, 2))
  FROM short), 'varchar[]');
CREATE DOMAIN word AS text[];
SELECT same((SELECT rounded(hmm_fit(x::word, 2)) FROM short), (SELECT rounded(hmm_fit(x, 2))
  FROM short), 'a domain');
SELECT same((SELECT bits(hmm_fit(x, 3, '{"restarts": 2, "max_iter": 30}' ORDER BY page))
  FROM words), (SELECT bits(hmm_fit(x::bigint[], 3, '{"restarts": 2, "max_iter": 30}'
  ORDER BY page)) FROM words), 'whole numbers are names');
SELECT same((SELECT bits(hmm_fit(x::text[], 3, '{"restarts": 2, "max_iter": 30}' ORDER BY page))
  FROM words), (SELECT bits(hmm_fit(x::bigint[], 3, '{"restarts": 2, "max_iter": 30}'
  ORDER BY page)) FROM words), 'by their text');
SELECT same((SELECT bits(hmm_fit(waiting::real[], 2 ORDER BY day)) FROM eruptions),
  (SELECT bits(hmm_fit(waiting::numeric[], 2 ORDER BY day)) FROM eruptions), 'numbers are numbers');
SELECT same((SELECT bits(hmm_fit(long, 2)) FROM eruptions),
  (SELECT bits(hmm_fit(ARRAY(SELECT l::int FROM unnest(long) WITH ORDINALITY u(l, i) ORDER BY i), 2,
  '{"emission": "bernoulli"}')) FROM eruptions), 'booleans are 1 and 0');
SELECT is((SELECT string_agg(symbol, ' ' ORDER BY symbol)
  FROM (SELECT hmm_fit(x, 1) AS m FROM (VALUES (ARRAY['2026-11-21', NULL, '2026-11-22']::date[]))
  v(x)) f, hmm_emissions(m)), '2026-11-21 2026-11-22', 'anything else is a name by its text');
SELECT is((SELECT string_agg(symbol, '|' ORDER BY symbol COLLATE "C")
  FROM (SELECT hmm_fit(x, 1) AS m FROM (VALUES
  (ARRAY['', ' ', E'\n', 'é', '"', repeat('x', 10000)])) v(x)) f, hmm_emissions(m)),
  E'|' || E'\n| |"|' || repeat('x', 10000) || '|é', 'strange names');
SELECT is((SELECT count(*) FROM (SELECT hmm_fit(ARRAY(SELECT md5(i::text)
  FROM generate_series(1, 10000) i), 1, '{"method": "em"}') AS m) f, hmm_emissions(m)),
  10000::bigint, 'ten thousand names');
-- One step, one sequence, more states than steps, no variation, by every method.
SELECT never($$SELECT method, n, k, m IS NULL OR NOT near((SELECT sum(visits) FROM hmm_states(m)),
  n, 1e-6) OR cardinality(hmm_decode(m, '{a,b,a,b}'::text[])) <> 4 AS wrong
  FROM methods, unnest('{1,2,3}'::int[]) n, unnest('{1,5}'::int[]) k,
  LATERAL (SELECT hmm_fit(x[1:n], k, o) AS m FROM (VALUES ('{a,b,a}'::text[])) v(x)) f$$,
  'more states than steps: names');
SELECT never($$SELECT method, n, k, e, m IS NULL
  OR NOT near((SELECT sum(visits) FROM hmm_states(m)), n, 1e-6) AS wrong
  FROM methods, unnest('{1,2,3}'::int[]) n, unnest('{1,5}'::int[]) k,
  unnest('{"\"normal\"","[\"normal\"]","\"poisson\"","\"exponential\"","\"categorical\""}'::jsonb[])
  e, LATERAL (SELECT hmm_fit(x[1:n], k, o || jsonb_build_object('emission', e)) AS m
  FROM (VALUES ('{3,1,2}'::float8[])) v(x)) f$$, 'numbers');
SELECT never($$SELECT method, k, c, m IS NULL AS wrong FROM methods, unnest('{1,4}'::int[]) k,
  unnest('{full,diagonal,spherical,tied}'::text[]) c,
  LATERAL (SELECT hmm_fit(x, k, o || jsonb_build_object('covariance', c)) AS m
  FROM (VALUES ('{{3,3},{3,3},{3,3}}'::float8[]), ('{{3,3}}')) v(x)) f$$,
  'observations that are all alike');
SELECT never($$SELECT method, m IS NULL OR NOT near((SELECT sum(visits) FROM hmm_states(m)), 4,
  1e-6) AS wrong FROM methods, LATERAL (SELECT hmm_fit(x, 2, o) AS m
  FROM (VALUES (ARRAY[NULL, NULL, 'a']), (ARRAY[NULL]::text[])) v(x)) f$$,
  'hardly any observation');
-- Missing steps.

CREATE TABLE gaps AS SELECT id, ARRAY(SELECT CASE WHEN (id + i) % 3 > 0 THEN s END
  FROM unnest(x) WITH ORDINALITY u(s, i) ORDER BY i) AS x,
  ARRAY(SELECT CASE WHEN (id + i) % 3 > 0 THEN ascii(s) + sin(i) END
  FROM unnest(x) WITH ORDINALITY u(s, i) ORDER BY i) AS n FROM short;
SELECT never($$SELECT method, log_likelihood, l, NOT near(log_likelihood, l) AS wrong
  FROM (SELECT o.method, m, log_likelihood FROM methods o, LATERAL (SELECT hmm_fit(x, 2, o) AS m
  FROM gaps) f, bayes_info(m) i WHERE o.method <> 'gibbs') f,
  LATERAL (SELECT sum(hmm_log_likelihood(m, x)) AS l FROM gaps) g$$,
  'missing steps are summed out, in fits as in answers');
SELECT never($$SELECT log_likelihood, l, NOT near(log_likelihood, l) AS wrong
  FROM (SELECT hmm_fit(n, 2, '{"method": "em"}') AS m FROM gaps) f, bayes_info(m) i,
  LATERAL (SELECT sum(hmm_log_likelihood(m, n)) AS l FROM gaps) g$$, 'numbers too');
SELECT is((SELECT hmm_fit(x, 2, '{"missing": "error"}') IS NOT NULL FROM short), true,
  'missing = error has nothing against sequences that are complete');
-- Known states.
CREATE TABLE labelled AS SELECT id, x, ARRAY(SELECT 1 + ((id + i) % 5 > 2)::int
  FROM generate_series(1, cardinality(x)) i ORDER BY i) AS s FROM short;
CREATE TABLE counted AS SELECT hmm_fit(x, s, 2, '{"method": "em", "minimum": 1e-12}') AS m
  FROM labelled;
SELECT never($$SELECT t.*, NOT near(count, n) OR NOT near(probability, n / "all") AS wrong
  FROM counted, hmm_transitions(m) t LEFT JOIN (SELECT a, b, count(*) AS n,
  sum(count(*)) OVER (PARTITION BY a) AS all FROM labelled,
  LATERAL (SELECT u AS b, lag(u) OVER (ORDER BY i) AS a FROM unnest(s) WITH ORDINALITY v(u, i)) w
  WHERE a IS NOT NULL GROUP BY 1, 2) c ON (a, b) = (from_state, to_state)$$,
  'known states are counted: transitions');
SELECT never($$SELECT e.*, NOT near(probability, n / "all", 1e-8) AS wrong
  FROM counted, hmm_emissions(m) e LEFT JOIN (SELECT u, o, count(*) AS n,
  sum(count(*)) OVER (PARTITION BY u) AS all FROM labelled, unnest(x, s) v(o, u) GROUP BY 1, 2) c
  ON (u, o) = (state, symbol)$$, 'emissions');
SELECT never($$SELECT t.*, NOT near(initial, p, 1e-8) OR NOT near(visits, n) AS wrong
  FROM counted, hmm_states(m) t LEFT JOIN (SELECT s[1] AS u, count(*) / 60.0 AS p FROM labelled
  GROUP BY 1) c ON u = state LEFT JOIN (SELECT u, count(*) AS n FROM labelled, unnest(s) u
  GROUP BY 1) v USING (u)$$, 'initial and visits, states keeping their numbers');
SELECT same((SELECT rounded(hmm_fit(x, NULL::int[], 2)) FROM labelled),
  (SELECT rounded(hmm_fit(x, CASE id % 2 WHEN 0 THEN array_fill(0, ARRAY[cardinality(x)])
  ELSE array_fill(NULL::int, ARRAY[cardinality(x)]) END, 2)) FROM labelled),
  'no state known, in three ways of saying so');
SELECT never($$SELECT method, visits, visits < n - 1e-6 AS wrong FROM methods,
  LATERAL (SELECT hmm_fit(x, CASE WHEN id % 3 > 0 THEN ARRAY(SELECT CASE WHEN i % 2 = 0 THEN u END
  FROM unnest(s) WITH ORDINALITY v(u, i) ORDER BY i) END, 2, o) AS m FROM labelled) f,
  hmm_states(m), (SELECT u, count(*) AS n FROM labelled, unnest(s) WITH ORDINALITY v(u, i)
  WHERE id % 3 > 0 AND i % 2 = 0 GROUP BY 1) c WHERE u = state$$, 'some of them, by every method');
SELECT never($$SELECT method, NOT near(mean, ARRAY[w, d], 0.01) AS wrong FROM methods,
  LATERAL (SELECT hmm_fit(duo, ARRAY(SELECT 1 + (duo[i][2] <= 3)::int
  FROM generate_subscripts(duo, 1) i ORDER BY i), 2, o) AS m FROM eruptions) f, hmm_emissions(m),
  LATERAL (SELECT avg(waiting) AS w, avg(duration) AS d FROM geyser
  WHERE (duration <= 3) = (state = 2)) g$$, 'of vectors: means of those that are known');
-- What cannot be stays impossible.
SELECT never($$SELECT method, kind, from_state, to_state, (probability <> 0 OR count <> 0
  OR coalesce(alpha, 0) <> 0 OR coalesce(sd, 0) <> 0) AS wrong FROM methods,
  LATERAL (SELECT 'topology' AS kind, (SELECT hmm_fit(x, 3, o || '{"topology": "left-to-right"}')
  AS m FROM short) UNION ALL SELECT 'init', (SELECT hmm_fit(x, 3,
  o || '{"init": {"transitions": [[0.5, 0.3, 0.2], [0, 0.5, 0.5], [0, 0, 1]]}}') FROM short)) f,
  hmm_transitions(m) WHERE to_state < from_state$$, 'zeros stay zeros');
SELECT never($$SELECT method, state, initial <> (state = 1)::int
  OR (state = 3) <> (dwell = 'Infinity') OR NOT near(stationary, (state = 3)::int) AS wrong
  FROM methods, LATERAL (SELECT hmm_fit(x, 3, o || '{"topology": "left-to-right"}') AS m FROM short)
  f, hmm_states(m)$$, 'left to right: begins at the left, ends at the right');
SELECT never($$SELECT method, u < before AS wrong FROM methods,
  LATERAL (SELECT hmm_fit(x, 3, o || '{"topology": "left-to-right"}') AS m FROM short) f, short,
  LATERAL (SELECT u, lag(u) OVER (ORDER BY i) AS before
  FROM unnest(hmm_decode(m, x)) WITH ORDINALITY v(u, i)) d WHERE before IS NOT NULL$$,
  'and never turns back');
SELECT results_eq($$SELECT stationary FROM (SELECT hmm_fit(x, 2,
  '{"method": "em", "init": {"transitions": [[1, 0], [0, 1]]}}') AS m FROM short) f,
  hmm_states(m)$$, 'VALUES (NULL::float8), (NULL)',
  'no stationary share where it depends on the beginning');
SELECT never($$SELECT method, e.state, init, abs(mean[1] - CASE jsonb_typeof(init->'means'->0)
  WHEN 'number' THEN 20 + 30 * e.state ELSE 110 - 30 * e.state END) > 15 AS wrong
  FROM methods, (VALUES ('{"means": [50, 80]}'::jsonb), ('{"means": [[80], [50]]}')) v(init),
  LATERAL (SELECT hmm_fit(waiting, 2, o || jsonb_build_object('init', init)) AS m FROM eruptions) f,
  hmm_emissions(m) e WHERE method <> 'gibbs'$$,
  'states begin where init says, and keep their places');
-- Going on from a model.
SELECT never($$SELECT f.method, i.iterations, i.objective, o.objective, i.method <> f.method
  OR i.iterations > 5 OR i.objective < o.objective - 1e-9 * abs(o.objective) AS wrong
  FROM (SELECT method, hmm_fit(x, 2, options_of(method) || '{"max_iter": 10000, "tol": 1e-7}'
  ORDER BY id) AS model FROM short, unnest('{em,map,vi}'::text[]) method GROUP BY 1) f,
  LATERAL (SELECT hmm_fit(x, model ORDER BY id) AS m FROM short) g, bayes_info(m) i,
  bayes_info(model) o$$, 'a fit that starts from a model has little left to do');
SELECT never($$SELECT f.data, f.method, o.method, (m IS NULL OR i.method <> o.method
  OR i.components <> 2) AS wrong FROM fits f, methods o,
  LATERAL (SELECT hmm_fit(waiting, model, options_of(o.method) - 'restarts') AS m FROM eruptions) g,
  bayes_info(m) i WHERE data = 'waiting'$$, 'by any method, from any other');
SELECT never($$SELECT data, method, m IS NULL AS wrong FROM fits f,
  LATERAL (SELECT CASE data WHEN 'mixed' THEN (SELECT hmm_fit(mixed, model) FROM eruptions)
  WHEN 'long' THEN (SELECT hmm_fit(long, model, '{}', 2) FROM eruptions)
  WHEN 'letters' THEN (SELECT hmm_fit(x[1:500], model, NULL) FROM letters)
  ELSE (SELECT hmm_fit(duo, model) FROM eruptions) END AS m) g WHERE method <> 'gibbs'
  AND (data IN ('mixed', 'long', 'letters') OR data LIKE 'duo%')$$, 'of every kind');
CREATE TABLE learnt AS SELECT hmm_update(x, (SELECT hmm_fit(x, 2) FROM short WHERE id <= 30)) AS m
  FROM short WHERE id > 30;
SELECT ok(near((SELECT sum(alpha - 1) FROM hmm_transitions(m)), (SELECT sum(cardinality(x) - 1)
  FROM short), 1e-6) AND near((SELECT sum(initial_alpha - 1) FROM hmm_states(m)), 60, 1e-6)
  AND near((SELECT sum(value[1] - 1) FROM hmm_posterior(m)), (SELECT sum(cardinality(x))
  FROM short), 1e-6), 'an update counts the old sequences too') FROM learnt;
SELECT is((SELECT i.rows FROM learnt, bayes_info(m) i), 30::bigint, 'but has seen the new ones');
-- One state: learning in two steps is exact.
CREATE TABLE two AS SELECT hmm_update(waiting, (SELECT hmm_fit(waiting, 1) FROM eruptions
  WHERE day <= 2)) AS m FROM eruptions WHERE day > 2;
CREATE TABLE one AS SELECT hmm_fit(waiting, 1,
  (SELECT jsonb_build_object('prior', i.options->'prior') FROM (SELECT hmm_fit(waiting, 1) AS m
  FROM eruptions WHERE day <= 2) f, bayes_info(m) i)) AS m FROM eruptions;
SELECT never($$SELECT a.*, b.value, near(a.value, b.value, 1e-8) IS NOT TRUE AS wrong
  FROM (SELECT p.* FROM one, hmm_posterior(m) p) a
  FULL JOIN (SELECT p.* FROM two, hmm_posterior(m) p) b USING (state, parameter)$$,
  'of one state, an update is exact');
-- The aggregate's manners.
SELECT never($$SELECT l, b <> (SELECT bits(hmm_fit(x, 2 ORDER BY id)) FROM short
  WHERE cardinality(x) = l) AS wrong FROM (SELECT cardinality(x) AS l,
  bits(hmm_fit(x, 2 ORDER BY id)) AS b FROM short GROUP BY 1) g$$, 'groups are fitted apart');
SELECT never($$SELECT id, b <> (SELECT bits(hmm_fit(x, 2, '{"restarts": 2}' ORDER BY id))
  FROM short t WHERE t.id <= s.id) AS wrong FROM (SELECT id,
  bits(hmm_fit(x, 2, '{"restarts": 2}') OVER (ORDER BY id)) AS b FROM short WHERE id <= 20) s$$,
  'over a growing frame: a state goes on after it was fitted');
SELECT never($$SELECT id, b <> (SELECT bits(hmm_fit(n, 2, '{"restarts": 2}' ORDER BY id))
  FROM gaps t WHERE t.id BETWEEN s.id - 3 AND s.id) AS wrong
  FROM (SELECT id, bits(hmm_fit(n, 2, '{"restarts": 2}') OVER (ORDER BY id ROWS 3 PRECEDING)) AS b
  FROM gaps WHERE id <= 20) s$$, 'or a moving one');
SELECT same((SELECT bits(hmm_fit(x, 2) FILTER (WHERE id > 30)) FROM short),
  (SELECT bits(hmm_fit(x, 2)) FROM short WHERE id > 30), 'FILTER');
SELECT isnt((SELECT rounded(hmm_fit(x, 2, '{"method": "gibbs", "draws": 10, "seed": 2}'))
  FROM short), (SELECT rounded(hmm_fit(x, 2, '{"method": "gibbs", "draws": 10, "seed": 3}'))
  FROM short), 'another seed makes other draws');

SELECT * FROM finish();
