-- Hidden Markov models as window functions and as a relation, against the functions of arrays.
SELECT plan(37);
\ir ../lib/hmm.sql

-- ---- windows: a row for every step ----

CREATE TABLE rows AS SELECT page, t::int, letter
  FROM letters, unnest(x) WITH ORDINALITY AS u(letter, t) WHERE page < 'tutorial-d';
CREATE TABLE window_answers AS SELECT method, page, t, hmm_decode(model, letter) OVER w AS state,
  hmm_probabilities(model, letter) OVER w AS p, hmm_filter(model, letter) OVER w AS f
  FROM fits, rows WHERE data = 'letters' WINDOW w AS (PARTITION BY method, page ORDER BY t);
CREATE TABLE array_answers AS SELECT method, page, hmm_decode(model, x) AS state,
  hmm_probabilities(model, x) AS p, hmm_filter(model, x) AS f FROM fits, letters
  WHERE data = 'letters' AND page IN (SELECT page FROM rows);
SELECT never($$SELECT method, page, t, w.state IS DISTINCT FROM a.state[t]
  OR w.p IS DISTINCT FROM row_of(a.p, t) OR w.f IS DISTINCT FROM row_of(a.f, t) AS wrong
  FROM window_answers w JOIN array_answers a USING (method, page)$$,
  'windows say what arrays say, to the last bit');
SELECT is((SELECT count(*) FROM window_answers WHERE state IN (1, 2) AND p IS NOT NULL
  AND f IS NOT NULL), 5 * (SELECT count(*) FROM rows), 'for every row');
CREATE TABLE portion AS SELECT m, page, t, letter FROM rows, (SELECT model AS m FROM fits
  WHERE data = 'letters' AND method = 'em') f WHERE t <= 200;
SELECT never(format($$SELECT page, t, a IS DISTINCT FROM b OR c IS DISTINCT FROM d
  OR e IS DISTINCT FROM f AS wrong FROM (SELECT page, t, hmm_decode(m, letter) OVER v AS a,
  hmm_decode(m, letter) OVER w AS b, hmm_probabilities(m, letter) OVER v AS c,
  hmm_probabilities(m, letter) OVER w AS d, hmm_filter(m, letter) OVER v AS e, hmm_filter(m, letter)
  OVER w AS f FROM portion
  WINDOW v AS (PARTITION BY page ORDER BY t), w AS (PARTITION BY page ORDER BY t %s)) s$$, frame),
    'frame: ' || frame)
  FROM unnest('{ROWS BETWEEN 5 PRECEDING AND CURRENT ROW,ROWS BETWEEN CURRENT ROW '
    'AND UNBOUNDED FOLLOWING,ROWS BETWEEN 3 FOLLOWING AND 2 FOLLOWING,RANGE BETWEEN 1 PRECEDING '
    'AND 1 FOLLOWING,GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW,ROWS BETWEEN '
    'UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES}'::text[]) frame;
SELECT same_rows($$SELECT t, hmm_decode(m, o) OVER w, hmm_probabilities(m, o) OVER w,
  hmm_filter(m, o) OVER w FROM tiny, unnest('{a,NULL,b,NULL}'::text[]) WITH ORDINALITY u(o, t)
  WINDOW w AS (ORDER BY t)$$, $$SELECT t::bigint, (hmm_decode(m, x))[t],
  row_of(hmm_probabilities(m, x), t), row_of(hmm_filter(m, x), t)
  FROM tiny, (SELECT '{a,NULL,b,NULL}'::text[] AS x) a, generate_series(1, 4) t$$,
  'NULL observations are missing, and have results');
SELECT same_rows($$SELECT hmm_decode(m, o) OVER (ORDER BY t NULLS FIRST)
  FROM tiny, (VALUES (1, 'b'), (2, 'b'), (NULL, 'a')) v(t, o) ORDER BY t NULLS FIRST$$,
  $$SELECT unnest(hmm_decode(m, '{a,b,b}'::text[])) FROM tiny$$,
  'NULL order keys are in the order of the window');
