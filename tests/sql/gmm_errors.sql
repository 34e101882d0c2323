-- Gaussian mixtures: every way to ask for what cannot be, and what is said about it. SQLSTATEs as
-- the manual promises; messages name the culprit.
SELECT plan(178);
\ir ../lib/checks.sql
SET client_min_messages = error;

\ir ../lib/errors.sql
CREATE TABLE given AS SELECT gmm_fit(x, 2, '{"method": "em"}') AS em, gmm_fit(x, 2) AS vi,
  gmm_fit(x, 2, '{"method": "kmeans"}') AS kmeans,
  gmm_fit(x, 2, '{"missing": "error"}') AS strict FROM faithful;

-- ---- options ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_fit(x, 2, '{"metod": "em"}') FROM faithful$q$, '22023 unknown option "metod"'),
  ($q$SELECT gmm_fit(x, 2, '{"Method": "em"}') FROM faithful$q$, '22023 unknown option "Method"'),
  ($q$SELECT gmm_fit(x, 2, '{"colour": "red"}') FROM faithful$q$, '22023 unknown option "colour"'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "wi"}') FROM faithful$q$,
    '22023 option "method" is "wi", but must be one of em, map, vi, svi, gibbs, collapsed, mcem, '
    'kmeans'),
  ($q$SELECT gmm_fit(x, 2, '{"method": 3}') FROM faithful$q$,
    '22023 option "method" is 3, but must be one of em, map, vi, svi, gibbs, collapsed, mcem, '
    'kmeans'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "gibs"}') FROM faithful$q$,
    '22023 option "method" is "gibs", but must be one of em, map, vi, svi, gibbs, collapsed, '
    'mcem, kmeans'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "gibbs", "max_iter": 7}') FROM faithful$q$,
    '22023 option "max_iter" does not apply to method gibbs'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "gibbs", "draws": 7, "warmup": 7}') FROM faithful$q$,
    '22023 option "warmup" is 7, but must be below option "draws", which is 7'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "collapsed", "covariance": "tied"}') FROM faithful$q$,
    '22023 option "covariance" is "tied", which method collapsed cannot fit'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "collapsed"}', 2) FROM faithful$q$,
    '22023 method collapsed takes no weights'),
  ($q$SELECT gmm_fit(x, 2, '{"covariance": "diag"}') FROM faithful$q$,
    '22023 option "covariance" is "diag", but must be one of full, diagonal, spherical, tied'),
  ($q$SELECT gmm_fit(x, 2, '{"covariance": ["full"]}') FROM faithful$q$,
    '22023 option "covariance" is an array, but must be one of full, diagonal, spherical, tied'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "kmeans", "covariance": "full"}') FROM faithful$q$,
    '22023 option "covariance" does not apply to method kmeans'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "em", "prior": {"a": 3}}') FROM faithful$q$,
    '22023 option "prior" does not apply to method em'),
  ($q$SELECT gmm_fit(x, 2, '{"covariance_floor": 1e-3}') FROM faithful$q$,
    '22023 option "covariance_floor" does not apply to method vi'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "em", "covariance_floor": 0}') FROM faithful$q$,
    '22023 option "covariance_floor" is 0, but must be a number greater than 0 and at most 1'),
  ($q$SELECT gmm_fit(x, 2, '{"batch_size": 100}') FROM faithful$q$,
    '22023 option "batch_size" does not apply to method vi'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "svi", "kappa": 1.5}') FROM faithful$q$,
    '22023 option "kappa" is 1.5, but must be a number from 0 to 1'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "svi", "batch_size": 0}') FROM faithful$q$,
    '22023 option "batch_size" is 0, but must be a whole number from 1 to 100000000'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "svi", "t0": "x"}') FROM faithful$q$,
    '22023 option "t0" is "x", but must be a number from 1 to 1000000000'),
  ($q$SELECT gmm_fit(x, 2, '{"restarts": 0}') FROM faithful$q$,
    '22023 option "restarts" is 0, but must be a whole number from 1 to 1000'),
  ($q$SELECT gmm_fit(x, 2, '{"restarts": 2.5}') FROM faithful$q$,
    '22023 option "restarts" is 2.5, but must be a whole number from 1 to 1000'),
  ($q$SELECT gmm_fit(x, 2, '{"max_iter": "many"}') FROM faithful$q$,
    '22023 option "max_iter" is "many", but must be a whole number from 1 to 1000000'),
  ($q$SELECT gmm_fit(x, 2, '{"max_iter": 10000000}') FROM faithful$q$,
    '22023 option "max_iter" is 10000000, but must be a whole number from 1 to 1000000'),
  ($q$SELECT gmm_fit(x, 2, '{"tol": -1}') FROM faithful$q$,
    '22023 option "tol" is -1, but must be a number from 0 to 1000000'),
  ($q$SELECT gmm_fit(x, 2, '{"tol": true}') FROM faithful$q$,
    '22023 option "tol" is true, but must be a number from 0 to 1000000'),
  ($q$SELECT gmm_fit(x, 2, '{"seed": -1}') FROM faithful$q$,
    '22023 option "seed" is -1, but must be a whole number of at least 0'),
  ($q$SELECT gmm_fit(x, 2, '{"max_seconds": 0}') FROM faithful$q$,
    '22023 option "max_seconds" is 0, but must be a number greater than 0 and at most 1000000000'),
  ($q$SELECT gmm_fit(x, 2, '{"missing": "keep"}') FROM faithful$q$,
    '22023 option "missing" is "keep", but must be one of marginalize, error, skip'),
  ($q$SELECT gmm_fit(x, 2, '{"on_error": null, "on_eror": "null"}') FROM faithful$q$,
    '22023 unknown option "on_eror"'),
  ($q$SELECT gmm_fit(x, 2, '{"init": "kmens"}') FROM faithful$q$,
    '22023 option "init" is "kmens", but must be one of kmeans, kmeans++, random'),
  ($q$SELECT gmm_fit(x, 2, '{"init": [[1, 2]]}') FROM faithful$q$,
    '22023 option "init" is an array of 1 x 2 numbers, but must be an array of 2 x d numbers'),
  ($q$SELECT gmm_fit(x, 2, '{"init": [[1], [2]]}') FROM faithful$q$,
    '22023 option "init" is an array of 2 x 1 numbers, but must be an array of 2 x 2 numbers: a '
    'mean for every component'),
  ($q$SELECT gmm_fit(x, 2, '{"init": [[1, 2], [3]]}') FROM faithful$q$,
    '22023 option "init" is an array, but must be an array of 2 x d numbers'),
  ($q$SELECT gmm_fit(x, 2, '{"init": [[1, 2], [3, "NaN"]]}') FROM faithful$q$,
    '22023 option "init" contains "NaN", but its numbers must be finite'),
  ($q$SELECT gmm_fit(x, 2, '{"init": [[1, 2], [3, 4]], "restarts": 3}') FROM faithful$q$,
    '22023 option "restarts" does not apply to a fit with given means by method vi'),
  ($q$SELECT gmm_fit(x, 2, '[]') FROM faithful$q$,
    '22023 options must be a JSON object, but are of kind array of numbers'),
  ($q$SELECT gmm_fit(x, 2, '"em"') FROM faithful$q$,
    '22023 options must be a JSON object, but are of kind string'),
  ($q$SELECT gmm_fit(x, 2, '17') FROM faithful$q$,
    '22023 options must be a JSON object, but are of kind integer'),
  ($q$SELECT gmm_fit(x, 2, '{"tol": 1e999}') FROM faithful$q$,
    '22003 number 1000000000000000000000000000000000000000... is too large for double '
    'precision')) AS c(statement, said);

