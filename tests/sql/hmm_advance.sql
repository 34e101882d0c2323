-- Sequences that come one observation at a time.
SELECT plan(67);
\ir ../lib/hmm.sql
\ir ../lib/hmm_observed.sql

-- ---- the same as over the whole sequence ----

CREATE TABLE steps AS
  SELECT data, method, t, hmm_advance_all(model, NULL, name) OVER w AS s,
      hmm_filter(model, name) OVER w AS filter, hmm_surprise(model, name) OVER w AS surprise
    FROM fits JOIN observed USING (data) WHERE data IN ('letters', 'words')
    WINDOW w AS (PARTITION BY data, method ORDER BY t)
  UNION ALL SELECT data, method, t, hmm_advance_all(model, NULL, number) OVER w,
      hmm_filter(model, number) OVER w, hmm_surprise(model, number) OVER w
    FROM fits JOIN observed USING (data)
    WHERE data IN ('counts', 'waiting', 'exponential', 'long')
    WINDOW w AS (PARTITION BY data, method ORDER BY t)
  UNION ALL SELECT data, method, t, hmm_advance_all(model, NULL, ROW(vector[1], vector[2])) OVER w,
      hmm_filter(model, ROW(vector[1], vector[2])) OVER w,
      hmm_surprise(model, ROW(vector[1], vector[2])) OVER w
    FROM fits JOIN observed USING (data) WHERE data LIKE 'duo%' OR data = 'mixed'
    WINDOW w AS (PARTITION BY data, method ORDER BY t);
SELECT is((SELECT count(DISTINCT (data, method)) FROM steps), 55::bigint,
  'eleven kinds of emissions, five methods');
SELECT never($$SELECT data, method, t, (s).probabilities IS DISTINCT FROM filter AS wrong
  FROM steps$$, 'the filter, to the last bit');
SELECT never($$SELECT data, method, t, (s).surprise IS DISTINCT FROM surprise AS wrong
  FROM steps$$, 'the surprise, to the last bit; NULL of a step of which nothing is known');
SELECT never($$SELECT data, method, t, (s).steps <> count(*) OVER (PARTITION BY data, method
  ORDER BY t) AS wrong FROM steps$$, 'steps are counted');
SELECT never($$SELECT data, method, t, NOT near((s).log_likelihood, -sum(surprise) OVER (
  PARTITION BY data, method ORDER BY t), 1e-10) AS wrong FROM steps$$, 'surprises sum up');
SELECT never($$SELECT data, method, NOT near((s).log_likelihood, hmm_log_likelihood(model, x),
    1e-10) AS wrong FROM (SELECT DISTINCT ON (data, method) data, method, s FROM steps
    ORDER BY data, method, t DESC) AS last JOIN fits USING (data, method) JOIN (SELECT data,
      array_agg(name ORDER BY t) AS x FROM observed GROUP BY 1) AS o USING (data)
  WHERE data IN ('letters', 'words')$$, 'to the likelihood of the sequence');
SELECT never($$SELECT data, method, t, c.*, NOT probability = (s).probabilities[state]
    OR NOT next = (s).next[state] AS wrong FROM steps, hmm_current(s) AS c$$, 'states as rows');
SELECT never($$SELECT data, method, t, NOT near(sum(probability), 1, 1e-9)
    OR NOT near(sum(next), 1, 1e-9) OR count(*) <> max(state) AS wrong
  FROM steps, hmm_current(s) GROUP BY 1, 2, 3$$, 'which are probabilities');
SELECT never($$SELECT data, method, state, NOT near(next, moved, 1e-12) AS wrong
  FROM (SELECT data, method, c.state, c.next,
      (SELECT sum(f.probability * m.probability) FROM hmm_transitions(model) AS m
        JOIN hmm_current(s) AS f ON f.state = from_state WHERE to_state = c.state) AS moved
    FROM steps JOIN fits USING (data, method), hmm_current(s) AS c
    WHERE t % 40 = 7 AND method <> 'gibbs') AS q$$, 'next: a transition later');