SELECT same_rows('SELECT hmm_decode(m, o) OVER (), hmm_filter(m, o) OVER (), hmm_probabilities(m, '
  'o) OVER () FROM tiny, (VALUES (NULL::text)) v(o)', $$SELECT 1, p, p
  FROM (SELECT array_agg(initial ORDER BY state) AS p FROM tiny, hmm_states(m)) s$$,
  'one row, of which nothing is known');
SELECT results_eq($$SELECT o, count(*), min(d), max(d), count(DISTINCT p), all_true(near(p, f))
  FROM (SELECT o, hmm_decode(m, o) OVER w AS d, hmm_probabilities(m, o) OVER w AS p,
  hmm_filter(m, o) OVER w AS f FROM tiny, (SELECT id, chr(97 + id % 2) AS o
  FROM generate_series(1, 20000) id) r WINDOW w AS (PARTITION BY id)) s GROUP BY o ORDER BY o$$,
  $$VALUES ('a', 10000::bigint, 1, 1, 1::bigint, true), ('b', 10000, 2, 2, 1, true)$$,
  'twenty thousand partitions of one row');
SELECT is_empty('SELECT hmm_decode(m, letter) OVER () FROM portion WHERE false', 'no rows');
SELECT same_rows($$SELECT count(*), count(d), count(p), count(f)
  FROM (SELECT hmm_decode(NULL, letter) OVER () AS d, hmm_probabilities(NULL, letter) OVER () AS p,
  hmm_filter(NULL, letter) OVER () AS f FROM portion) s$$,
  'SELECT count(*), 0::bigint, 0::bigint, 0::bigint FROM portion', 'a NULL model gives NULLs');
SELECT same_rows($$SELECT page, count(d), count(p), count(f)
  FROM (SELECT page, hmm_decode(n, letter) OVER w AS d, hmm_probabilities(n, letter) OVER w AS p,
  hmm_filter(n, letter) OVER w AS f FROM (SELECT *, CASE WHEN page <> 'tutorial-agg' THEN m END AS n
  FROM portion) s WINDOW w AS (PARTITION BY page ORDER BY t)) s GROUP BY 1 ORDER BY 1$$,
  $$SELECT page, n, n, n FROM (SELECT page, count(*) FILTER (WHERE page <> 'tutorial-agg') AS n
    FROM portion GROUP BY 1) s ORDER BY 1$$, 'even for one partition between others');
SELECT never($$SELECT p.page, p.d <> a.d[t] AS wrong
  FROM (SELECT page, t, hmm_decode(model, letter) OVER (PARTITION BY page ORDER BY t) AS d
  FROM portion JOIN (SELECT row_number() OVER (ORDER BY method) AS n, model FROM fits
  WHERE data = 'letters') f ON n = 1 + length(page) % 5) p
  JOIN (SELECT page, hmm_decode(model, x) AS d FROM (SELECT page, array_agg(letter ORDER BY t) AS x
  FROM portion GROUP BY 1) s JOIN (SELECT row_number() OVER (ORDER BY method) AS n, model FROM fits
  WHERE data = 'letters') f ON n = 1 + length(page) % 5) a USING (page)$$,
  'each partition has its own model');
CREATE TABLE pairs AS SELECT t, waiting, duration, ARRAY[waiting, duration] AS x, model
  FROM geyser, fits WHERE data = 'duo full' AND method = 'vi';
CREATE TABLE pairs_array AS SELECT hmm_decode(model, x) AS da, hmm_probabilities(model, x) AS pa,
  hmm_filter(model, x) AS fa FROM (SELECT array_agg(x ORDER BY t) AS x FROM pairs) p, fits
  WHERE data = 'duo full' AND method = 'vi';
