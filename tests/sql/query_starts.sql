-- Functions of a query that start from a model: the same model as the aggregate of the rows.
SELECT plan(26);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE rows AS SELECT i, i % 3 * 4 + sin(i) AS x, cos(i) * 2 AS y, chr(97 + i % 4) AS g,
  ARRAY[abs(sin(i)), abs(cos(i)), 1] AS a
FROM generate_series(1, 300) AS i;
CREATE TABLE before AS SELECT * FROM rows WHERE i <= 200 AND g < 'd';
CREATE TABLE starts AS SELECT
  (SELECT gmm_fit(r, 3) FROM (SELECT x, y FROM before) AS r) AS gmm,
  (SELECT bmm_fit(r, 3) FROM (SELECT x, g FROM before) AS r) AS bmm,
  (SELECT dpmm_fit(r, '{"method": "vi"}') FROM (SELECT x, y FROM before) AS r) AS dpmm,
  (SELECT hmm_fit(s, 2) FROM (SELECT array_agg(x ORDER BY i) AS s FROM before GROUP BY i / 30)
    AS q) AS hmm,
  (SELECT lda_fit(ARRAY[g, (i % 7)::text], 2) FROM before) AS lda,
  (SELECT nmf_fit(a, 2) FROM before) AS nmf,
  (SELECT pmf_fit(i % 20, i % 19, x, 2, '{"draws": 20}') FROM before) AS pmf;

CREATE TABLE calls (family text, query text, fit text, options text);
INSERT INTO calls VALUES
  ('gmm', 'SELECT x, y FROM rows', 'r, %s) FROM (SELECT x, y FROM rows) AS r', '{"restarts": 2}'),
  ('bmm', 'SELECT x, g FROM rows', 'r, %s) FROM (SELECT x, g FROM rows) AS r', '{"method": "em"}'),
  ('dpmm', 'SELECT x, y FROM rows', 'r, %s) FROM (SELECT x, y FROM rows) AS r', '{}'),
  ('hmm', 'SELECT i / 30, array_agg(x ORDER BY i) FROM rows GROUP BY 1',
    's, %s) FROM (SELECT array_agg(x ORDER BY i) AS s FROM rows GROUP BY i / 30) AS q',
    '{"max_iter": 5}'),
  ('lda', 'SELECT i, ARRAY[g, (i % 7)::text] FROM rows',
    'ARRAY[g, (i % 7)::text], %s) FROM rows', '{"max_iter": 5}'),
  ('nmf', 'SELECT a FROM rows', 'a, %s) FROM rows', '{"max_iter": 5}'),
  ('pmf', 'SELECT i % 20, i % 19, x FROM rows', 'i % 20, i % 19, x, %s) FROM rows',
    '{"draws": 10}');
CREATE FUNCTION value_of(sql text, OUT value jsonb) LANGUAGE plpgsql AS $$
BEGIN EXECUTE 'SELECT (' || sql || ')::text::jsonb' INTO value; END $$;

SELECT is(value_of(format('SELECT %1$s_model(%2$L, start => %1$s, options => %3$L) FROM starts',
    family, query, options)) - 'seconds',
  value_of(format('SELECT %s_fit(', family) || replace(fit, '%s',
    format('(SELECT %s FROM starts), %L::jsonb', family, options))) - 'seconds',
  family || '_model(query, start, options): the model of the aggregate')
FROM calls;
SELECT is(value_of(format('SELECT %1$s_model(%2$L, start => %1$s) FROM starts', family, query))
    - 'seconds',
  value_of(format('SELECT %1$s_model(%2$L, NULL, NULL, %1$s) FROM starts', family, query))
    - 'seconds',
  family || ': no options') FROM calls WHERE family NOT IN ('dpmm', 'pmf');
SELECT ok((value_of(format('SELECT count(*) FROM starts, %s(%L, start => %s, options => %L)',
    CASE family WHEN 'lda' THEN 'lda_topics' WHEN 'nmf' THEN 'nmf_factorize'
      ELSE family || '_fit' END, query, family, options)))::int > 1, family || ': rows') FROM
  (SELECT family, query, options FROM calls) AS c;

SELECT is(complaint(call), said, call) FROM (VALUES
  ($q$SELECT gmm_model('SELECT x, y FROM rows', start => bmm) FROM starts$q$,
    '42804 model is of family bmm, expected gmm'),
  ($q$SELECT gmm_model('SELECT x, y FROM rows', start => NULL)$q$,
    '22004 the number of components, states, topics or factors is missing'),
  ($q$SELECT gmm_model('SELECT x, y FROM rows', 2, start => gmm) FROM starts$q$,
    '22023 a number, 2, is given beside a start model'),
  ($q$SELECT pmf_model('SELECT x, y FROM rows')$q$,
    '22004 the number of components, states, topics or factors is missing'),
  ($q$SELECT gmm_model('SELECT x FROM rows', start => gmm) FROM starts$q$,
    '22023 rows have no column "y"')) AS v (call, said);
SELECT is(value_of($$SELECT gmm_model('SELECT x, y FROM rows', 2, start => NULL)$$) - 'seconds',
  value_of($$SELECT gmm_model('SELECT x, y FROM rows', 2)$$) - 'seconds',
  'without a model the fit starts afresh');
SELECT is(complaint($$SELECT * FROM logreg_fit('SELECT x > 0, y FROM rows', 3)$$),
  '42804 options are of type integer', 'options of another type');
SELECT * FROM finish();
