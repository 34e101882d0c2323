-- Dirichlet process mixtures: every way to ask for options that cannot be, and what is said about
-- it.
SELECT plan(117);
\ir ../lib/dpmm_errors.sql

-- ---- options ----

SELECT is(complaint(format('SELECT dpmm_fit(x, %L) FROM few', options)), said, options) FROM (VALUES
  ('{"concentration": 0}', '22023 option "concentration" is 0, but must be a number greater than 0 '
    'and at most 1000000000'),
  ('{"concentration": -1}', '22023 option "concentration" is -1, but must be a number greater than '
    '0 and at most 1000000000'),
  ('{"concentration": 1e10}', '22023 option "concentration" is 10000000000, but must be a number '
    'greater than 0 and at most 1000000000'),
  ('{"concentration": "x"}', '22023 option "concentration" is "x", but must be a number greater '
    'than 0, or an object with shape and rate'),
  ('{"concentration": "1"}', '22023 option "concentration" is "1", but must be a number greater '
    'than 0, or an object with shape and rate'),
  ('{"concentration": true}', '22023 option "concentration" is true, but must be a number greater '
    'than 0, or an object with shape and rate'),
  ('{"concentration": []}', '22023 option "concentration" is an empty array, but must be a number '
    'greater than 0, or an object with shape and rate'),
  ('{"concentration": [1, 2]}', '22023 option "concentration" is an array of 2 numbers, but must '
    'be a number greater than 0, or an object with shape and rate'),
  ('{"concentration": {"shape": 0}}', '22023 option "concentration.shape" is 0, but must be a '
    'number greater than 0 and at most 1000000000'),
  ('{"concentration": {"shape": 2, "rate": -1}}',
    '22023 option "concentration.rate" is -1, but must be a number greater than 0 and at most '
    '1000000000'),
  ('{"concentration": {"shape": "x"}}', '22023 option "concentration.shape" is "x", but must be a '
    'number greater than 0 and at most 1000000000'),
  ('{"concentration": {"shap": 1}}', '22023 unknown option "concentration.shap"'),
  ('{"concentration": {"shape": 1, "rate": 1, "mean": 2}}',
    '22023 unknown option "concentration.mean"'),
  ('{"warmup": 1000}', '22023 option "warmup" is 1000, but must be below option "draws", which is '
    '1000'),
  ('{"draws": 10, "warmup": 11}', '22023 option "warmup" is 11, but must be below option "draws", '
    'which is 10'),
  ('{"draws": 1, "warmup": 1}', '22023 option "warmup" is 1, but must be below option "draws", '
    'which is 1'),
  ('{"warmup": -1}', '22023 option "warmup" is -1, but must be a whole number from 0 to 100000000'),
  ('{"draws": 0}', '22023 option "draws" is 0, but must be a whole number from 1 to 100000000'),
  ('{"draws": 1.5}', '22023 option "draws" is 1.5, but must be a whole number from 1 to 100000000'),
  ('{"draws": "x"}', '22023 option "draws" is "x", but must be a whole number from 1 to 100000000'),
  ('{"draws": 1000000000}', '22023 option "draws" is 1000000000, but must be a whole number from 1 '
    'to 100000000'),
  ('{"draws": 100000000}', '54000 4 chains of 50000000 draws are too many'),
  ('{"chains": 1000, "draws": 8002}', '54000 1000 chains of 4001 draws are too many'),
  ('{"thin": 0}', '22023 option "thin" is 0, but must be a whole number from 1 to 100000000'),
  ('{"thin": 501}', '22023 option "thin" is 501, but only 500 draws follow the warmup'),
  ('{"draws": 10, "warmup": 9, "thin": 2}', '22023 option "thin" is 2, but only 1 draws follow the '
    'warmup'),
  ('{"stored_draws": 0}', '22023 option "stored_draws" is 0, but must be a whole number from 1 to '
    '1000000'),
  ('{"method": "vi", "stored_draws": 10}',
    '22023 option "stored_draws" does not apply to method vi'),
  ('{"chains": 0}', '22023 option "chains" is 0, but must be a whole number from 1 to 1000'),
  ('{"chains": 1001}', '22023 option "chains" is 1001, but must be a whole number from 1 to 1000'),
  ('{"chains": 2.5}', '22023 option "chains" is 2.5, but must be a whole number from 1 to 1000'),
  ('{"method": "em"}', '22023 option "method" is "em", but must be one of collapsed, gibbs, slice, '
    'vi'),
  ('{"method": "colapsed"}', '22023 option "method" is "colapsed", but must be one of collapsed, '
    'gibbs, slice, vi'),
  ('{"method": 1}', '22023 option "method" is 1, but must be one of collapsed, gibbs, slice, vi'),
  ('{"covariance": "tied"}', '22023 option "covariance" is "tied", but must be one of full, '
    'diagonal, spherical'),
  ('{"covariance": ["full"]}', '22023 option "covariance" is an array, but must be one of full, '
    'diagonal, spherical'),
  ('{"estimate": "bindr"}', '22023 option "estimate" is "bindr", but must be one of binder, vi, '
    'bipartition, map'),
  ('{"estimate": 1}', '22023 option "estimate" is 1, but must be one of binder, vi, bipartition, '
    'map'),
  ('{"level": 0}', '22023 option "level" is 0, but must be a number greater than 0 and at most 1'),
  ('{"level": 1.5}', '22023 option "level" is 1.5, but must be a number greater than 0 and at most '
    '1'),
  ('{"level": "NaN"}', '22023 option "level" is "NaN", but must be a number greater than 0 and at '
    'most 1'),
  ('{"init": "kmeans"}', '22023 option "init" is "kmeans", but must be one of varied, one'),
  ('{"init": [[1, 2]]}', '22023 option "init" is an array of 1 x 2 numbers, but must be one of '
    'varied, one'),
  ('{"seed": -1}', '22023 option "seed" is -1, but must be a whole number of at least 0'),
  ('{"seed": 1.5}', '22023 option "seed" is 1.5, but must be a whole number of at least 0'),
  ('{"missing": "keep"}', '22023 option "missing" is "keep", but must be one of marginalize, '
    'error, skip'),
  ('{"on_error": "nul"}', '22023 option "on_error" is "nul", but must be one of error, null'),
  ('{"max_iter": 10}', '22023 option "max_iter" does not apply to method collapsed'),
  ('{"tol": 1, "method": "gibbs"}', '22023 option "tol" does not apply to method gibbs'),
  ('{"truncation": 10, "method": "slice"}', '22023 option "truncation" does not apply to method '
    'slice'),
  ('{"restarts": 10}', '22023 option "restarts" does not apply to method collapsed'),
  ('{"method": "vi", "draws": 10}', '22023 option "draws" does not apply to method vi'),
  ('{"method": "vi", "chains": 10}', '22023 option "chains" does not apply to method vi'),
  ('{"method": "vi", "warmup": 10}', '22023 option "warmup" does not apply to method vi'),
  ('{"method": "vi", "thin": 10}', '22023 option "thin" does not apply to method vi'),
  ('{"method": "vi", "init": "one"}', '22023 option "init" does not apply to method vi'),
  ('{"method": "vi", "estimate": "vi"}', '22023 option "estimate" does not apply to method vi'),
  ('{"method": "vi", "level": 0.5}', '22023 option "level" does not apply to method vi'),
  ('{"method": "vi", "truncation": 1}', '22023 option "truncation" is 1, but must be a whole '
    'number from 2 to 10000'),
  ('{"method": "vi", "truncation": 10001}', '22023 option "truncation" is 10001, but must be a '
    'whole number from 2 to 10000'),
  ('{"method": "vi", "restarts": 0}', '22023 option "restarts" is 0, but must be a whole number '
    'from 1 to 1000'),
  ('{"method": "vi", "max_iter": 0}', '22023 option "max_iter" is 0, but must be a whole number '
    'from 1 to 1000000'),
  ('{"method": "vi", "tol": -1}', '22023 option "tol" is -1, but must be a number from 0 to '
    '1000000'),
  ('{"metod": "vi"}', '22023 unknown option "metod"'),
  ('{"draw": 10}', '22023 unknown option "draw"'),
  ('{"max_second": 10}', '22023 unknown option "max_second"'),
  ('{"max_seconds": 0}', '22023 option "max_seconds" is 0, but must be a number greater than 0 and '
    'at most 1000000000'),
  ('{"k": 3}', '22023 unknown option "k"'),
  ('{"": 1}', '22023 unknown option ""'),
  ('[]', '22023 options must be a JSON object, but are of kind array of numbers'),
  ('"vi"', '22023 options must be a JSON object, but are of kind string'),
  ('17', '22023 options must be a JSON object, but are of kind integer'),
  ('true', '22023 options must be a JSON object, but are of kind boolean'),
  ('{"draws": 1e999}', '22003 number 1000000000000000000000000000000000000000... is too large for '
    'double precision')) AS c(options, said);

