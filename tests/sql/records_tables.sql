-- Records of tables as they come: one column and many, generated ones, labels that collate as
-- equal, values of an enum that get other names.
SELECT plan(68);
\ir ../lib/checks.sql

-- ---- as many columns as a row can have, and one ----

CREATE FUNCTION wide(columns int, rows int) RETURNS text LANGUAGE sql RETURN (
  SELECT format('(SELECT %s FROM generate_series(1, %s) AS i)',
    string_agg(format('i %% %s < 2 AS c%s', 2 + j % 5, j), ', ' ORDER BY j), rows)
  FROM generate_series(1, columns) AS j);
CREATE FUNCTION model_of(rows text) RETURNS bayes_model LANGUAGE plpgsql AS $$
DECLARE model bayes_model;
BEGIN
  EXECUTE format('SELECT bmm_fit(r, 2, ''{"restarts": 1}'') FROM %s AS r', rows) INTO model;
  RETURN model;
END $$;
CREATE FUNCTION density_of(model bayes_model, rows text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE density float8;
BEGIN
  EXECUTE format('SELECT sum(bayes_log_density($1, r)) FROM %s AS r', rows) INTO density
    USING model;
  RETURN density;
END $$;
CREATE TABLE sizes AS SELECT columns, model_of(wide(columns, 40)) AS model
FROM unnest('{1,1600}'::int[]) AS columns;
SELECT results_eq('SELECT columns, dimension FROM sizes, bayes_info(model) ORDER BY columns',
  'VALUES (1, 1), (1600, 1600)', 'records of 1 and of 1600 columns');
SELECT is(max(element), columns, format('%s names', columns)) FROM sizes, bayes_columns(model)
GROUP BY columns ORDER BY columns;
SELECT ok(abs(density_of(model, wide(columns, 40)) - log_likelihood) < 100 + abs(log_likelihood),
  format('%s columns are scored', columns)) FROM sizes, bayes_info(model) ORDER BY columns;
SELECT throws_ok($$SELECT model_of(wide(1601, 4))$$, '54000',
  'row 1 has 1601 elements, but the limit is 1600', 'one column too many');

-- ---- columns that the server computes, and dropped ones ----

CREATE TABLE orders (id int, gone text, price numeric, pieces int, gone2 int,
  total float8 GENERATED ALWAYS AS (price * pieces) STORED);
INSERT INTO orders (id, price, pieces) SELECT i, 1 + i % 7, 1 + i % 3
FROM generate_series(1, 60) AS i;
ALTER TABLE orders DROP COLUMN gone, DROP COLUMN gone2;
SELECT is((SELECT timeless(gmm_fit(o, 2), 'row_columns') FROM orders AS o),
  (SELECT timeless(gmm_fit(ARRAY[id, price, pieces, price * pieces]::float8[], 2), 'row_columns')
  FROM orders), 'a generated column, and none of those that were dropped');
SELECT set_eq($$SELECT name FROM (SELECT gmm_fit(o, 2) AS model FROM orders AS o) AS f,
  bayes_columns(model)$$, '{id,price,pieces,total}'::text[], 'with their names');

-- ---- labels are told apart by their bytes ----

CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE words (w text COLLATE no_case, n float8);
INSERT INTO words SELECT (ARRAY['yes', 'YES', 'Yes', 'no'])[1 + i % 4], i % 2 * 9 + i / 40.0
FROM generate_series(1, 40) AS i;
SELECT is(count(DISTINCT w), 2::bigint, 'texts that collate as equal') FROM words;
CREATE TABLE cased AS SELECT bmm_fit(r, 2) AS model FROM words AS r;
SELECT set_eq('SELECT label FROM cased, bayes_columns(model) WHERE code IS NOT NULL',
  '{YES,Yes,no,yes}'::text[], 'are labels of their own');
SELECT is((SELECT timeless(model) FROM cased), (SELECT timeless(bmm_fit(r, 2))
  FROM (SELECT w COLLATE "C" AS w, n FROM words) AS r), 'under any collation');

-- ---- values of an enum that get other names ----

CREATE TYPE size AS ENUM ('s', 'm', 'l');
CREATE TABLE shirts AS SELECT (ARRAY['s', 'm', 'l'])[1 + i % 3]::size AS size, i % 3 = 2 AS sold
FROM generate_series(1, 60) AS i;
CREATE TABLE sold AS SELECT bmm_fit(s, 2) AS model FROM shirts AS s;
ALTER TYPE size RENAME VALUE 'l' TO 'large';
CREATE TYPE shirt AS (size text, sold boolean);
SELECT is(bayes_log_density(model, s), bayes_log_density(model, ROW('unheard of', true)::shirt),
  'a value with another name is a label that the model does not know')
FROM sold, (SELECT 'large'::size AS size, true AS sold) AS s;
SELECT isnt(bayes_log_density(model, s), bayes_log_density(model, ROW('unheard of', true)::shirt),
  'and one that kept its name is not') FROM sold, (SELECT 'm'::size AS size, true AS sold) AS s;

-- ---- names that look like those of ROW, and types that change ----

CREATE TABLE swapped AS SELECT i AS f1, 100 * (i % 2) + i AS f2, i AS id
FROM generate_series(1, 40) AS i;
CREATE TABLE of_swapped AS SELECT gmm_fit(s, 1) AS model FROM (SELECT f1, f2 FROM swapped) AS s;
SELECT is(bayes_log_density(model, s), bayes_log_density(model, ARRAY[s.f1, s.f2]),
  'columns f1, f2 are matched by name') FROM of_swapped, (SELECT f2, f1 FROM swapped
  WHERE id = 1) AS s;
SELECT is(bayes_log_density(model, s), bayes_log_density(model, ARRAY[s.f1, s.f2]),
  'with others beside') FROM of_swapped, swapped AS s WHERE id = 1;
SELECT is(bayes_log_density(model, s), bayes_log_density(model, ARRAY[s.a, s.b]),
  'and by position, if these have other names')
FROM of_swapped, (SELECT f1 AS a, f2 AS b FROM swapped WHERE id = 1) AS s;
SELECT is(bayes_log_density(model, ROW('5', NULL)), bayes_log_density(model, ROW(5, NULL::int)),
  'literals of ROW') FROM of_swapped;
SELECT isnt((SELECT bmm_fit(ROW(i % 2 = 0, 'a'), 2) FROM generate_series(1, 20) AS i), NULL,
  'also in a fit');
SELECT throws_ok(format('SELECT bmm_predict(model, r) FROM cased,
    (SELECT %s AS w, 1 AS n) AS r', w),
  '22023', format('column "w" is of type %s', complaint), w || ' is no label')
FROM (VALUES ('1', 'integer, but was a label when the model was fitted'),
  ('current_date', 'date')) AS v(w, complaint);

CREATE TABLE padded AS SELECT bmm_fit(r, 2) AS model FROM (SELECT w::char(9) AS w, n FROM words)
  AS r;
SELECT is((SELECT timeless(model) FROM padded), (SELECT timeless(model) FROM cased),
  'spaces at the end of char(n) are no part of a label');

CREATE TABLE stream (f1 float8, f2 float8, segment int);
CREATE FUNCTION label() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  new.segment := gmm_predict((SELECT model FROM of_swapped), new);
  RETURN new;
END $$;
CREATE TRIGGER label BEFORE INSERT ON stream FOR EACH ROW EXECUTE FUNCTION label();
BEGIN;
INSERT INTO stream VALUES (1, 2);
ALTER TABLE stream ADD COLUMN note text DEFAULT 'x';
INSERT INTO stream VALUES (3, 4);
ALTER TABLE stream DROP COLUMN f1, ADD COLUMN f1 float8 DEFAULT 1;
INSERT INTO stream (f2) VALUES (5);
SELECT is(array_agg(segment), '{1,1,1}', 'a table that is altered while a trigger is at work')
FROM stream;
COMMIT;
CREATE FUNCTION shape(i int) RETURNS record LANGUAGE plpgsql AS $$
DECLARE a record; b record;
BEGIN
  SELECT i AS x, i AS y INTO a;
  SELECT i AS x, i AS z INTO b;
  IF i < 3 THEN RETURN a; END IF;
  RETURN b;
END $$;
SELECT throws_ok('SELECT gmm_fit(shape(i), 1) FROM generate_series(1, 5) AS i', '22023',
  'rows have no column "y"', 'rows of several shapes');

-- ---- types that a cast makes arrays of, as pgvector's ----
SET client_min_messages = warning;

CREATE TYPE vec;
CREATE FUNCTION vec_in(cstring) RETURNS vec LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION vec_out(vec) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE TYPE vec (INPUT = vec_in, OUTPUT = vec_out, LIKE = text);
CREATE FUNCTION numbers_of(vec) RETURNS real[] LANGUAGE sql IMMUTABLE STRICT
  AS $$SELECT string_to_array(btrim($1::text, '[]'), ',')::real[]$$;
CREATE CAST (vec AS real[]) WITH FUNCTION numbers_of(vec) AS IMPLICIT;
CREATE TABLE items AS SELECT i AS id, format('[%s,%s]', i % 2 * 7 + i / 60.0, i % 7)::vec AS v
FROM generate_series(1, 60) AS i;
CREATE TABLE near_items AS SELECT gmm_fit(v::real[], 2) AS model FROM items;
SELECT is(gmm_predict(model, v), gmm_predict(model, numbers_of(v)), 'scores take the type')
FROM near_items, items WHERE id = 1;
SELECT is(gmm_predict(model, NULL::vec), NULL, 'and NULL') FROM near_items;
SELECT results_eq($$SELECT * FROM gmm_fit('SELECT v FROM items', 2)$$,
  'SELECT c.* FROM near_items, gmm_components(model) AS c', 'and queries');
SELECT results_eq($$SELECT * FROM gmm_fit('SELECT v, 1 FROM items', 2)$$,
  'SELECT c.* FROM near_items, gmm_components(model) AS c', 'with weights');
SELECT results_eq($$SELECT id, cluster FROM dpmm_cluster('SELECT id, v FROM items',
    '{"draws": 20}')$$, $$SELECT id, cluster FROM dpmm_cluster(
    'SELECT id, numbers_of(v) FROM items', '{"draws": 20}')$$, 'and names');

-- The function of a cast that is not implicit is not run unasked: its owner may be hostile to who
-- reads the table.
CREATE FUNCTION hostile_numbers(vec) RETURNS real[] LANGUAGE plpgsql
  AS $$BEGIN RAISE EXCEPTION 'run as %', current_user; END$$;
DROP CAST (vec AS real[]);
CREATE FUNCTION asked_for_array(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE statement;
  RETURN 'none';
EXCEPTION WHEN others THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ' ' || hint;
END $$;
CREATE TABLE readers(statement text, state text);
INSERT INTO readers VALUES
  ('SELECT gmm_predict(model, v) FROM near_items, items', '42804'),
  ('SELECT bayes_impute(model, v) FROM near_items, items', '42804'),
  ('SELECT gmm_cluster(v, 2) OVER () FROM items', '42804'),
  ('SELECT gmm_fit(v, 2) FROM items', '42804'),
  ('SELECT gmm_fit(r, 2) FROM (SELECT v FROM items) AS r', '22023'),
  ($$SELECT * FROM gmm_fit('SELECT v FROM items', 2)$$, '22023'),
  ($$SELECT * FROM dpmm_cluster('SELECT id, v FROM items')$$, '22023'),
  ($$SELECT * FROM linreg_fit('SELECT id, v FROM items')$$, '22023'),
  ($$SELECT * FROM hmm_decode('SELECT 1, id, v FROM items', 2)$$, '22023');
CREATE CAST (vec AS real[]) WITH FUNCTION hostile_numbers(vec) AS ASSIGNMENT;
SELECT is(asked_for_array(statement),
  state || ' Cast it to an array of numbers: f(column::real[]).', 'assignment: ' || statement)
FROM readers;
DROP CAST (vec AS real[]);
CREATE CAST (vec AS real[]) WITH FUNCTION numbers_of(vec);
SELECT is(asked_for_array(statement),
  state || ' Cast it to an array of numbers: f(column::real[]).', 'explicit: ' || statement)
FROM readers;
SELECT is(gmm_predict(model, v::real[]), gmm_predict(model, numbers_of(v)), 'but where written')
FROM near_items, items WHERE id = 1;

-- ---- codes in arrays that are no label ----

CREATE TABLE coded AS SELECT bmm_fit(r, 1) AS labelled
FROM (SELECT chr(97 + i % 3) AS l, i % 2 = 0 AS b FROM generate_series(1, 60) AS i) AS r;
SELECT throws_ok(format('SELECT %s(x::float8[], labelled) FROM coded, LATERAL (VALUES (1,
    ''{1,0}''), (2, ''{NULL,1}''), (3, ''{%s,1}'')) AS v(i, x)', f, code), '22023',
  format('row 3 has code %s in column "l", which is not the code of a label', code),
  format('%s of code %s', f, code))
FROM unnest('{bmm_fit,bmm_update}'::text[]) AS f, unnest('{-1,3,0.5,250}'::float8[]) AS code;
SELECT lives_ok($$SELECT bmm_fit(ARRAY[i % 3, i % 2]::float8[], labelled)
  FROM coded, generate_series(1, 9) AS i$$, 'codes that are labels');
SELECT throws_ok($$SELECT hmm_fit(s::float8[], model) FROM (SELECT hmm_fit(a, 1) AS model
    FROM (SELECT array_agg(r) AS a FROM (SELECT chr(97 + i % 3) AS l, i % 2 = 0 AS b
      FROM generate_series(1, 60) AS i) AS r) AS q) AS m,
    (VALUES ('{{1,0}}'), ('{{2,0},{NULL,1},{3,1}}')) AS v(s)$$, '22023',
  'step 3 of sequence 2 has code 3 in column "l", which is not the code of a label',
  'nor in sequences');
SELECT throws_ok('SELECT bmm_predict(labelled, ARRAY[7, 1]) FROM coded', '22023',
  'column "l" is 7, but must be a whole number from 0 to 2', 'nor in scores');

-- A model that nobody has fitted may have them.
ALTER TABLE coded ADD COLUMN model bayes_model;
UPDATE coded SET model = ((SELECT bmm_fit(ARRAY[i % 5 - 1, i % 2]::float8[], 1,
    '{"likelihood": ["categorical", "bernoulli"]}') FROM generate_series(1, 60) AS i)::jsonb
  || jsonb_build_object('row_columns', labelled::jsonb->'row_columns'))::text::bayes_model;
SELECT results_eq($$SELECT category, label FROM coded, bayes_parameters(model)
    WHERE column_name = 'l' ORDER BY category$$,
  $$VALUES (-1::int8, NULL), (0, 'a'), (1, 'b'), (2, 'c'), (3, NULL)$$, 'codes without a label');
SELECT is(count(*), 1::bigint, 'components match nevertheless')
FROM coded, bayes_match(labelled, model);
SELECT ok(count(*) > 0, 'and compare') FROM coded, bayes_compare(labelled, model);
SELECT set_eq($$SELECT p.category, p.label FROM coded, LATERAL (
    SELECT p.* FROM unnest((SELECT bayes_profile(model, ARRAY[i % 5 - 1, i % 2]::float8[])
                            FROM generate_series(1, 60) AS i)) AS p) AS p
    WHERE p.column_name = 'l'$$,
  $$VALUES (-1::int8, NULL), (0, 'a'), (1, 'b'), (2, 'c'), (3, NULL)$$, 'nor do profiles fail');
SELECT lives_ok($$SELECT bmm_fit(r, model) FROM coded, (SELECT chr(97 + i % 4) AS l, i % 2 = 0 AS b
  FROM generate_series(1, 60) AS i) AS r GROUP BY model::text$$, 'and a fit may start from it');

-- ---- values of an enum that get other names while a function is at work ----

CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TABLE moods AS SELECT bmm_fit(r, 1) AS model
FROM (SELECT (ARRAY['glad', 'sad'])[1 + (i % 10) / 9]::mood AS mood, i % 2 = 0 AS b
      FROM generate_series(1, 60) AS i) AS r;
CREATE TYPE of_moods AS (mood text, b boolean);
CREATE FUNCTION scores(OUT before float8, OUT renamed float8, OUT swapped float8)
LANGUAGE plpgsql AS $$
DECLARE
  m bayes_model := (SELECT model FROM moods);
  r record;
  found float8[];
BEGIN
  SELECT 'glad'::mood AS mood, true AS b INTO r;
  FOR i IN 1 .. 3 LOOP
    IF i = 2 THEN ALTER TYPE mood RENAME VALUE 'glad' TO 'merry'; END IF;
    IF i = 3 THEN
      ALTER TYPE mood RENAME VALUE 'sad' TO 'glad';
      ALTER TYPE mood RENAME VALUE 'merry' TO 'sad';
    END IF;
    found[i] := bayes_log_density(m, r);
  END LOOP;
  before := found[1]; renamed := found[2]; swapped := found[3];
END $$;
SELECT ok(abs(before - glad) < 1e-12 AND abs(renamed - none) < 1e-12 AND abs(swapped - sad) < 1e-12,
  'an enum whose values get other names in one transaction')
FROM scores(), moods, LATERAL (SELECT bayes_log_density(model, ROW('glad', true)::of_moods) AS glad,
  bayes_log_density(model, ROW('sad', true)::of_moods) AS sad,
  bayes_log_density(model, ROW('unheard of', true)::of_moods) AS none) AS e;

-- ---- records that are stored: short, long, with NULLs, and older than columns of their type ----

CREATE TYPE spot AS (a float8, gone int, t text, u text, f boolean, n numeric);
CREATE TABLE spots AS SELECT i, (sqrt(i), i, repeat('t', i % 3),
  repeat(md5('u' || i % 2), 1 + i % 2 * 90), CASE WHEN i % 5 > 0 THEN i % 7 = 0 END,
  CASE WHEN i % 4 > 0 THEN i / 3.0 END)::spot AS s FROM generate_series(1, 60) AS i;
ALTER TYPE spot DROP ATTRIBUTE gone, ADD ATTRIBUTE more int2, ADD ATTRIBUTE word text;
INSERT INTO spots SELECT i, ROW(sqrt(i), repeat('t', i % 3), md5('u' || i % 2), true, i / 2.0,
  i % 5, 'w' || i % 2)::spot FROM generate_series(61, 90) AS i;
CREATE TABLE of_spots AS SELECT bmm_fit(s, 2) AS stored, bmm_fit(r, 2) AS made
FROM spots, LATERAL (SELECT (s).a, (s).t, (s).u, (s).f, (s).n, (s).more, (s).word) AS r;
SELECT is(timeless(stored), timeless(made), 'a fit of stored records is that of their fields')
FROM of_spots;
SELECT never($$SELECT i, bayes_log_density(stored, s) IS DISTINCT FROM bayes_log_density(made, r)
    AS wrong FROM of_spots, spots,
  LATERAL (SELECT (s).a, (s).t, (s).u, (s).f, (s).n, (s).more, (s).word) AS r$$, 'so are scores');

-- A record that is older than a change of its type's attributes: what PostgreSQL does with it,
-- which in recent minor versions is an error.
CREATE TYPE changed AS (a float8, b int);
CREATE TABLE of_changed AS SELECT gmm_fit(r, 1) AS model
FROM (SELECT ROW(i * i % 7, i % 5)::changed AS r FROM generate_series(1, 30) AS i) AS f;
CREATE FUNCTION state_after_change(call text, first_calls int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  record changed := ROW(1, 5);
  given bayes_model := model FROM of_changed;
BEGIN
  FOR i IN 1 .. 2 LOOP
    IF i > first_calls THEN
      ALTER TYPE changed ALTER ATTRIBUTE b TYPE float4;
    END IF;
    IF call = 'score' THEN
      PERFORM bayes_log_density(given, record);
    ELSIF call = 'fit' THEN
      PERFORM gmm_fit(r, 1) FROM unnest(ARRAY[record, record, record]) AS r;
    ELSE
      PERFORM to_jsonb(record);
    END IF;
  END LOOP;
  RAISE 'no error' USING ERRCODE = '22000';
EXCEPTION WHEN others THEN
  RETURN SQLSTATE;
END $$;
SELECT is(array_agg(state_after_change(call, first)), array_agg(state_after_change('json', first)),
  format('a record that is older than its type: %s', call))
FROM unnest('{score,fit}'::text[]) AS call, unnest('{0,1}'::int[]) AS first GROUP BY call;

SELECT * FROM finish();
