-- Non-negative factorizations: every way to ask for what cannot be, and what is said about it.
SELECT plan(69);
SET client_min_messages = error;
\ir ../lib/errors.sql

CREATE TABLE cells AS SELECT 'r' || id AS r, 'c' || id % 3 AS c, id % 4 AS v, ARRAY[id, 1, 2]
    AS x, id
FROM generate_series(1, 10) AS id;
CREATE TABLE given AS SELECT nmf_fit(r, c, v, 2) AS model, nmf_fit(x, 2, '{"method": "em"}') AS em
FROM cells;

SELECT is(whole_complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT nmf_fit(r, c, v, 0) FROM cells$q$,
    '22023 k is 0, but must be a whole number from 1 to 1000'),
  ($q$SELECT nmf_fit(r, c, v, 1001) FROM cells$q$,
    '22023 k is 1001, but must be a whole number from 1 to 1000'),
  ($q$SELECT nmf_fit(r, c, v, NULL::int) FROM cells$q$, '22004 k must not be NULL'),
  ($q$SELECT nmf_fit(r, c, v, NULL::bayes_model) FROM cells$q$, '22004 start must not be NULL'),
  ($q$SELECT nmf_fit(r, c, v, id) FROM cells$q$,
    '22023 k must be the same for all rows of one fit | It differs from the value in the '
    'first row. | To fit one model for each value, GROUP BY it.'),
  ($q$SELECT nmf_fit(r, c, v, gmm_fit) FROM cells, (SELECT gmm_fit(x, 1) FROM faithful) AS g$q$,
    '42804 model is of family gmm, expected nmf | bayes_info(model) shows the family of a model.'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"metod": "em"}') FROM cells$q$,
    '22023 unknown option "metod" | Did you mean "method"?'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"method": "map"}') FROM cells$q$,
    '22023 option "method" is "map", but must be one of vi, svi, em, squared'),
  ($q$SELECT nmf_fit(r, c, v, 2, '[]') FROM cells$q$,
    '22023 options must be a JSON object, but are of kind array of numbers | Write options as '
    '''{"method": "em", "seed": 2}''.'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"init": "kmeans"}') FROM cells$q$,
    '22023 option "init" is "kmeans", but must be one of nndsvd, random'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"prior": {"e": 1}}') FROM cells$q$,
    '22023 unknown option "prior.e" | The options are prior.a, prior.b, prior.c, prior.d.'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"prior": {"a": 0}}') FROM cells$q$,
    '22023 option "prior.a" is 0, but must be a number from 0.002 to 1000000000000, or '
    '"learned"'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"method": "em", "prior": {"a": 1}}') FROM cells$q$,
    '22023 option "prior" does not apply to method em | The options are absent, init, '
    'max_iter, max_seconds, method, on_error, restarts, resumable, seed, tol.'),
  ($q$SELECT nmf_fit(r, c, v, model, '{"init": "random"}') FROM cells, given$q$,
    '22023 option "init" does not apply to a fit that starts from a model by method vi | The '
    'options are absent, hierarchical, max_iter, max_seconds, method, on_error, prior, '
    'restarts, resumable, seed, tol.'),
  ($q$SELECT nmf_fit(r, c, -v, 2) FROM cells$q$,
    '22023 number of row "r1" and column "c1" is -1 | Numbers are finite and not negative. | Leave '
    'such cells out with WHERE or FILTER, or give NULL.'),
  ($q$SELECT nmf_fit(1.5, DATE '2024-02-03', 'NaN', 2)$q$,
    '22023 number of row "1.5" and column "2024-02-03" is NaN | Numbers are finite and not '
    'negative. | Leave such cells out with WHERE or FILTER, or give NULL.'),
  ($q$SELECT nmf_fit(r, c, 'Infinity', 2) FROM cells$q$,
    '22023 number of row "r1" and column "c1" is Infinity | Numbers are finite and not negative. | '
    'Leave such cells out with WHERE or FILTER, or give NULL.'),
  ($q$SELECT nmf_fit('a', 'b', v::float8, 2) FROM (VALUES (1e308), (1e308)) AS t(v)$q$,
    '22003 the sum of the numbers of row "a" and column "b" overflows'),
  ($q$SELECT nmf_fit(r, c, 1e300, 2) FROM cells$q$,
    '22003 the numbers of a row add up to 1e+300, but the limit is 1000000000000000 with method '
    'vi | Divide all numbers by a constant.'),
  ($q$SELECT nmf_fit(r, c, 0, 2) FROM cells$q$,
    '22023 every cell of the table is 0 | A factorization needs cells that are greater than 0.'),
  ($q$SELECT nmf_fit(r, c, NULL::float8, 2) FROM cells$q$,
    '22023 every cell of the table is 0 | A factorization needs cells that are greater than 0.'),
  ($q$SELECT nmf_fit(repeat('k', 10001), c, v, 2) FROM cells$q$,
    '54000 a row key is 10001 bytes long, but the limit is 10000 | It begins with "'
    || repeat('k', 80) || '..." | A key is the name of a row or column. Use a shorter one, such as '
    'md5(key).'),
  ($q$SELECT nmf_fit(r, repeat('ä', 500000), v, 2) FROM cells$q$,
    '54000 a column key is 1000000 bytes long, but the limit is 10000 | It begins with "'
    || repeat('ä', 40) || '...", in row "r1" | A key is the name of a row or column. Use a '
    'shorter one, such as md5(key).'),
  ($q$SELECT nmf_fit(i, i, 1, 1000) FROM generate_series(1, 100000) AS i$q$,
    '54000 fitting a table of more than 26761 rows and columns together takes more than 1024 MB '
    'in addition to the table | The limit is maintenance_work_mem, or 1 GB if that is more. | '
    'Raise maintenance_work_mem, or use a smaller k.'),
  ($q$SELECT nmf_fit(x::float8[] || CASE WHEN id = 3 THEN -1.5 ELSE 1 END::float8, 2 ORDER BY id)
      FROM cells$q$,
    '22023 number of row 3 and column 4 is -1.5 | Numbers are finite and not negative. | Leave '
    'such cells out with WHERE or FILTER, or give NULL.'),
  ($q$SELECT nmf_fit(x[1:1 + id % 3], 2 ORDER BY id) FROM cells$q$,
    '2202E row 2 has 3 elements, but row 1 has 2 elements | All rows of one model have the same '
    'length.'),
  ($q$SELECT nmf_fit(x[1:id % 2], 2 ORDER BY id) FROM cells$q$,
    '2202E row 2 is an empty array | A row of numbers has at least one element.'),
  ($q$SELECT nmf_fit(ARRAY[x, x], 2) FROM cells$q$,
    '2202E row 1 is an array of 2 dimensions | A row of numbers is a one-dimensional array.'),
  ($q$SELECT nmf_transform(model, '{"c1": -1}'::jsonb) FROM given$q$,
    '22023 the number in column "c1" is -1 | Numbers are finite and not negative.'),
  ($q$SELECT nmf_transform(model, '{"unheard": -1}'::jsonb) FROM given$q$,
    '22023 the number in column "unheard" is -1 | Numbers are finite and not negative.'),
  ($q$SELECT nmf_transform(model, '{"c1": 1e400}'::jsonb) FROM given$q$,
    '22023 the number in column "c1" is Infinity | Numbers are finite and not negative.'),
  ($q$SELECT nmf_transform(em, '{1,2}'::float8[]) FROM given$q$,
    '2202E the array has 2 elements, but the model has 3 columns | An array has one number for '
    'each of the columns ''1'', ''2'', ... of a model that was fitted to arrays. | For a model '
    'with other keys, give the cells as jsonb: {"index": 3, "scan": 1}.'),
  ($q$SELECT nmf_transform(em, '{}'::float8[]) FROM given$q$,
    '2202E the array has 0 elements, but the model has 3 columns | An array has one number for '
    'each of the columns ''1'', ''2'', ... of a model that was fitted to arrays. | For a model '
    'with other keys, give the cells as jsonb: {"index": 3, "scan": 1}.'),
  ($q$SELECT nmf_transform(em, '{{1,2,3}}'::float8[]) FROM given$q$,
    '2202E the array of cells has 2 dimensions | The numbers of a row or column are a '
    'one-dimensional array.'),
  ($q$SELECT nmf_transform(em, '{1,NaN,2}'::float8[]) FROM given$q$,
    '22023 the number in column "2" is NaN | Numbers are finite and not negative.'),
  ($q$SELECT nmf_transform(model, '{1,1,2}'::float8[]) FROM given$q$,
    '22023 the model has no column "1" | The elements of an array belong to columns ''1'', ''2'', '
    '... of a model that was fitted to arrays. | For a model with other keys, give the cells as '
    'jsonb: {"index": 3, "scan": 1}.'),
  ($q$SELECT nmf_transform(model, '{"r1": 1}'::jsonb, 'rows') FROM given$q$,
    '22023 side is "rows", but must be "row" or "column"'),
  ($q$SELECT nmf_transform(model, '{"r1": -1}'::jsonb, 'column') FROM given$q$,
    '22023 the number in row "r1" is -1 | Numbers are finite and not negative.'),
  ($q$SELECT nmf_transform(model, '{"r1": "x"}'::jsonb, 'column') FROM given$q$,
    '22023 the number in row "r1" is a string | Cells given as jsonb are an object of row keys and '
    'numbers: {"index": 3, "scan": 1}.'),
  ($q$SELECT nmf_transform(em, '{1,2,3}'::float8[], 'column') FROM given$q$,
    '2202E the array has 3 elements, but the model has 10 rows | An array has one number for '
    'each of the rows ''1'', ''2'', ... of a model that was fitted to arrays. | For a model with '
    'other keys, give the cells as jsonb: {"index": 3, "scan": 1}.'),
  ($q$SELECT nmf_transform(model, '{1,1,1,1,1,1,1,1,1,1}'::float8[], 'column') FROM given$q$,
    '22023 the model has no row "1" | The elements of an array belong to rows ''1'', ''2'', ... '
    'of a model that was fitted to arrays. | For a model with other keys, give the cells as '
    'jsonb: {"index": 3, "scan": 1}.'),
  ($q$SELECT nmf_transform_sd(em, '{1,1,1,1,1,1,1,1,1,1}'::float8[], 'column') FROM given$q$,
    '22023 model fitted by em has no posterior | Weights have a gamma posterior after '
    'methods vi and svi. | nmf_transform(model, cells) gives the estimate.'),
  ($q$SELECT nmf_transform_sd(em, '{1,1,2}'::float8[]) FROM given$q$,
    '22023 model fitted by em has no posterior | Weights have a gamma posterior after '
    'methods vi and svi. | nmf_transform(model, cells) gives the estimate.'),
  ($q$SELECT nmf_predict(gmm_fit, 1, 2) FROM (SELECT gmm_fit(x, 1) FROM faithful) AS g$q$,
    '42804 model is of family gmm, expected nmf | bayes_info(model) shows the family of a model.'),
  ($q$SELECT nmf_factorize('SELECT r, c, v FROM cells', 0)$q$,
    '22023 k is 0, but must be a whole number from 1 to 1000'),
  ($q$SELECT nmf_select('SELECT r, c, v FROM cells', '{}')$q$,
    '2202E ks must be a one-dimensional array of at least one number of components'),
  ($q$SELECT nmf_select('SELECT r, c, v FROM cells', '{2,NULL}')$q$,
    '22004 ks must not contain NULL'),
  ($q$SELECT nmf_select('SELECT r, c, v FROM cells', '{2,0}')$q$,
    '22023 k is 0, but must be a whole number from 1 to 1000'),
  ($q$SELECT nmf_select('SELECT r, c, v FROM cells WHERE id < 10', '{2}')$q$,
    '22023 there are 9 rows, too few to choose k | Every tenth row, or column if there are more '
    'columns, is held out, to measure how well a model predicts it.'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"method": "squared", "absent": "missing"}') FROM cells$q$,
    '22023 option "absent" does not apply to method squared | The options are init, max_iter, '
    'max_seconds, method, on_error, restarts, resumable, seed, tol.'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"method": "svi", "absent": "missing"}') FROM cells$q$,
    '22023 option "absent" does not apply to method svi | The options are batch_size, init, '
    'kappa, max_iter, max_seconds, method, on_error, prior, restarts, resumable, seed, t0, tol.'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"method": "svi", "hierarchical": true}') FROM cells$q$,
    '22023 option "hierarchical" does not apply to method svi | The options are batch_size, init, '
    'kappa, max_iter, max_seconds, method, on_error, prior, restarts, resumable, seed, t0, tol.'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"method": "svi", "batch_size": 0}') FROM cells$q$,
    '22023 option "batch_size" is 0, but must be a whole number from 1 to 100000000'),
  ($q$SELECT nmf_fit(r, c, v, 2, '{"hierarchical": true, "prior": {"a": "learned"}}') FROM cells$q$,
    '22023 parameters of the prior cannot be learned with option hierarchical | Options prior.a, '
    'prior.b, prior.c and prior.d must then be numbers.')
  ) AS v(statement, said);

-- ---- cells as jsonb ----

SELECT is(whole_complaint(format('SELECT nmf_transform(model, %L::jsonb) FROM given', cells)), said
  || ' | Cells given as jsonb are an object of column keys and numbers: {"index": 3, "scan": 1}.',
  cells)
FROM (VALUES
  ('{"c1": "x"}', '22023 the number in column "c1" is a string'),
  ('{"c1": true}', '22023 the number in column "c1" is a boolean'),
  ('{"c1": {"b": 1}}', '22023 the number in column "c1" is an object'),
  ('{"c1": [1]}', '22023 the number in column "c1" is an array'),
  ('[1]', '22023 cells are an array'),
  ('1', '22023 cells are a single value')) AS v(cells, said);

-- ---- queries that give no table ----

SELECT is(whole_complaint(format('SELECT nmf_factorize(%L, 2)', query)), said || ' | Select row, '
  'column and number of each cell (SELECT customer, item, amount FROM ...), or an array of numbers '
  'for each row, with or without a key before it (SELECT id, x FROM ...).', query)
FROM (VALUES
  ('SELECT r, c, v, id FROM cells', '22023 query returns 4 columns, but must return one to three'),
  ('SELECT FROM cells', '22023 query returns 0 columns, but must return one to three'),
  ('SELECT r FROM cells', '22023 column "r" of the query is of type text | The last column is a '
    'row of the table, an array of numbers.'),
  ('SELECT id, ARRAY[r] FROM cells', '22023 column "array" of the query is of type text[] | The '
    'last column is a row of the table, an array of numbers.'),
  ('SELECT r, v, c FROM cells', '22023 column "c" of the query is of type text | The third column '
    'is the number in a cell.'),
  ('SELECT r, c, x FROM cells', '22023 column "x" of the query is of type integer[] | The third '
    'column is the number in a cell.'),
  ('DELETE FROM cells', '22023 query is not a SELECT | It must be one SELECT that returns rows.'),
  (NULL, '22004 query must not be NULL')) AS v(query, said);
SELECT is(complaint($$SELECT nmf_factorize('SELECT r, c, -v::numeric FROM cells ORDER BY id', 2)$$),
  '22023 number of row "r1" and column "c1" is -1', 'what the cells of a query say');

SELECT * FROM finish();