-- ---- the prior ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_fit(x, 2, '{"prior": 3}') FROM faithful$q$,
    '22023 option "prior" is 3, but must be an object'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"B": "covariance"}}') FROM faithful$q$,
    '22023 option "prior.B" is "covariance", but must be a number or an array of numbers'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"b": 3}}') FROM faithful$q$,
    '22023 unknown option "prior.b"'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"C": 3}}') FROM faithful$q$,
    '22023 option "prior.C" does not apply to prior.type linked'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"type": "independent", "c": 3}}') FROM faithful$q$,
    '22023 option "prior.c" does not apply to prior.type independent'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"type": "independent"}, "covariance": "tied"}')
    FROM faithful$q$,
    '22023 option "prior.type" is "independent", but that prior exists for methods vi and svi '
    'with covariance full only'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"type": "independent"}, "method": "map"}') FROM faithful$q$,
    '22023 option "prior.type" is "independent", but that prior exists for methods vi and svi '
    'with covariance full only'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"type": "wishart"}}') FROM faithful$q$,
    '22023 option "prior.type" is "wishart", but must be one of linked, independent'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"alpha": 0}}') FROM faithful$q$,
    '22023 option "prior.alpha" is 0, but must be a number greater than 0 and at most 1000000000'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "map", "prior": {"alpha": 0.5}}') FROM faithful$q$,
    '22023 option "prior.alpha" is 0.5, but must be a number from 1 to 1000000000'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"alpha": [1, 2]}}') FROM faithful$q$,
    '22023 option "prior.alpha" is an array of 2 numbers, but must be a number greater than 0 and '
    'at most 1000000000'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"m": [1, 2, 3]}}') FROM faithful$q$,
    '22023 option "prior.m" has 3 numbers, but the rows have 2'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"m": 3}}') FROM faithful$q$,
    '22023 option "prior.m" is 3, but must be an array of numbers'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"c": 0}}') FROM faithful$q$,
    '22023 option "prior.c" is 0, but must be a number greater than 0 and at most 1000000000'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"a": 1}}') FROM faithful$q$,
    '22023 option "prior.a" is 1.0, but must be above 1'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"B": [[1, 2], [2, 1]]}}') FROM faithful$q$,
    '22023 option "prior.B" is not positive definite'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"B": [[1, 2], [1, 5]]}}') FROM faithful$q$,
    '22023 option "prior.B" is not symmetric'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"B": [1, 2]}}') FROM faithful$q$,
    '22023 option "prior.B" is an array of 2 numbers, but must be a number or an array of 2 x 2 '
    'numbers'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"B": [[1, 0], [0, 1]]}, "covariance": "diagonal"}')
    FROM faithful$q$,
    '22023 option "prior.B" is an array of 2 x 2 numbers, but must be a number or an array of 2 '
    'numbers'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"B": [1, 2]}, "covariance": "spherical"}') FROM faithful$q$,
    '22023 option "prior.B" is an array of 2 numbers, but must be a number'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"B": "one"}}') FROM faithful$q$,
    '22023 option "prior.B" is "one", but must be a number or an array of numbers'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"B": -1}}') FROM faithful$q$,
    '22023 option "prior.B" is not positive definite'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "map", "prior": {"a": 1.5}}') FROM faithful$q$,
    '22023 option "prior.a" is 1.5, but method map needs a prior with a mode')) AS c(statement,
    said);