SELECT never($$SELECT data, method, NOT near(((SELECT sum(next * mean[1]) FROM hmm_current(s)
      JOIN hmm_emissions(model) USING (state))), p.mean, 1e-9) AS wrong
  FROM steps JOIN fits USING (data, method), LATERAL (SELECT array_agg(number ORDER BY t) AS x
    FROM observed AS o WHERE o.data = steps.data AND o.t <= steps.t) AS o,
    hmm_predict(model, x) AS p WHERE data = 'waiting' AND method = 'em' AND t IN (1, 7, 60)$$,
  'the states under which hmm_predict predicts');

-- ---- one step ----

SELECT never($$SELECT data, method, t, hmm_advance(model, before, name) IS DISTINCT FROM s AS wrong
  FROM (SELECT data, method, t, s, lag(s) OVER (PARTITION BY data, method ORDER BY t) AS before
    FROM steps) AS q JOIN fits USING (data, method) JOIN observed USING (data, t)
  WHERE data IN ('letters', 'words')$$, 'names, by single steps');
SELECT never($$SELECT data, method, t, hmm_advance(model, before, ROW(vector)) IS DISTINCT FROM s
    AS wrong
  FROM (SELECT data, method, t, s, lag(s) OVER (PARTITION BY data, method ORDER BY t) AS before
    FROM steps) AS q JOIN fits USING (data, method) JOIN observed USING (data, t)
  WHERE data LIKE 'duo%' OR data = 'mixed'$$, 'vectors, of which an array is a row');
SELECT never($$SELECT data, method, t, hmm_advance(model, before::text::hmm_state, number)
    IS DISTINCT FROM s AS wrong
  FROM (SELECT data, method, t, s, lag(s) OVER (PARTITION BY data, method ORDER BY t) AS before
    FROM steps) AS q JOIN fits USING (data, method) JOIN observed USING (data, t)
  WHERE number IS NOT NULL OR data = 'counts'$$, 'a state as text is the same');
CREATE TYPE reading AS (load float8, alarm boolean, mode text);
CREATE TABLE log AS SELECT t, ROW(CASE WHEN t % 9 <> 4 THEN 3 * (t / 20 % 2) + sin(t) END,
  t / 20 % 2 = 1 AND t % 3 > 0, CASE WHEN t % 13 <> 5 THEN (ARRAY['idle', 'run', 'off'])
    [1 + t / 20 % 2 + (t % 7 = 0)::int] END)::reading AS r FROM generate_series(1, 120) AS t;
CREATE TABLE logs AS SELECT method, hmm_fit(x, 2, options_of(method)) AS model FROM methods,
  (SELECT array_agg(r ORDER BY t) AS x FROM log) AS l GROUP BY method;
SELECT never($$SELECT method, t, f IS DISTINCT FROM (s).probabilities
    OR u IS DISTINCT FROM (s).surprise AS wrong FROM (SELECT method, t,
    hmm_advance_all(model, NULL, r) OVER w AS s, hmm_filter(model, r) OVER w AS f,
    hmm_surprise(model, r) OVER w AS u FROM logs,
    (SELECT t, CASE t WHEN 3 THEN ROW(1, true, 'new')::reading WHEN 5 THEN NULL ELSE r END AS r
      FROM log) AS l WINDOW w AS (PARTITION BY method ORDER BY t)) AS q$$,
  'records, of which one has a new label and one is NULL');
SELECT is((SELECT hmm_advance_all(m, start, o ORDER BY t) FROM tiny, (SELECT
    hmm_advance_all(m, NULL, o ORDER BY t) AS start FROM tiny, unnest('{a,b}'::text[])
      WITH ORDINALITY AS u(o, t)) AS s, unnest('{b,what,a}'::text[]) WITH ORDINALITY AS u(o, t)),
  (SELECT hmm_advance_all(m, NULL, o ORDER BY t) FROM tiny, unnest('{a,b,b,what,a}'::text[])
    WITH ORDINALITY AS u(o, t)), 'on from where another query stopped');
