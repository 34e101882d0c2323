-- What the SQL tests of errors of hidden Markov models share. Read by psql's \ir.
SET client_min_messages = error;

\ir ../lib/errors.sql
-- The families that elements can have, as the extension itself lists them.
SELECT substring(complaint($$SELECT bmm_fit(ARRAY[1], 1, '{"likelihood": "?"}')$$)
  FROM 'must be one of (.*)$') AS families \gset
CREATE TABLE words (id int, x text[], n float8[], v float8[], b boolean[], s int[]);
INSERT INTO words SELECT id, ARRAY(SELECT chr(97 + id * i % 3) FROM generate_series(1, 6) i
  ORDER BY i), ARRAY(SELECT sin(id * i) FROM generate_series(1, 6) i ORDER BY i),
  (SELECT array_agg(ARRAY[sin(id * i), cos(id + i), i % 2] ORDER BY i)
  FROM generate_series(1, 6) i), ARRAY(SELECT id * i % 3 > 0 FROM generate_series(1, 6) i
  ORDER BY i), ARRAY(SELECT 1 + id * i % 2 FROM generate_series(1, 6) i ORDER BY i)
  FROM generate_series(1, 10) id;
CREATE TABLE given AS SELECT hmm_fit(x, 2, '{"method": "em"}') AS names,
  hmm_fit(x, 2, '{"method": "vi"}') AS vi, hmm_fit(x, 2, '{"method": "gibbs", "draws": 20}')
  AS gibbs, hmm_fit(n, 2, '{"method": "em"}') AS numbers, hmm_fit(v, 2) AS vectors,
  hmm_fit(b, 2) AS booleans, hmm_fit(v, 2, '{"emission": ["normal", "normal", "bernoulli"]}')
  AS mixed,
  hmm_fit(s, 2, '{"emission": "poisson"}') AS counts,
    hmm_fit(s, 2, '{"emission": "exponential"}') AS times,
    hmm_fit(s::float8[], 2, '{"emission": "categorical"}') AS codes, (SELECT gmm_fit(x, 2)
    FROM faithful) AS gmm FROM words;
-- Of which most sequences are all but impossible.
CREATE TABLE strict AS SELECT hmm_fit(x, 2, '{"method": "em", "max_iter": 0, "init": {"initial": '
  '[1, 0], "transitions": [[0, 1], [1, 0]], "means": [0, 1]}, "emission": "poisson"}') AS m
  FROM (VALUES ('{0,1}'::int[])) v(x);