-- ---- k ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_fit(x, 0) FROM faithful$q$,
    '22023 k is 0, but must be a whole number from 1 to 10000'),
  ($q$SELECT gmm_fit(x, -3) FROM faithful$q$,
    '22023 k is -3, but must be a whole number from 1 to 10000'),
  ($q$SELECT gmm_fit(x, 10001) FROM faithful$q$,
    '22023 k is 10001, but must be a whole number from 1 to 10000'),
  ($q$SELECT gmm_fit(x, NULL::int) FROM faithful$q$, '22004 k must not be NULL'),
  ($q$SELECT gmm_fit(x, 300) FROM faithful$q$,
    '22023 k is 300, but there are only 256 distinct rows'),
  ($q$SELECT gmm_fit(ARRAY[id % 3], 4) FROM faithful$q$,
    '22023 k is 4, but there are only 3 distinct rows'),
  ($q$SELECT gmm_fit(x, 2, '{"init": "random"}') FROM faithful WHERE id = 1$q$,
    '22023 k is 2, but there is only 1 distinct row'),
  ($q$SELECT gmm_fit(x, 2, '{}', CASE WHEN id = 1 THEN 1 ELSE 0 END) FROM faithful$q$,
    '22023 k is 2, but there is only 1 distinct row'),
  ($q$SELECT gmm_fit(x, CASE WHEN id < 100 THEN 2 ELSE 3 END) FROM faithful$q$,
    '22023 k must be the same for all rows of one fit'),
  ($q$SELECT gmm_fit(x, 2, CASE WHEN id < 100 THEN '{"seed": 1}' ELSE '{"seed": 2}' END::jsonb)
    FROM faithful$q$, '22023 options must be the same for all rows of one fit'),
  ($q$SELECT gmm_fit(x, 2, CASE WHEN id < 100 THEN '{}' END::jsonb) FROM faithful$q$,
    '22023 options must be the same for all rows of one fit'),
  ($q$SELECT gmm_fit(x, CASE WHEN id < 100 THEN em ELSE vi END) FROM faithful, given$q$,
    '22023 start must be the same for all rows of one fit'),
  ($q$SELECT gmm_fit(x, NULL::bayes_model) FROM faithful$q$, '22004 start must not be NULL'),
  ($q$SELECT gmm_update(x, NULL) FROM faithful$q$, '22004 prior must not be NULL')) AS c(statement,
    said);

