-- Tables to be factorized: cells and arrays, keys of all types, and that nothing but keys and
-- numbers matters.
SELECT plan(54);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- 9 rows and 7 columns, with gaps.
CREATE TABLE cells AS SELECT r, c, ((r * c * c + 3 * r) % 7)::float8 AS v
FROM generate_series(1, 9) AS r, generate_series(1, 7) AS c WHERE (r + c) % 3 > 0;
\set options '''{"max_iter": 5, "tol": 0}'''
CREATE TABLE given AS SELECT nmf_fit(r, c, v, 2, :options) AS model FROM cells;
CREATE FUNCTION like_given(model bayes_model) RETURNS boolean LANGUAGE sql
RETURN timeless(model) = (SELECT timeless(given.model) FROM given);
CREATE TABLE arrays AS SELECT r AS id,
  ARRAY(SELECT coalesce((SELECT v FROM cells WHERE cells.r = rows.r AND cells.c = s.c), 0)
        FROM generate_series(1, 7) AS s(c) ORDER BY c) AS x
FROM generate_series(1, 9) AS rows(r);

-- ---- the same table in every form ----

SELECT ok(like_given(nmf_fit(x, 2, :options ORDER BY id)), 'arrays') FROM arrays;
SELECT ok(like_given(nmf_fit(x::float4[], 2, :options ORDER BY id)), 'of real') FROM arrays;
SELECT ok(like_given(nmf_fit(x::int[], 2, :options ORDER BY id)), 'of int') FROM arrays;
SELECT ok(like_given(nmf_fit(x::numeric[], 2, :options ORDER BY id)), 'of numeric') FROM arrays;
SELECT same(timeless(nmf_fit('{1,2}', 2)), timeless(nmf_fit('{1,2}'::float8[], 2)),
  'literals without a type');
SELECT same(timeless(nmf_fit('{1,2}', 2, '{"seed": 3}')),
  timeless(nmf_fit('{1,2}'::float8[], 2, '{"seed": 3}'::jsonb)), 'with options');