SELECT is((SELECT hmm_advance_all(m, NULL, o) FROM tiny, unnest('{}'::text[]) AS o), NULL,
  'no observations');
SELECT is((SELECT (hmm_advance_all(CASE WHEN t <> 2 THEN m END, NULL, o ORDER BY t)).steps
    FROM tiny, unnest('{a,b,a}'::text[]) WITH ORDINALITY AS u(o, t)), 2::bigint,
  'rows with a NULL model are skipped');
-- By hand, in numbers.
SELECT results_eq($$SELECT round(exp(-(s).surprise)::numeric, 12), round((s).next[1]::numeric, 12)
    FROM tiny, hmm_advance(m, NULL, 'a'::text) AS s$$,
  $$VALUES (0.64, round((0.54 * 0.7 + 0.1 * 0.2) / 0.64, 12))$$, 'one step');
-- An observation that is impossible: its density underflows in every state.
SELECT results_eq($$SELECT s.surprise, s.log_likelihood, s.probabilities = n.probabilities,
    s.next = n.next, (hmm_advance(m, s, 0::float8)).surprise
      = (hmm_advance(m, n, 0::float8)).surprise
    FROM (SELECT hmm_fit(x, 2, '{"method": "em", "emission": "normal"}') AS m
      FROM (VALUES ('{0,1e-9,2e-9,3e-8,3.1e-8,3.2e-8}'::float8[])) AS v(x)) AS f,
      hmm_advance(m, NULL, 1e-9::float8) AS one, hmm_advance(m, one, 1e149::float8) AS s,
      hmm_advance(m, one, NULL::float8) AS n$$,
  $$VALUES ('Infinity'::float8, '-Infinity'::float8, true, true, true)$$,
  'what is impossible is missing for what follows');

-- ---- a trigger ----

CREATE TABLE series (id text PRIMARY KEY, state hmm_state);
INSERT INTO series VALUES ('a'), ('b');
CREATE TABLE arrivals (id text, t int, x float8, surprise float8);
CREATE FUNCTION arrive() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE now hmm_state;
BEGIN
  UPDATE series SET state = hmm_advance((SELECT model FROM fits WHERE data = 'waiting'
    AND method = 'gibbs'), state, NEW.x) WHERE id = NEW.id RETURNING (state).* INTO now;
  NEW.surprise := now.surprise;
  RETURN NEW;
END $$;
CREATE TRIGGER arrive BEFORE INSERT ON arrivals FOR EACH ROW EXECUTE FUNCTION arrive();
INSERT INTO arrivals SELECT CASE WHEN t % 2 = 0 THEN 'a' ELSE 'b' END, t, waiting
  FROM geyser WHERE t <= 40 ORDER BY t;
INSERT INTO arrivals SELECT CASE WHEN t % 2 = 0 THEN 'a' ELSE 'b' END, t, waiting
  FROM geyser WHERE t BETWEEN 41 AND 60 ORDER BY t;
SELECT never($$SELECT id, t, a.surprise IS DISTINCT FROM s AS wrong FROM arrivals AS a JOIN
  (SELECT id, t, hmm_surprise(model, x) OVER (PARTITION BY id ORDER BY t) AS s FROM arrivals,
    (SELECT model FROM fits WHERE data = 'waiting' AND method = 'gibbs') AS m) AS w
  USING (id, t)$$, 'a trigger for two series');
-- A variable without a value is a row of NULLs.
DO $$DECLARE now hmm_state; other hmm_state; BEGIN
  SELECT (state).* INTO now FROM series WHERE false;
  other := ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  now := hmm_advance((SELECT m FROM tiny), now, 'a'::text);
  other := hmm_advance((SELECT m FROM tiny), other, 'a'::text);
  IF now IS DISTINCT FROM other OR now.steps <> 1 THEN RAISE 'wrong'; END IF;
END$$;

-- ---- NULLs, other models, forged states ----

CREATE TABLE good AS SELECT m, hmm_advance(m, hmm_advance(m, NULL, 'what'::text), 'a'::text) AS s
  FROM tiny;