-- ---- rows ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN x || 1::float8 ELSE x END, 2) FROM faithful$q$,
    '2202E row 7 has 3 elements, but the first row has 2'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN x[1:1] ELSE x END, 2) FROM faithful$q$,
    '2202E row 7 has 1 element, but the first row has 2'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN ARRAY[1, NULL] ELSE x END, 2,
    '{"missing": "error"}') FROM faithful$q$, '22004 element 2 of row 7 is NULL'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{NaN,1}' ELSE x END, 2,
    '{"missing": "error"}') FROM faithful$q$, '22023 element 1 of row 7 is NaN'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{NULL,NaN}' ELSE x END, 2) FROM faithful$q$,
    '22023 element 2 of row 7 is NaN'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{1,Infinity}' ELSE x END, 2) FROM faithful$q$,
    '22023 element 2 of row 7 is Infinity'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{1,-Infinity}' ELSE x END, 2) FROM faithful$q$,
    '22023 element 2 of row 7 is -Infinity'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{}' ELSE x END, 2) FROM faithful$q$,
    '2202E row 7 is an empty array'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{{1,2}}' ELSE x END, 2) FROM faithful$q$,
    '2202E row 7 is an array of 2 dimensions'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{{{1}}}' ELSE x END, 2) FROM faithful$q$,
    '2202E row 7 is an array of 3 dimensions'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{1e200,1}' ELSE x END, 2) FROM faithful$q$,
    '22003 element 1 of row 7 is 1e+200, too large to compute with'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{1e200,1}' ELSE x END, 2, '{"missing": "skip"}')
    FROM faithful$q$, '22003 element 1 of row 7 is 1e+200, too large to compute with'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{1}' ELSE x END, 2, '{"missing": "skip"}')
    FROM faithful$q$, '2202E row 7 has 1 element, but the first row has 2'),
  ($q$SELECT gmm_fit(array_fill(1.5::float8, '{1601}'), 1) FROM faithful$q$,
    '54000 row 1 has 1601 elements, but the limit is 1600'),
  ($q$SELECT gmm_fit(array_fill(1.5::float8, '{1000000}'), 1) FROM faithful$q$,
    '54000 row 1 has 1000000 elements, but the limit is 1600'),
  ($q$SELECT gmm_fit(x, (SELECT vi FROM given)) FROM iris$q$,
    '2202E row 1 has 4 elements, but the model has 2'),
  ($q$SELECT gmm_update(x, (SELECT vi FROM given)) FROM iris$q$,
    '2202E row 1 has 4 elements, but the model has 2'),
  ($q$SELECT gmm_update(x, (SELECT em FROM given)) FROM faithful$q$,
    '22023 this model has no posterior: it was fitted by method em'),
  ($q$SELECT gmm_update(x, (SELECT vi FROM given), '{"prior": {"a": 3}}') FROM faithful$q$,
    '22023 option "prior" does not apply to an update by method vi'),
  ($q$SELECT gmm_update(x, (SELECT vi FROM given), '{"method": "em"}') FROM faithful$q$,
    '22023 option "method" is "em", but must be one of vi, svi'),
  ($q$SELECT gmm_update(x, (SELECT vi FROM given), '{"covariance": "tied"}') FROM faithful$q$,
    '22023 option "covariance" is "tied", but must be one of full'),
  ($q$SELECT gmm_update(x, (SELECT vi FROM given), '{"restarts": 3}') FROM faithful$q$,
    '22023 option "restarts" does not apply to an update by method vi'),
  ($q$SELECT gmm_fit(x, (SELECT vi FROM given), '{"init": "random"}') FROM faithful$q$,
    '22023 option "init" does not apply to a fit that starts from a model by method vi')) AS c(
    statement, said);

