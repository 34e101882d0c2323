-- bayes_score, bayes_score_difference, bayes_profile and bayes_drift over the rows of a query: the
-- same as the aggregates over these rows, as relations.
SELECT plan(29);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE models (name text PRIMARY KEY, model bayes_model);
INSERT INTO models SELECT 'array', gmm_fit(x, 2) FROM faithful;
INSERT INTO models SELECT 'one', gmm_fit(duration, 2) FROM geyser;
-- A column whose name is that of the row in the statement.
CREATE VIEW births AS SELECT age AS r, lwt AS "a ""b", smoke = 1 AS q, race::text AS "É"
  FROM birthwt;
INSERT INTO models SELECT 'record', bmm_fit(b, 2) FROM births AS b;
INSERT INTO models SELECT 'classes', nb_fit(species, x) FROM iris;
INSERT INTO models SELECT 'counts', glm_fit(ftv, terms, '{"response": "poisson"}')
  FROM birthwt, LATERAL (SELECT age, smoke) AS terms;
CREATE VIEW waits AS SELECT array_agg(duration ORDER BY t) AS s FROM geyser;
INSERT INTO models SELECT 'steps', hmm_fit(s, 2, '{"max_iter": 20}') FROM waits;
INSERT INTO models SELECT 'topics', lda_fit(words, 3, '{"max_iter": 10}') FROM manual;
INSERT INTO models SELECT 'cells', nmf_fit(student, lecturer, rating, 2)
  FROM lectures WHERE student < 200;
CREATE FUNCTION model_of(text) RETURNS bayes_model LANGUAGE sql STABLE
  RETURN (SELECT model FROM models WHERE name = $1);

-- The query, and the arguments of the aggregate over it.
CREATE TABLE calls (name text, query text, arguments text);
INSERT INTO calls VALUES
  ('array', 'SELECT x FROM faithful', 'q.x'),
  ('one', 'SELECT duration FROM geyser', 'q.duration'),
  ('record', 'TABLE births -- all of them', 'q.*'),
  ('record', 'SELECT b FROM births AS b ; ', 'q.b'),
  ('record', ' /* two */ SELECT "a ""b", r FROM births; -- of four', 'q.*'),
  ('classes', 'SELECT species, x FROM iris', 'q.species, q.x'),
  ('counts', 'SELECT ftv, age, smoke FROM birthwt', 'q.ftv, r.*'),
  ('steps', 'SELECT s FROM waits', 'q.s'),
  ('topics', 'SELECT words FROM manual', 'q.words'),
  ('cells', 'SELECT student, lecturer, rating FROM lectures WHERE student < 99',
    'student, lecturer, rating');
CREATE FUNCTION over_rows(aggregate text, c calls) RETURNS text LANGUAGE sql
  RETURN format('SELECT %s(m, %s) FROM models AS m(n, m), (%s) AS q, '
    'LATERAL (SELECT %s) AS r WHERE n = %L', aggregate, c.arguments,
    rtrim(split_part(c.query, ' --', 1), '; '),
    CASE c.name WHEN 'counts' THEN 'q.age, q.smoke' ELSE '0' END, c.name);

SELECT same_rows(format('SELECT * FROM bayes_score(%L, model_of(%L))', query, name),
  format('SELECT (s.v).* FROM (%s) AS s(v)', over_rows('bayes_score', c)), 'score: ' || query)
FROM calls AS c;
SELECT same_rows(format('SELECT * FROM bayes_profile(%L, model_of(%L))', query, name),
  format('SELECT * FROM unnest((%s))', over_rows('bayes_profile', c)), 'profile: ' || query)
FROM calls AS c WHERE name IN ('array', 'record', 'steps');
SELECT same_rows(format('SELECT * FROM bayes_drift(%L, model_of(%L))', query, name),
  format('SELECT * FROM unnest((%s))', over_rows('bayes_drift', c)), 'drift: ' || query)
FROM calls AS c WHERE name = 'record' AND arguments = 'q.*';

SELECT same_rows($$SELECT * FROM bayes_score_difference('SELECT x FROM faithful', model_of('array'),
    (SELECT gmm_fit(x, 1) FROM faithful))$$,
  $$SELECT (s.v).* FROM (SELECT bayes_score_difference(model_of('array'), b.m, x)
    FROM faithful, (SELECT gmm_fit(x, 1) FROM faithful) AS b(m)) AS s(v)$$, 'two models');
SELECT is((SELECT count(*) FROM models, bayes_score('SELECT x FROM faithful WHERE false', model)
    WHERE name = 'array')
  + (SELECT count(*) FROM models, bayes_drift('SELECT x FROM faithful WHERE false', model)
    WHERE name = 'array'), 0::bigint, 'no rows of none');

SELECT is(whole_complaint(call), want, call) FROM (VALUES
  ($$SELECT * FROM bayes_score('SELECT student, lecturer FROM lectures', model_of('cells'))$$,
    '22023 query returns 2 columns | It must return three: two keys and a number. | Select the '
    'keys of a row and of a column, and the number in their cell (SELECT customer, product, rating '
    'FROM ...).'),
  ($$SELECT * FROM bayes_score('SELECT species FROM iris', model_of('classes'))$$,
    '22023 query returns 1 column | The response or label must be followed by the row. | Select '
    'the response or label, and then the row: columns (SELECT y, a, b FROM ...), or one array '
    '(SELECT y, x FROM ...).'),
  ($$SELECT * FROM bayes_drift('SELECT FROM iris', model_of('array'))$$,
    '22023 query returns 0 columns | There is no row. | Select the columns of a row (SELECT a, b, '
    'c FROM ...), or one array, sequence or document for each row.'),
  ($$SELECT * FROM bayes_drift('SELECT 1', NULL::bayes_model)$$,
    '22004 model must not be NULL | Fit a model first, and give it after the query.'))
  AS v(call, want);
SELECT throws_ok(call, state, NULL, call) FROM (VALUES
  ($$SELECT * FROM bayes_drift(NULL, model_of('array'))$$, '22004'),
  ($$SELECT * FROM bayes_drift('DELETE FROM models RETURNING *', model_of('array'))$$, '22023'),
  ($$SELECT * FROM bayes_drift('SELECT 1; SELECT 2', model_of('array'))$$, '22023'),
  ($$SELECT * FROM bayes_drift('SELECT 1) AS q; DROP TABLE models', model_of('array'))$$, '42601'),
  ($$SELECT * FROM bayes_profile('SELECT age, age FROM birthwt', model_of('record'))$$, '22023'),
  ($$SELECT * FROM bayes_profile('SELECT ftv, age, smoke FROM birthwt', model_of('counts'))$$,
    '42804'))
  AS v(call, state);
SELECT * FROM finish();