-- ---- the prior ----

SELECT is(complaint(format('SELECT dpmm_fit(x, %L) FROM few', options)), said, options) FROM (VALUES
  ('{"prior": 3}', '22023 option "prior" is 3, but must be an object'),
  ('{"prior": {"b": 3}}', '22023 unknown option "prior.b"'),
  ('{"prior": {"alpha": 3}}', '22023 unknown option "prior.alpha"'),
  ('{"prior": {"type": "independent"}}', '22023 unknown option "prior.type"'),
  ('{"prior": {"m": [1, 2, 3]}}', '22023 option "prior.m" has 3 numbers, but the rows have 2'),
  ('{"prior": {"m": 3}}', '22023 option "prior.m" is 3, but must be an array of numbers'),
  ('{"prior": {"c": 0}}', '22023 option "prior.c" is 0, but must be a number greater than 0 and at '
    'most 1000000000'),
  ('{"prior": {"a": 1}}', '22023 option "prior.a" is 1.0, but must be above 1'),
  ('{"prior": {"B": [[1, 2], [2, 1]]}}', '22023 option "prior.B" is not positive definite'),
  ('{"prior": {"B": [[1, 2], [1, 5]]}}', '22023 option "prior.B" is not symmetric'),
  ('{"prior": {"B": [1, 2]}}', '22023 option "prior.B" is an array of 2 numbers, but must be a '
    'number or an array of 2 x 2 numbers'),
  ('{"prior": {"B": -1}}', '22023 option "prior.B" is not positive definite'),
  ('{"prior": {"B": "one"}}', '22023 option "prior.B" is "one", but must be a number or an array '
    'of numbers'),
  ('{"prior": {"B": [[1, 0], [0, 1]]}, "covariance": "diagonal"}',
    '22023 option "prior.B" is an array of 2 x 2 numbers, but must be a number or an array of 2 '
    'numbers'),
  ('{"prior": {"B": [1, 2]}, "covariance": "spherical"}',
    '22023 option "prior.B" is an array of 2 numbers, but must be a number'),
  ('{"prior": {"a": 1e9}, "method": "vi", "draws": 4}',
    '22023 option "draws" does not apply to method vi'),
  ('{"prior": {"m": [1e300, 1e300]}, "draws": 4}',
    '22003 the density of a draw of method collapsed overflowed in sweep 1'),
  ('{"prior": {"B": 1e-300}, "draws": 4}', '22003 the density of a draw of method collapsed '
    'overflowed in sweep 1')) AS c(options, said);