-- ---- weights ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_fit(x, 2, '{}', CASE WHEN id = 7 THEN -1 ELSE 1 END) FROM faithful$q$,
    '22023 weight of row 7 is -1'),
  ($q$SELECT gmm_fit(x, 2, '{}', CASE WHEN id = 7 THEN 'NaN'::float8 ELSE 1 END) FROM faithful$q$,
    '22023 weight of row 7 is NaN'),
  ($q$SELECT gmm_fit(x, 2, '{}', CASE WHEN id = 7 THEN 'Infinity'::float8 ELSE 1 END)
    FROM faithful$q$, '22023 weight of row 7 is Infinity'),
  ($q$SELECT gmm_fit(x, 2, '{}', CASE WHEN id = 7 THEN 1e200 ELSE 1 END) FROM faithful$q$,
    '22023 weight of row 7 is 1e+200'),
  ($q$SELECT gmm_fit(x, 2, '{}', 0) FROM faithful$q$, '22023 all weights are zero'),
  ($q$SELECT gmm_fit(x, 2, '{"on_error": "error"}', '-0') FROM faithful$q$,
    '22023 all weights are zero')) AS c(statement, said);

-- ---- selection ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_select(x, '{}') FROM faithful$q$,
    '2202E ks must be a one-dimensional array of at least one number of components'),
  ($q$SELECT gmm_select(x, NULL) FROM faithful$q$, '22004 ks must not be NULL'),
  ($q$SELECT gmm_select(x, '{1,NULL}') FROM faithful$q$, '22004 ks must not contain NULL'),
  ($q$SELECT gmm_select(x, '{{1,2}}') FROM faithful$q$,
    '2202E ks must be a one-dimensional array of at least one number of components'),
  ($q$SELECT gmm_select(x, '{1,0}') FROM faithful$q$,
    '22023 k is 0, but must be a whole number from 1 to 10000'),
  ($q$SELECT gmm_select(x, '{400,300}') FROM faithful$q$,
    '22023 k is 400, but there are only 256 distinct rows'),
  ($q$SELECT gmm_select(x, '{1,2}', '{"covariance": ["full", "diag"]}') FROM faithful$q$,
    '22023 option "covariance" contains "diag", but its elements must be among full, diagonal, '
    'spherical, tied'),
  ($q$SELECT gmm_select(x, '{1,2}', '{"covariance": ["full", "full"]}') FROM faithful$q$,
    '22023 option "covariance" contains "full" twice'),
  ($q$SELECT gmm_select(x, '{1,2}', '{"covariance": []}') FROM faithful$q$,
    '22023 option "covariance" is an empty array, but must be one of full, diagonal, spherical, '
    'tied, or an array of them'),
  ($q$SELECT gmm_select(x, '{1,2}', '{"init": [[1, 2]]}') FROM faithful$q$,
    '22023 option "init" gives means for one k, but several k are to be tried'),
  ($q$SELECT gmm_select(x, CASE WHEN id < 9 THEN '{1}' ELSE '{2}' END::int[]) FROM faithful$q$,
    '22023 ks must be the same for all rows of one fit')) AS c(statement, said);