SELECT is(nmf_fit(NULL, 2), NULL, 'NULL without a type');
SELECT throws_ok(format('SELECT nmf_fit(%s, 2)', value), '42804', 'a row is of type ' || type,
  type) FROM (VALUES ('3', 'integer'), ('''{1,2}''::text', 'text'), ('ROW(1, 2)', 'record'),
  ('''{1,2}''::text[]', 'text[]'), ('''{t,f}''::bool[]', 'boolean[]'),
  ('''{"a": 1}''::jsonb', 'jsonb')) AS t(value, type);
SELECT throws_ok($$SELECT nmf_fit('{1,two}', 2)$$, '22P02', NULL, 'literals that are no array');
SELECT same_rows(format($$SELECT * FROM nmf_factorize(%L, 2, %L)$$, query, :options),
  'SELECT f.* FROM given, nmf_factors(model) AS f', query)
FROM (VALUES ('SELECT r, c, v FROM cells'), ('SELECT r, c::text, v::numeric FROM cells'),
  ('SELECT r::bigint, c, v::int FROM cells ORDER BY md5(r || '' '' || c)'),
  ('SELECT x FROM arrays ORDER BY id'), ('SELECT id, x FROM arrays ORDER BY id DESC'),
  ('SELECT id::text, x::int[] FROM arrays'), ('SELECT x::numeric[] FROM arrays ORDER BY id'))
  AS q(query);

-- ---- what does not matter ----

SELECT ok(like_given(nmf_fit(r, c, v, 2, :options ORDER BY r DESC, c DESC)), 'cells backwards')
FROM cells;
SELECT ok(like_given(nmf_fit(r, c, v, 2, :options ORDER BY random())), 'in any order') FROM cells;
SELECT ok(like_given(nmf_fit(r, c, v / 4, 2, :options ORDER BY random())), 'in parts')
FROM cells, generate_series(1, 4);
SELECT same(timeless(nmf_fit(r, c, x, 2, :options ORDER BY x)),
  timeless(nmf_fit(r, c, x, 2, :options ORDER BY x DESC)),
  'parts of a number are added up in an order of their own')
FROM (SELECT r, c, 0.1 + v * (i * 7 % 10) / 3.0 AS x FROM cells, generate_series(1, 9) AS i) AS p;
SELECT ok(like_given(nmf_fit(r, c, v, 2, :options)), 'zeros that are given')
FROM (TABLE cells UNION ALL SELECT r, c, '-0' FROM generate_series(1, 9) AS r,
  generate_series(1, 7) AS c) AS z;

-- ---- which side is called rows ----

CREATE FUNCTION factors_of(model bayes_model) RETURNS text LANGUAGE sql RETURN (SELECT
  string_agg(f::text, ' ' ORDER BY side, key COLLATE "C", factor) FROM nmf_factors(model) AS f);
CREATE FUNCTION turned(model bayes_model) RETURNS text LANGUAGE sql RETURN (SELECT
  string_agg((CASE side WHEN 'row' THEN 'column' ELSE 'row' END, key, factor, value, shape, rate)
    ::text, ' ' ORDER BY side DESC, key COLLATE "C", factor) FROM nmf_factors(model));
SELECT same(turned(nmf_fit(c, r, v, 2, :options)), (SELECT factors_of(model) FROM given),
  'the transposed table has the transposed factors') FROM cells;
SELECT same(turned(nmf_fit(c, r, v, 2, :options)), factors_of(nmf_fit(r, c, v, 2, :options)),
  'of ' || what)
FROM (SELECT 'a square' AS what, 'u' || r AS r, 'i' || c AS c, v FROM cells WHERE r < 8
      UNION ALL SELECT 'a square of the same keys', r::text, c::text, v FROM cells WHERE r < 8
      UNION ALL SELECT 'one column', r::text, 'x', v FROM cells
      UNION ALL SELECT 'one cell', 'a', 'b', 3) AS t
GROUP BY what ORDER BY what;

-- ---- keys of any type ----

CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE FUNCTION keys_of(model bayes_model) RETURNS text LANGUAGE sql RETURN (SELECT
  string_agg(side || ' ' || key, ', ' ORDER BY side DESC, ordinality)
  FROM nmf_factors(model) WITH ORDINALITY WHERE factor = 1);
SELECT is(keys_of(nmf_fit('a', 'b', 1, 1)), 'row a, column b', 'literals');
SELECT is(keys_of(nmf_fit(1, 'b'::text, 1, 1)), 'row 1, column b', 'an integer and a text');
SELECT is(keys_of(nmf_fit(x, -x, 1, 1)),
  'row -3, row 10, row 123456789012, row 9, column -10, column -123456789012, column -9, column 3',
  'integers are in the order of their texts')
FROM unnest('{9,10,-3,123456789012}'::bigint[]) AS x;
SELECT is(keys_of(nmf_fit(x::smallint, x + 70000, 1, 1)),
  'row -1, row 20000, column 69999, column 90000', 'smallint')
    FROM unnest('{20000,-1}'::int[]) AS x;
SELECT is(keys_of(nmf_fit(x::colour, md5(x)::uuid, 1, 1)), 'row blue, row red, '
  'column 48d62159-03df-f562-38e5-2e8891380c8f, column bda9643a-c660-1722-a28f-238714274da4',
    'enum, uuid')
FROM unnest('{red,blue}'::text[]) AS x;
SELECT is(keys_of(nmf_fit(x, x::numeric, 1, 1)), 'row 0.1, row 2, column 0.1, column 2',
  'numbers') FROM unnest('{2,0.1}'::float8[]) AS x;
SET datestyle = 'German';
SET timezone = 'Asia/Tokyo';
SELECT is(keys_of(nmf_fit(x::date, x, 1, 1)), 'row 2024-05-06, column 2024-05-06 01:02:03+00',
  'dates and times, whatever the session''s settings')
FROM (VALUES (timestamptz '2024-05-06 01:02:03+00')) AS v(x);
RESET datestyle;
RESET timezone;
SELECT is(keys_of(nmf_fit(x, x = 'ß', 1, 1)), 'row , row a, row z, row ß, column f, column t',
  'texts in the order of bytes, one of them empty') FROM unnest('{ß,z,"",a}'::text[]) AS x;
SELECT is(keys_of(nmf_fit(x::varchar, x::char(3), 1, 1)), 'row a, column a',
  'varchar, char')
FROM unnest('{a}'::text[]) AS x;
SELECT is(keys_of(nmf_fit(x, ROW(x, 1), 1, 1)), 'row {1,2}, column ("{1,2}",1)',
  'arrays and records') FROM (VALUES ('{1,2}'::int[])) AS v(x);
SELECT is(keys_of(nmf_fit(x, '{"a": 1}'::jsonb, 1, 1)), 'row \x6162, column {"a": 1}',
  'bytes, jsonb') FROM (VALUES ('ab'::bytea)) AS v(x);
SELECT is(keys_of(nmf_fit(repeat(x, 10000), repeat(x, 5000)::text, 1, 1)),
  'row ' || repeat('k', 10000) || ', column ' || repeat('k', 5000), 'as long as keys may be')
FROM (VALUES ('k')) AS v(x);
SELECT is(keys_of(nmf_fit(x, 1, 1, 1)), 'row ' || repeat('k', 9000) || ', column 1',
  'compressed in a table') FROM (SELECT string_agg('k', '') AS x FROM generate_series(1, 9000))
  AS v;
SELECT is((round(p.mean::numeric, 6), keys_of(m)), (4.000000, 'row 1, row 2, column 1, column 2'
  ::text), 'rows and columns by keys of other types')
FROM (SELECT nmf_fit(r, c, r * c, 1, '{"method": "em"}') AS m FROM generate_series(1, 2) AS r,
  generate_series(1, 2) AS c) AS f, nmf_predict(m, 2::bigint, '2'::varchar) AS p;

-- ---- NULL, NaN, absent ----

SELECT is((keys_of(m), i.skipped), ('row a, row b, row d, row e, column x, column y, '
  'column z'::text,
  5::bigint), 'a NULL number tells that row and column exist, a NULL key nothing of itself')
FROM (SELECT nmf_fit(r, c, v, 1) AS m FROM (VALUES ('a', 'x', 1), ('b', 'x', NULL), ('d', NULL, 2),
  (NULL, 'y', 3), (NULL, NULL, 1), ('e', 'z', 0), ('e', NULL, NULL)) AS v(r, c, v)) AS f,
  bayes_info(m) AS i;
SELECT is((keys_of(m), i.skipped), ('row 1, row 2, column a'::text, 2::bigint), 'a NaN is no key')
FROM (SELECT nmf_fit(r, 'a', 1, 1) AS m FROM unnest('{NaN,1,2,NULL}'::float8[]) AS r) AS f,
  bayes_info(m) AS i;
SELECT is((keys_of(m), i.skipped), ('row 1, row 2, column 1, column 2'::text, 2::bigint),
  'a NULL array is no row, a NULL element no number')
FROM (SELECT nmf_fit(x, 1 ORDER BY n) AS m FROM (VALUES (1, '{1,NULL}'::float8[]), (2, NULL),
  (3, '{0,2}')) AS v(n, x)) AS f, bayes_info(m) AS i;
SELECT is((SELECT string_agg(key, ',') FROM nmf_factorize($$SELECT * FROM (VALUES ('b',
  '{1,2}'::int[]), (NULL, '{1,1}'), ('a', NULL), ('c', '{NULL,3}')) AS v$$, 1)
  WHERE side = 'row'), 'a,b,c', 'of arrays with keys a row exists without them');
SELECT is(nmf_fit(r, c, v, 2), NULL, 'no cells, no model') FROM cells WHERE false;
SELECT is(nmf_fit(NULL::int, c, v, 2), NULL, 'nor without rows') FROM cells;
SELECT is(nmf_fit(r, NULL::text, v, 2), NULL, 'nor without columns') FROM cells;
SELECT is(nmf_fit(NULL::float8[], 2), NULL, 'nor from no arrays') FROM cells;
SELECT is((SELECT count(*) FROM nmf_factorize('SELECT r, c, v FROM cells WHERE false', 2)),
  0::bigint, 'nor from a query without');

SELECT * FROM finish();
