-- Data in the forms of other languages: an error that tells the form here. What is right stays so.
SELECT plan(46);
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE cars AS SELECT i AS id, 10 + i % 17 + 0.5 AS mpg, 100 + i % 23 AS length,
  (i % 5)::smallint AS doors, 'a car ' || i % 3 AS body, i % 3 AS rt, 1 + i % 2 AS times,
  ARRAY[i % 3, i % 4] AS ints, i % 2 = 0 AS flag
FROM generate_series(1, 60) AS i;
CREATE TYPE word AS ENUM ('a', 'b');

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT hmm_fit(rt, 2) FROM cars', '42804 a sequence is of type integer'),
  ('SELECT hmm_fit(mpg, 2, ''{"method": "em"}'') FROM cars', '42804 a sequence is of type numeric'),
  ('SELECT hmm_fit(body, 2) FROM cars', '42804 a sequence is of type text'),
  ('SELECT hmm_fit(r, 2) FROM (SELECT rt, mpg FROM cars) AS r',
    '42804 a sequence is of type record'),
  ('SELECT lda_fit(body, 10) FROM cars', '42804 a document is of type text'),
  ('SELECT lda_fit(body::varchar(9), 10, NULL) FROM cars',
    '42804 a document is of type character varying'),
  ('SELECT lda_fit(''a''::word, 10) FROM cars', '42804 a document is of type word'))
  AS v(statement, said);
SELECT is(advice('SELECT hmm_fit(rt, 2) FROM cars'), 'hmm_fit takes a sequence in each row: an '
  'array of its steps, in the order of time. | SELECT hmm_fit(s, k) FROM (SELECT array_agg(x ORDER '
  'BY t) AS s FROM ... GROUP BY series) AS q. If a text is a query, cast it to bayes_query.',
  'what a sequence is');
SELECT is(advice('SELECT lda_fit(body, 2) FROM cars'), 'A document is a tsvector, an array of '
  'texts, or a jsonb object of counts. | Make a document of the words of a text by '
  'to_tsvector(''english'', body). If the text is a query, cast it to bayes_query.',
  'what a document is');
SELECT is(count(f.*), 1::bigint, 'no rows, no error') FROM (SELECT hmm_fit(rt, 2) AS b,
  lda_fit(body, 2) AS c FROM cars WHERE false) AS f;

-- ---- an argument is missing, or is another ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT * FROM gmm_fit(''SELECT mpg FROM cars'')'),
  ('SELECT hmm_model(''SELECT doors, rt FROM cars'')'),
  ('SELECT * FROM lda_topics(''SELECT to_tsvector(body) FROM cars'')'),
  ('SELECT * FROM pmf_fit(''SELECT rt, doors, mpg FROM cars'')')) AS v(statement),
  LATERAL (SELECT '22004 the number of components, states, topics or factors is missing' AS said)
    AS s;
-- A literal before another argument is a query.
SELECT is(whole_complaint('SELECT nb_fit(''a'', ints) FROM cars'), '42804 options are of type '
  'integer[] | They are a jsonb object. | A literal before another argument is taken for a query; '
  'one that is a response needs its type: ''yes''::text.', 'a response of no type');
SELECT is(whole_complaint('SELECT bayes_drift(''SELECT mpg FROM cars'', mpg) FROM cars'),
  '22P02 invalid input syntax for type bayes_model | A model is written as a JSON object, but this '
  'text begins with "SELECT mpg FROM cars". | Take a model from the column that keeps it, or from '
  'a fit: (SELECT gmm_fit(x, 3) FROM t). A query text is no model.', 'a query is no model');
SELECT is(complaint('SELECT '' {"a": 1}''::bayes_model'),
  complaint('SELECT ''{"a": 1}''::bayes_model'), 'what begins as a model is read as one');

-- ---- calls that mean something mean it still ----

SELECT lives_ok(statement, statement) FROM (VALUES
  ('SELECT gmm_fit(mpg, 2, ''{"method": "em"}'') FROM cars'),
  ('SELECT gmm_fit(mpg, 2::smallint, ''{"method": "em"}'') FROM cars'),
  ('SELECT gmm_fit(length, 2::smallint, ''{"method": "em"}'') FROM cars'),
  ('SELECT gmm_fit(length, 2::smallint, ''{"method": "em"}'', times) FROM cars'),
  ('SELECT gmm_fit(length, 2, ''{"method": "em"}'', times) FROM cars'),
  ('SELECT gmm_fit(ints, 2::smallint, ''{"covariance": "spherical"}'') FROM cars'),
  ('SELECT gmm_fit(ints, 2, NULL) FROM cars'),
  ('SELECT gmm_fit(r, 2::smallint, ''{"covariance": "spherical"}'')
    FROM (SELECT mpg, length FROM cars) AS r'),
  ('SELECT gmm_fit(''{1,2}'', 1) FROM cars LIMIT 0'),
  ('SELECT gmm_fit(length, m, ''{"max_iter": 5}'')
    FROM cars, (SELECT gmm_fit(length, 2) AS m FROM cars) AS f'),
  ('SELECT bmm_fit(flag, 2::smallint, ''{"seed": 2}'') FROM cars'),
  ('SELECT bmm_fit(rt, 2::smallint, ''{"likelihood": "poisson"}'') FROM cars'),
  ('SELECT bmm_fit(rt, 2, ''{"likelihood": "poisson"}'', times) FROM cars'),
  ('SELECT * FROM gmm_fit(''SELECT mpg FROM cars'', 2, ''{"seed": 2}'')'),
  ('SELECT * FROM gmm_fit(''SELECT mpg FROM cars'', 2::smallint, ''{"seed": 2}'')'),
  ('SELECT * FROM gmm_fit(''SELECT mpg FROM cars'', 2::smallint)'),
  ('SELECT * FROM bmm_fit(''SELECT rt FROM cars'', 2::smallint, ''{"seed": 2}'')'),
  ('SELECT hmm_fit(s, 2::smallint, ''{"method": "em"}'')
    FROM (SELECT array_agg(rt) AS s FROM cars GROUP BY doors) AS q'),
  ('SELECT hmm_fit(''{a,b}''::text[], 1::smallint) FROM cars LIMIT 0'),
  ('SELECT * FROM hmm_fit(''SELECT doors, rt FROM cars ORDER BY 1'', 2::smallint, NULL)'),
  ('SELECT lda_fit(string_to_array(body, '' '')::varchar[], 2::smallint, NULL) FROM cars'),
  ('SELECT lda_fit(to_tsvector(body), 2, ''{"method": "cvb0"}'') FROM cars'),
  ('SELECT * FROM lda_topics(''SELECT to_tsvector(body) FROM cars'', 2::smallint)'),
  ('SELECT nb_fit(''a''::text, ints) FROM cars'),
  ('SELECT * FROM nb_fit(''SELECT flag, mpg FROM cars'', ''{}'')'),
  ('SELECT * FROM nb_fit(''SELECT flag, mpg FROM cars'', ''{}''::json)'),
  ('SELECT * FROM nb_fit(''SELECT flag, mpg FROM cars'', ''{}''::varchar)'),
  ('SELECT * FROM linreg_fit(''SELECT mpg, rt FROM cars'', options => NULL)'),
  ('SELECT linreg_fit(linreg_stats(mpg, rt), ''{"method": "em"}'') FROM cars')) AS v(statement);