-- ---- windows ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_cluster(x, 0) OVER () FROM faithful$q$,
    '22023 k is 0, but must be a whole number from 1 to 10000'),
  ($q$SELECT gmm_cluster(x, NULL) OVER () FROM faithful$q$, '22004 k must not be NULL'),
  ($q$SELECT gmm_cluster(x, 3, '{"metod": "em"}') OVER () FROM faithful$q$,
    '22023 unknown option "metod"'),
  ($q$SELECT gmm_cluster(x, id % 2 + 1) OVER () FROM faithful$q$,
    '22023 k must be the same for all rows of one fit'),
  ($q$SELECT gmm_cluster(x, 2) OVER (PARTITION BY id) FROM faithful$q$,
    '22023 k is 2, but there is only 1 distinct row'),
  ($q$SELECT gmm_cluster(CASE WHEN id = 7 THEN x || 1::float8 ELSE x END, 2) OVER (ORDER BY id)
    FROM faithful$q$, '2202E row 7 has 3 elements, but the first row has 2'),
  ($q$SELECT gmm_cluster(CASE WHEN id = 7 THEN ARRAY[NULL, 1] ELSE x END, 2,
    '{"missing": "error"}') OVER (ORDER BY id) FROM faithful$q$,
    '22004 element 1 of row 7 is NULL'),
  ($q$SELECT gmm_cluster(x, 2) FROM faithful$q$,
    '42809 window function gmm_cluster requires an OVER clause')) AS c(statement, said);

-- ---- scores ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_predict(vi, '{1}') FROM given$q$,
    '2202E the array has 1 element, but the model has 2'),
  ($q$SELECT gmm_predict(vi, '{1,2,3}') FROM given$q$,
    '2202E the array has 3 elements, but the model has 2'),
  ($q$SELECT gmm_predict(vi, '{}') FROM given$q$, '2202E the array is an empty array'),
  ($q$SELECT gmm_predict(vi, '{{1,2}}') FROM given$q$,
    '2202E the array is an array of 2 dimensions'),
  ($q$SELECT gmm_predict(strict, '{1,NULL}') FROM given$q$, '22004 element 2 of the array is NULL'),
  ($q$SELECT gmm_predict(strict, '{1,NaN}') FROM given$q$, '22023 element 2 of the array is NaN'),
  ($q$SELECT gmm_predict(vi, '{NULL,NaN}') FROM given$q$, '22023 element 2 of the array is NaN'),
  ($q$SELECT bayes_probabilities(vi, '{Infinity,1}') FROM given$q$,
    '22023 element 1 of the array is Infinity'),
  ($q$SELECT bayes_log_density(vi, '{1,1e200}') FROM given$q$,
    '22003 element 2 of the array is 1e+200, too large to compute with'),
  ($q$SELECT bayes_log_density(vi, '{1}') FROM given$q$,
    '2202E the array has 1 element, but the model has 2'),
  ($q$SELECT gmm_posterior(em) FROM given$q$,
    '22023 this model has no posterior: it was fitted by method em'),
  ($q$SELECT gmm_posterior(kmeans) FROM given$q$,
    '22023 this model has no posterior: it was fitted by method kmeans'),
  ($q$SELECT bayes_sample(vi, -1, 1) FROM given$q$,
    '22023 n is -1, the number of draws cannot be negative')) AS c(statement, said);

