-- Records that cannot be rows: what is said, and what to do about it.
SELECT plan(53);
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE people (age int, city text, born date, tags text[], data jsonb, price money,
  member boolean, note interval, place point, span int4range, owner oid);
INSERT INTO people SELECT 20 + i, 'c' || i % 3, date '2000-01-01' + i, '{a}', '{}', 1, i % 2 = 0,
  '1 day', '(1,2)', '[1,2]', 1 FROM generate_series(1, 20) AS i;
CREATE TABLE models AS
SELECT bmm_fit(p, 2) AS model, bmm_fit(p, 2, '{"missing": "error"}') AS strict
FROM (SELECT age, city, member FROM people) AS p;
CREATE TABLE numbers AS
SELECT gmm_fit(p, 2) AS model, gmm_fit(p, 2, '{"missing": "error"}') AS strict
FROM (SELECT age, age * age AS square FROM people) AS p;

SELECT is(complaint(statement), said, statement) FROM (VALUES
  -- types
  ('SELECT bmm_fit(p, 2) FROM people AS p', '22023 column "born" is of type date'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT born::timestamptz FROM people) AS p',
    '22023 column "born" is of type timestamp with time zone'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT note FROM people) AS p',
    '22023 column "note" is of type interval'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT tags FROM people) AS p',
    '22023 column "tags" is of type text[]'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT data FROM people) AS p',
    '22023 column "data" is of type jsonb'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT price FROM people) AS p',
    '22023 column "price" is of type money'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT place FROM people) AS p',
    '22023 column "place" is of type point'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT span FROM people) AS p',
    '22023 column "span" is of type int4range'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT owner FROM people) AS p',
    '22023 column "owner" is of type oid'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT q FROM people AS q) AS p',
    '22023 column "q" is of type people'),
  ('SELECT gmm_fit(p, 2) FROM (SELECT age, city FROM people) AS p',
    '22023 column "city" contains labels, but must contain numbers'),
  ('SELECT gmm_fit(p, 2) FROM (SELECT age, member FROM people) AS p',
    '22023 column "member" contains booleans, but must contain numbers'),
  ('SELECT gmm_cluster(p, 2) OVER () FROM (SELECT age, city FROM people) AS p',
    '22023 column "city" contains labels, but must contain numbers'),
  ('SELECT bmm_fit(city, 2) FROM people', '42804 a row is of type text'),
  ('SELECT bmm_predict(model, city) FROM models, people', '42804 a row is of type text'),
  ('SELECT bmm_predict(model, data) FROM models, people', '42804 a row is of type jsonb'),
  ('SELECT gmm_fit(p, 2) FROM (SELECT FROM people) AS p', '22023 rows have no columns'),
  -- values
  ($$SELECT gmm_fit(p, 2, '{"missing": "error"}')
    FROM (SELECT nullif(age, 23) AS age FROM people) AS p$$,
    '22004 column "age" of row 3 is NULL'),
  ($$SELECT bmm_fit(p, 2) FROM (SELECT CASE age WHEN 23 THEN 'NaN' ELSE age::numeric END AS age
    FROM people) AS p$$,
    '22023 column "age" of row 3 is NaN'),
  ($$SELECT bmm_fit(p, 2) FROM (SELECT CASE age WHEN 24 THEN '-Infinity' ELSE age::float8 END
    AS other FROM people) AS p$$, '22023 column "other" of row 4 is -Infinity'),
  ($$SELECT dpmm_fit('NaN'::real)$$, '22023 row 1 is NaN'),
  ('SELECT gmm_fit(p, 2) FROM (SELECT 1e200 * age AS big FROM people) AS p',
    '22003 column "big" of row 1 is 2.1e+201, too large to compute with'),
  ($$SELECT bmm_fit(p, 2, '{"likelihood": {"age": "bernoulli"}}')
    FROM (SELECT age FROM people WHERE age = 21) AS p$$,
    '22023 column "age" of row 1 is 21, but must be 0 or 1'),
  ($$SELECT bmm_fit(p, 2) FROM (SELECT i || 'x' AS l FROM generate_series(1, 10001) AS i) AS p$$,
    '54000 column "l" has more than 10000 different labels'),
  ($$SELECT bmm_fit(p, 2) FROM (SELECT repeat('x', 1000000) AS l) AS p$$,
    '54000 a label of column "l" is 1000000 bytes long, but the limit is 10000'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT age, NULL::text AS no FROM people) AS p',
    '22023 column "no" is NULL in every row'),
  ('SELECT bmm_fit(p, 2) FROM (SELECT NULL::int AS no, age FROM people) AS p',
    '22023 column "no" is NULL in every row'),
  ($$SELECT bmm_fit(p, 2, '[]') FROM (SELECT age FROM people) AS p$$,
    '22023 options must be a JSON object, but are of kind array of numbers'),
  ($$SELECT bmm_fit(p, 2, '1') FROM (SELECT age FROM people) AS p$$,
    '22023 options must be a JSON object, but are of kind integer'),
  ('SELECT gmm_fit(p, 2) FROM (SELECT 1 / (age - 25) AS a FROM people) AS p',
    '22012 division by zero'),
  -- options
  ($$SELECT bmm_fit(p, 2, '{"likelihood": {"agee": "poisson"}}')
    FROM (SELECT age FROM people) AS p$$,
    '22023 option "likelihood" names a column "agee", which the rows do not have'),
  ($$SELECT bmm_fit(p, 2, '{"likelihood": {"age": "poison"}}') FROM (SELECT age FROM people) AS p$$,
    '22023 option "likelihood.age" is "poison", but must be one of ' || column_families()),
  ($$SELECT bmm_fit(p, 2, '{"likelihood": {"city": "normal"}}')
    FROM (SELECT city FROM people) AS p$$,
    '22023 option "likelihood" is "normal" for column "city", which has labels'),
  ($$SELECT bmm_fit(p, 2, '{"likelihood": ["normal"]}') FROM (SELECT age, city FROM people) AS p$$,
    '22023 option "likelihood" is "normal" for column "city", which has labels'),
  ($$SELECT bmm_fit(p, 2, '{"likelihood": ["normal", "normal", "normal"]}')
    FROM (SELECT age, city FROM people) AS p$$,
    '22023 option "likelihood" has 3 entries, but the rows have 2 elements'),
  ($$SELECT bmm_fit(ARRAY[age], 2, '{"likelihood": {"age": "normal"}}') FROM people$$,
    '22023 option "likelihood" is an object, but must be one of ' || column_families()),
  ($$SELECT bmm_fit(p, 2, '{"metod": "vi"}') FROM (SELECT age FROM people) AS p$$,
    '22023 unknown option "metod"'),
  -- scoring
  ('SELECT bmm_predict(strict, p) FROM models, (SELECT age, city FROM people) AS p',
    '22023 rows have no column "member"'),
  ('SELECT bmm_predict(model, p) FROM models, (SELECT born FROM people) AS p',
    '22023 rows have no column "age"'),
  ('SELECT bmm_predict(model, ROW(1, 2)) FROM models',
    '42804 columns of a record have no names, but those of the model are "age", "city", '
    '"member"'),
  ('SELECT bmm_predict(model, p) FROM models,
    (SELECT age, age AS age, city, member FROM people) AS p',
    '22023 rows have two columns "age"'),
  ('SELECT bmm_predict(model, p) FROM models, (SELECT city AS age, city, member FROM people) AS p',
    '22023 column "age" is of type text, but was a number when the model was fitted'),
  ($$SELECT bmm_predict(strict, p)
    FROM models, (SELECT 20 AS age, 'c9' AS city, true AS member) AS p$$,
    '22023 column "city" has label "c9", which the model does not know'),
  ($$SELECT bmm_predict(strict, p)
    FROM models, (SELECT 20 AS age, NULL AS city, true AS member) AS p$$,
    '22004 column "city" is NULL'),
  ('SELECT bmm_predict(model, ARRAY[1, 7, 1]) FROM models',
    '22023 column "city" is 7, but must be a whole number from 0 to 2'),
  ('SELECT bmm_predict(model, p)
    FROM models, (SELECT 7 AS other, 20 AS age, ''c1'' AS city, 7 AS member) AS p',
    '22023 column "member" is 7, but must be 0 or 1'),
  ('SELECT bmm_predict(model, 5) FROM models',
    '2202E the array has 1 element, but the model has 3'),
  ('SELECT gmm_predict(strict, p) FROM numbers, (SELECT 1 AS age, NULL::int AS square) AS p',
    '22004 column "square" is NULL'),
  -- from a model
  ('SELECT gmm_fit(p, model) FROM numbers, (SELECT age FROM people) AS p GROUP BY model',
    '22023 rows have no column "square"'),
  -- models as text
  ($$SELECT jsonb_set(model::jsonb, '{row_columns,0,name}', '"city"')::bayes_model FROM models$$,
    '22P02 invalid bayes_model: member "row_columns" has two columns named "city"'),
  ($$SELECT (model::jsonb #- '{row_columns,0}')::bayes_model FROM models$$,
    '22P02 invalid bayes_model: member "row_columns" must be an array of 3 columns'),
  ($$SELECT jsonb_set(model::jsonb, '{row_columns,1,labels}', '["b", "a"]')::bayes_model
    FROM models$$, '22P02 invalid bayes_model: member "row_columns.labels" contains "a" after "b", '
    'but must be in ascending order of bytes'),
  ($$SELECT bmm_predict(jsonb_set(model::jsonb, '{row_columns,1,labels}', '["c9"]')::bayes_model, p)
    FROM models, (SELECT 20 AS age, 'c9' AS city, true AS member) AS p$$, 'no error')
  ) AS c(statement, said);

SELECT * FROM finish();