CREATE TYPE eruption AS (waiting smallint, duration numeric);
SELECT never(format($$SELECT t, d <> da[t] OR NOT near(p, row_of(pa, t), 1e-12)
  OR NOT near(f, row_of(fa, t), 1e-12) AS wrong
  FROM (SELECT t, hmm_decode(model, %s) OVER w AS d, hmm_probabilities(model, %1$s) OVER w AS p,
  hmm_filter(model, %1$s) OVER w AS f FROM pairs WINDOW w AS (ORDER BY t)) w, pairs_array a$$, o),
  'vectors: ' || o)
  FROM unnest('{"ROW(waiting, duration)","ROW(x)","ROW(x::numeric[])","ROW(waiting::int, '
    'duration::numeric)","ROW(waiting, duration)::eruption"}'::text[]) o;
SELECT never($$SELECT t, d <> da[t] AS wrong FROM (SELECT t, hmm_decode(model, e)
  OVER (ORDER BY t) AS d FROM pairs, LATERAL (SELECT waiting, duration) e) w, pairs_array$$,
  'a row of a table is a vector');
SELECT same_rows($$SELECT hmm_decode(model, o) OVER w, hmm_probabilities(model, o) OVER w
  FROM pairs, LATERAL (SELECT CASE t % 4 WHEN 0 THEN ROW(waiting, NULL::float8) WHEN 1 THEN NULL
  WHEN 2 THEN ROW(NULL::float8, duration) ELSE ROW(waiting, duration) END AS o) r
  WHERE t <= 40 WINDOW w AS (ORDER BY t)$$,
  $$SELECT (hmm_decode(model, x))[t], row_of(hmm_probabilities(model, x), t)
    FROM (SELECT array_agg(CASE t % 4 WHEN 0 THEN ARRAY[waiting, NULL] WHEN 1 THEN '{NULL,NULL}'
      WHEN 2 THEN ARRAY[NULL, duration] ELSE x END ORDER BY t) AS x
    FROM pairs WHERE t <= 40) p, fits, generate_series(1, 40) t WHERE data = 'duo full'
    AND method = 'vi' ORDER BY t$$, 'of a multivariate normal the rest of a step counts');
SELECT same_rows($$SELECT hmm_decode(model, ROW(NULL::float8[])) OVER (),
  hmm_decode(model, ROW('{NULL,1}'::float8[])) OVER (ORDER BY t) IN (1, 2, 3) FROM pairs
  WHERE t = 1$$, $$SELECT (hmm_decode(model, '{{NULL,NULL}}'::float8[]))[1], true FROM fits
  WHERE data = 'duo full' AND method = 'vi'$$, 'or by a NULL array');
SELECT never($$SELECT t, NOT (a = b AND b = c AND c = d AND d = e) AS wrong
  FROM (SELECT t, hmm_decode(model, waiting) OVER w AS a, hmm_decode(model, waiting::int)
  OVER w AS b, hmm_decode(model, waiting::numeric) OVER w AS c, hmm_decode(model, waiting::smallint)
  OVER w AS d, hmm_decode(model, waiting::real) OVER w AS e FROM geyser, fits WHERE data = 'waiting'
  AND method = 'em' WINDOW w AS (ORDER BY t)) s$$, 'numbers of every type');
SELECT never($$SELECT t, NOT (a = b AND b = c) AS wrong
  FROM (SELECT t, hmm_decode(model, duration > 3) OVER w AS a,
  hmm_decode(model, (duration > 3)::int) OVER w AS b, hmm_decode(model, (duration > 3)::int::float8)
  OVER w AS c FROM geyser, fits WHERE data = 'long' AND method = 'em' WINDOW w AS (ORDER BY t)) s$$,
  'booleans are 0 and 1');
SELECT never($$SELECT t, NOT (a = b AND b = c AND c = d) AS wrong
  FROM (SELECT t, hmm_decode(m, letter::varchar) OVER w AS a, hmm_decode(m, letter::"char")
  OVER w AS b, hmm_decode(m, letter::name) OVER w AS c, hmm_decode(m, letter::char(3)) OVER w AS e,
  hmm_decode(m, letter) OVER w AS d FROM portion WINDOW w AS (PARTITION BY page ORDER BY t)) s$$,
  'names of every type');