-- ---- numbers that cannot be computed with ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_fit(ARRAY[id * 1e148], 2) FROM faithful$q$,
    '22003 element 1 of row 101 is 1.01e+150, too large to compute with'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"m": [1e200, 0]}}') FROM faithful$q$,
    '22003 the posterior scale B of component 1 is not positive definite'),
  ($q$SELECT gmm_fit(x, 2, '{"init": [[1e200, 0], [0, 1]]}') FROM faithful$q$,
    '22003 the posterior scale B of component 1 is not positive definite')) AS c(statement, said);

-- ---- details and hints ----

SELECT is(advice(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_fit(x, 2, '{"metod": "em"}') FROM faithful$q$, 'Did you mean "method"?'),
  ($q$SELECT gmm_fit(x, 2, '{"Method": "em"}') FROM faithful$q$, 'Did you mean "method"?'),
  ($q$SELECT gmm_fit(x, 2, '{"colour": "red"}') FROM faithful$q$,
    'The options are covariance, init, linear_response, max_iter, max_seconds, method, missing, '
      'on_error, order, prior, '
    'restarts, resumable, seed, tol.'),
  ($q$SELECT gmm_fit(x, 2, '{"method": "wi"}') FROM faithful$q$, 'Did you mean "vi"?'),
  ($q$SELECT gmm_fit(x, 2, '{"covariance_floor": 1e-3}') FROM faithful$q$,
    'The options are covariance, init, linear_response, max_iter, max_seconds, method, missing, '
      'on_error, order, prior, '
    'restarts, resumable, seed, tol.'),
  ($q$SELECT gmm_fit(x, 2, '{"on_error": null, "on_eror": "null"}') FROM faithful$q$,
    'Did you mean "on_error"?'),
  ($q$SELECT gmm_fit(x, 2, '{"init": "kmens"}') FROM faithful$q$, 'Did you mean "kmeans"?'),
  ($q$SELECT gmm_fit(x, 2, '[]') FROM faithful$q$,
    'Write options as ''{"method": "em", "restarts": 10}''.'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"b": 3}}') FROM faithful$q$, 'Did you mean "prior.B"?'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"C": 3}}') FROM faithful$q$,
    'The options are prior.B, prior.a, prior.alpha, prior.c, prior.m, prior.type.'),
  ($q$SELECT gmm_fit(x, 2, '{"prior": {"type": "independent"}, "method": "map"}') FROM faithful$q$,
    'Use the linked prior, which every method and covariance has.'),
  ($q$SELECT gmm_fit(x, 300) FROM faithful$q$,
    'Every component needs at least one row of its own. | Use a smaller k.'),
  ($q$SELECT gmm_fit(x, CASE WHEN id < 100 THEN 2 ELSE 3 END) FROM faithful$q$,
    'It differs from the value in the first row. | To fit one model for each value, GROUP BY it.'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN x || 1::float8 ELSE x END, 2) FROM faithful$q$,
    'All rows of one model have the same length.'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN ARRAY[1, NULL] ELSE x END, 2,
    '{"missing": "error"}') FROM faithful$q$,
    'Use option missing = marginalize (if the model has it) or missing = skip.'),
  ($q$SELECT gmm_predict(strict, '{1,NULL}') FROM given$q$,
    'Fit the model without option missing = error; a regression gives NULL for such rows.'),
  ($q$SELECT gmm_predict(vi, '{1,-Infinity}') FROM given$q$, 'Leave such rows out with WHERE.'),
  ($q$SELECT gmm_predict(vi, '{1,NaN}') FROM given$q$,
    'Missing values are NULL; use NULLIF(column, ''NaN'') to convert NaN.'),
  ($q$SELECT gmm_fit(CASE WHEN id = 7 THEN '{1e200,1}' ELSE x END, 2) FROM faithful$q$,
    'The largest absolute value that a row may hold is 1e150. | Choose another unit of '
    'measurement.'),
  ($q$SELECT gmm_fit(x, 2, '{}', CASE WHEN id = 7 THEN -1 ELSE 1 END) FROM faithful$q$,
    'A weight must be finite and not negative: it is the number of times that the row counts.'),
  ($q$SELECT gmm_fit(x, 2, '{}', 0) FROM faithful$q$,
    'A row of weight 0 does not count.'),
  ($q$SELECT gmm_posterior(em) FROM given$q$,
    'Only variational methods estimate a posterior distribution of the parameters. | Fit with '
    'option method "vi" or "svi".')) AS c(statement, said);

