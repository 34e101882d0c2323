-- The comparisons of tests/lib/checks.sql: they fail where nothing was compared.
SELECT plan(45);
\ir ../lib/checks.sql

SELECT ok(near(1, 1 + 1e-10::float8), 'near: within the tolerance');
SELECT ok(near(1e10::float8, 1e10 + 0.5), 'which is relative to what is large');
SELECT ok(near('Infinity'::float8, 'Infinity'), 'infinity is infinity');
SELECT ok(near('{1,2}', ARRAY[1, 2 + 1e-10]::float8[]), 'arrays');
SELECT ok(NOT near(a, b), format('%s is not near %s', a, b))
  FROM (VALUES (1::float8, 1.001::float8), (1, NULL), (NULL, 1), (NULL, NULL), (1, 'NaN'),
    ('NaN', 1),
    ('NaN', 'NaN'), (1, 'Infinity'), ('-Infinity', 1), ('Infinity', '-Infinity'),
    ('NaN', 'Infinity')) AS v(a, b);
SELECT ok(NOT near(a, b), format('%s is not near %s', a, b))
  FROM (VALUES ('{1,2}'::float8[], '{1,2.1}'::float8[]), ('{1,2}', '{1,NaN}'),
    ('{1,NULL}', '{1,2}'),
    ('{1,2}', '{1,2,3}'), ('{1,2}', '{{1,2}}'), ('{}', '{}'), (NULL, '{1}')) AS v(a, b);

SELECT * FROM check_test(never('SELECT i, i > 3 AS wrong FROM generate_series(1, 3) i', 'a'),
  true, 'never: no row is wrong', 'a');
SELECT * FROM check_test(never('SELECT i, i > 2 AS wrong FROM generate_series(1, 3) i', 'a'),
  false, 'never: one is', 'a', '(3,t)');
SELECT * FROM check_test(never('SELECT i, i > NULL AS wrong FROM generate_series(1, 1) i', 'a'),
  false, 'never: of one it is not known', 'a', '(1,)');
SELECT * FROM check_test(never('SELECT true AS wrong WHERE false', 'a'),
  false, 'never: there are none', 'a', 'there were no rows');

SELECT * FROM check_test(same(1, 1, 'a'), true, 'same: equal');
SELECT * FROM check_test(same(1, 2, 'a'), false, 'same: not');
SELECT * FROM check_test(same(1, NULL, 'a'), false, 'same: one is NULL');
SELECT * FROM check_test(same(NULL::int, NULL, 'a'), false, 'same: both are');
SELECT * FROM check_test(same_rows('VALUES (1), (2)', 'VALUES (1), (2)', 'a'), true,
  'same_rows: equal');
SELECT * FROM check_test(same_rows('VALUES (1), (2)', 'VALUES (2), (1)', 'a'), false,
  'same_rows: not');
SELECT * FROM check_test(same_rows('VALUES (1), (2)', 'VALUES (1)', 'a'), false, 'same_rows: more');
SELECT * FROM check_test(same_rows('SELECT 1 WHERE false', 'SELECT 1 WHERE false', 'a'),
  false, 'same_rows: none');

SELECT is(all_true(v), true, 'all_true') FROM (VALUES (true), (true)) AS t(v);
SELECT is(all_true(v), false, 'one is not') FROM (VALUES (true), (false), (true)) AS t(v);
SELECT is(all_true(v), false, 'one is not known') FROM (VALUES (NULL), (true)) AS t(v);
SELECT is(all_true(v), NULL, 'there are none') FROM (VALUES (true)) AS t(v) WHERE false;

SELECT * FROM finish();