SELECT never($$SELECT t, (n <> t OR c <> least(t, 2) OR (t < 190 AND d <> state[t])) AS wrong
  FROM (SELECT t, hmm_decode(m, letter) OVER w AS d, row_number() OVER w AS n,
  count(*) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS c FROM portion
  WHERE page = 'tutorial-agg' WINDOW w AS (ORDER BY t)) s, array_answers a WHERE a.method = 'em'
  AND page = 'tutorial-agg'$$, 'beside other window functions');

-- ---- a relation ----

SELECT results_eq($$SELECT pg_typeof(sequence)::text, pg_typeof(t)::text, pg_typeof(state)::text,
  pg_typeof(probability)::text FROM hmm_decode('SELECT page, x FROM letters', 1) LIMIT 1$$,
  $$VALUES ('text', 'bigint', 'integer', 'double precision')$$, 'types of the relation');
CREATE TABLE decoded AS SELECT method, d.* FROM methods,
  LATERAL hmm_decode('SELECT page, x FROM letters ORDER BY page', 2, o) d;
SELECT never($$SELECT method, sequence, t, (d.state, d.probability) IS DISTINCT FROM (a.state,
  a.probability) AS wrong FROM decoded d FULL JOIN (SELECT method, page AS sequence, t, state,
  q AS probability FROM (SELECT method, page, x, hmm_decode(model, x) AS s,
  hmm_probabilities(model, x) AS p FROM fits, letters WHERE data = 'letters' OFFSET 0) a,
  unnest(s) WITH ORDINALITY u(state, t), unnest(p) WITH ORDINALITY v(q, i)
  WHERE i = 2 * (t - 1) + state) a USING (method, sequence, t)$$,
  'relation = aggregate and hmm_decode');
SELECT results_eq($$SELECT sequence, t FROM hmm_decode('VALUES (1, ''{a,b}''::text[]), (NULL, '
  '''{c}''), (3, NULL), (4, ''{}''), (1, ''{a,a}'')', 1)$$, $$VALUES ('1', 1::bigint), ('1', 2),
  (NULL, 1), ('1', 1), ('1', 2)$$, 'sequences in their order; NULL and empty ones have no steps');
SELECT same_rows($$SELECT sequence, t, state FROM
  hmm_decode('SELECT day, duo FROM eruptions ORDER BY day', 2, NULL)$$,
  $$SELECT d::text, t::bigint, s[t] FROM (SELECT day AS d,
  hmm_decode((SELECT hmm_fit(duo, 2 ORDER BY day) FROM eruptions), duo) AS s FROM eruptions) e,
  generate_subscripts(s, 1) t ORDER BY d, t$$, 'of vectors, options NULL');
SELECT is_empty($$SELECT * FROM hmm_decode('SELECT id, x FROM nothing', 2)$$,
  'no sequences, no rows');
SELECT is_empty($$SELECT * FROM hmm_decode('SELECT 1, NULL::text[] FROM letters', 2)$$,
  'nor of NULLs');
SELECT is((SELECT count(*) FROM generate_series(1, 2) k,
  LATERAL hmm_decode('SELECT day, long FROM eruptions', k)), 2 * 299::bigint, 'called laterally');
SELECT is((SELECT count(*) FROM hmm_decode('SELECT 1, array_agg(state ORDER BY sequence, t) '
  'FROM hmm_decode(''SELECT day, long FROM eruptions'', 2)', 2)), 299::bigint,
  'a fit within a fit');

SELECT never($$SELECT method, page, (hmm_probabilities(back, x) <> p
  OR hmm_decode(back, x) <> state) AS wrong FROM fits JOIN array_answers a USING (method)
  JOIN letters USING (page), LATERAL (SELECT model::text::bayes_model AS back OFFSET 0) b
  WHERE data = 'letters'$$, 'and answers the same, to the last bit');

SELECT * FROM finish();