-- ---- likelihoods ----

SELECT is(complaint(format('SELECT dpmm_fit(x, %L) FROM (VALUES (''{1,0}''::float8[]), (%L)) v(x)',
  options, row)), replace(said, '<families>', :'families'), options || ' ' || row) FROM (VALUES
  ('{"likelihood": "gaussian"}', '{1,1}', '22023 option "likelihood" is "gaussian", but must be '
    'one of <families>'),
  ('{"likelihood": "norml"}', '{1,1}', '22023 option "likelihood" is "norml", but must be one of '
    '<families>'),
  ('{"likelihood": 3}', '{1,1}', '22023 option "likelihood" is 3, but must be one of <families>'),
  ('{"likelihood": {"a": 1}}', '{1,1}', '22023 option "likelihood" is an object, but must be one '
    'of <families>'),
  ('{"likelihood": ["normal", "gauss"]}', '{1,1}',
    '22023 option "likelihood" is "gauss", but must be one of <families>'),
  ('{"likelihood": ["normal", "poisson", "poisson"]}', '{1,1}',
    '22023 option "likelihood" has 3 entries, but the rows have 2 elements'),
  ('{"likelihood": "bernoulli"}', '{0,2}', '22023 element 2 of row 2 is 2, but must be 0 or 1'),
  ('{"likelihood": "bernoulli"}', '{0.5,1}', '22023 element 1 of row 2 is 0.5, but must be 0 or 1'),
  ('{"likelihood": "bernoulli"}', '{-1,1}', '22023 element 1 of row 2 is -1, but must be 0 or 1'),
  ('{"likelihood": "poisson"}', '{0,-2}', '22023 element 2 of row 2 is -2, but must be a whole '
    'number from 0 to 2^53'),
  ('{"likelihood": "poisson"}', '{2.5,2}', '22023 element 1 of row 2 is 2.5, but must be a whole '
    'number from 0 to 2^53'),
  ('{"likelihood": "categorical"}', '{0,1.5}',
    '22023 element 2 of row 2 is 1.5, but must be a whole number'),
  ('{"likelihood": "categorical"}', '{1e9,1}',
    '54000 the categories of element 1 reach from 1 to 1000000000, which is too far apart'),
  ('{"likelihood": ["poisson", "bernoulli"]}', '{7,2}',
    '22023 element 2 of row 2 is 2, but must be 0 or 1'),
  ('{"likelihood": ["bernoulli", "poisson"], "missing": "skip"}', '{0,-1}',
    '22023 element 2 of row 2 is -1, but must be a whole number from 0 to 2^53'),
  ('{"likelihood": "poisson", "missing": "error"}', '{0,NULL}', '22004 element 2 of row 2 is NULL'),
  ('{"likelihood": "categorical"}', '{NaN,0}',
    '22023 element 1 of row 2 is NaN'),
  ('{"likelihood": "poisson", "covariance": "full"}', '{1,1}',
    '22023 option "covariance" does not apply to method collapsed with this likelihood'),
  ('{"likelihood": "bernoulli", "method": "vi", "draws": 3}', '{1,1}',
    '22023 option "draws" does not apply to method vi with this likelihood'),
  ('{"likelihood": "bernoulli", "prior": {"a": 0}}', '{1,1}',
    '22023 option "prior.a" contains 0.0, but must be greater than 0'),
  ('{"likelihood": "bernoulli", "prior": {"shape": 1}}', '{1,1}',
    '22023 unknown option "prior.shape"'),
  ('{"likelihood": "poisson", "prior": {"rate": [1, 2, 3]}}', '{1,1}',
    '22023 option "prior.rate" is an array of 3 numbers, but must be a number or an array of 2 '
    'numbers, one for each poisson element'),
  ('{"likelihood": ["bernoulli", "poisson"], "prior": {"poisson": 3}}', '{1,1}',
    '22023 option "prior.poisson" is 3, but must be an object'),
  ('{"likelihood": ["bernoulli", "poisson"], "prior": {"poisson": {"a": 3}}}', '{1,1}',
    '22023 unknown option "prior.poisson.a"'),
  ('{"likelihood": "normal", "prior": {"shape": 3}}', '{1,1}',
    '22023 unknown option "prior.shape"')) AS c(options, row, said);

SELECT * FROM finish();