-- ---- NULL instead of an error ----

SELECT is(complaint(statement), 'no error', statement) FROM (VALUES
  ($q$SELECT gmm_fit(x, 300, '{"on_error": "null"}') FROM faithful$q$),
  ($q$SELECT gmm_fit(x, 2, '{"on_error": "null"}', 0) FROM faithful$q$),
  ($q$SELECT gmm_select(x, '{300}', '{"on_error": "null"}') FROM faithful$q$),
  ($q$SELECT gmm_cluster(x, 300, '{"on_error": "null"}') OVER () FROM faithful$q$),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful', 300, '{"on_error": "null"}')$q$),
  ($q$SELECT * FROM gmm_select('SELECT x FROM faithful', '{300}', '{"on_error": "null"}')$q$)) AS c(
    statement);
SELECT ok((SELECT gmm_fit(x, 300, '{"on_error": "null"}') FROM faithful) IS NULL,
  'a fit that cannot be is NULL');
SELECT never($$SELECT id, c IS NOT NULL AS wrong
  FROM (SELECT id, gmm_cluster(x, 300, '{"on_error": "null"}') OVER () AS c FROM faithful) AS s$$,
  'so are the labels of a partition');
SELECT is_empty($$SELECT * FROM gmm_fit('SELECT x FROM faithful', 300, '{"on_error": "null"}')$$,
  'a relation is empty');
SELECT results_eq($$SELECT id, gmm_fit(r, 2, '{"on_error": "null"}') IS NULL
  FROM (SELECT id % 3 AS id, CASE WHEN id % 3 = 1 THEN '{1,1}' ELSE x END AS r FROM faithful) AS s
  GROUP BY id ORDER BY id$$, $$VALUES (0, false), (1, true), (2, false)$$,
  'one bad group does not stop the others');
-- Options themselves are never forgiven, nor are rows that are no rows: only a fit may fail.
SELECT is(complaint($q$SELECT gmm_fit(x, 2, '{"on_error": "null", "tol": -1}') FROM faithful$q$),
  '22023 option "tol" is -1, but must be a number from 0 to 1000000',
  'a bad option is an error all the same');
SELECT is(complaint($q$SELECT gmm_fit(x, 0, '{"on_error": "null"}') FROM faithful$q$),
  '22023 k is 0, but must be a whole number from 1 to 10000', 'so is an impossible k');

-- ---- a forged model ----

SELECT is(complaint(format('SELECT gmm_predict(%L, ''{1,2}'')',
  replace(em::text, '"gmm"', '"xyz"'))), '22P02 invalid bayes_model: unknown family "xyz"',
  'there is no way to forge a model of another family') FROM given;

-- ---- the session goes on ----

BEGIN;
SAVEPOINT before;
DO $$ BEGIN PERFORM gmm_fit(x, 300) FROM faithful; EXCEPTION WHEN invalid_parameter_value THEN NULL;
END $$;
SELECT is((SELECT round(sum(c.weight)::numeric, 9) FROM (SELECT gmm_fit(x, 2) AS m FROM faithful) f,
  gmm_components(m) c), 1.0, 'in the transaction of the error');
ROLLBACK TO before;
SELECT is((SELECT count(*) FROM gmm_fit('SELECT x FROM faithful', 2)), 2::bigint,
  'after a rollback to a savepoint');
COMMIT;

SELECT * FROM finish();