SELECT is(hmm_advance(NULL, s, 'a'::text), NULL, 'of a NULL model') FROM good;
SELECT is((hmm_advance(m, s, NULL::text)).surprise, NULL, 'a NULL observation') FROM good;
SELECT is((SELECT count(*) FROM hmm_current(NULL)), 0::bigint, 'of a NULL state');
SELECT is((SELECT count(*) FROM hmm_current(ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
  ::hmm_state)), 0::bigint, 'of a state of NULLs');
CREATE FUNCTION refused(model text, state text, observation text, sqlstate text, message text,
    what text) RETURNS text
  RETURN throws_ok(format($$SELECT hmm_advance((%s), %s, %s) FROM good$$, model, state,
    observation), sqlstate, message, what);
SELECT refused('SELECT m FROM stairs', 's', '''a''::text', '22023',
  'the state of a sequence is of another model', 'of another model');
SELECT refused('SELECT model FROM fits WHERE data = ''letters'' AND method = ''vi''', 's',
  '''a''::text', '22023', 'the state of a sequence is of another model', 'of another kind');
SELECT refused('SELECT gmm_fit(x, 1) FROM faithful', 's', '''a''::text', '42804', NULL,
  'a model of another family');
SELECT refused('m', 's', 'ROW(1, 2)', '2202E', NULL, 'an observation of another shape');
SELECT refused('m', 's', '''NaN''::float8', '22023', NULL, 'NaN');
-- The columns one by one.
CREATE FUNCTION forged(state hmm_state, place text, value text) RETURNS hmm_state
LANGUAGE plpgsql AS $$
DECLARE out hmm_state;
BEGIN
  EXECUTE format('SELECT (jsonb_populate_record($1, jsonb_build_object(%L, %s))).*', place, value)
    INTO out USING state;
  RETURN out;
END $$;
SELECT throws_ok(format('SELECT hmm_advance(m, forged(s, %L, %L), ''a''::text) FROM good', place,
  value), '22023', NULL, format('%s = %s', place, value))
FROM (VALUES ('steps', 'NULL'), ('steps', '0'), ('steps', '-1'), ('steps', '9223372036854775807'),
  ('model', 'NULL'), ('log_likelihood', 'NULL'), ('log_likelihood', '''NaN'''),
  ('log_likelihood', '''Infinity'''), ('recursion', 'NULL'), ('probabilities', '''{1}'''),
  ('probabilities', '''{}'''), ('probabilities', '''{0.5,NULL}'''),
  ('probabilities', '''{2,-1}'''), ('probabilities', '''{NaN,NaN}'''),
  ('probabilities', '''{0.5,0.5}'''), ('next', '''{0.3,0.3,0.4}'''), ('next', '''{0.5,0.5}'''),
  ('next', 'NULL'), ('recursion', '''{}'''), ('recursion', '''{1,0,1,1,0}'''),
  ('recursion', '''{{1,0,1}}'''), ('recursion', '''{{1,0,1,1,NULL}}'''),
  ('recursion', '''{{1,0,1,NaN,0}}'''), ('recursion', '''{{0,0,1,1,0}}'''),
  ('recursion', '''{{2,0,1,1,0}}'''), ('recursion', '''{{1,0,1,1,0},{1,0,1,1,0}}'''),
  ('recursion', '''{{1,0,2,1,0}}'''), ('counting', '''{{1,0,2,1,0}}'''), ('counting', '''{}'''),
  ('counting', '''{{1,0,1,1}}''')) AS v(place, value);
SELECT throws_ok('SELECT hmm_current(forged(s, ''next'', ''''''{1}'''''')) FROM good', '22023',
  'the state of a sequence is invalid: its number of states is wrong', 'as rows, too');
SELECT lives_ok(format('SELECT hmm_advance(m, forged(s, %L, %L), ''a''::text) FROM good',
  place, format('to_jsonb(($1).%I)', place)), place || ' in its place again')
FROM unnest('{steps,log_likelihood,probabilities,next,model,recursion,counting}'::text[]) AS place;
SELECT * FROM finish();
