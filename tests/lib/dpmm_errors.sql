-- What the SQL tests of errors of Dirichlet process mixtures share. Read by psql's \ir.
\ir ../lib/checks.sql
SET client_min_messages = error;

\ir ../lib/errors.sql
-- The families that elements can have, as the extension itself lists them.
SELECT substring(complaint($$SELECT bmm_fit(ARRAY[1], 1, '{"likelihood": "?"}')$$)
  FROM 'must be one of (.*)$') AS families \gset
CREATE TABLE given AS SELECT dpmm_fit(x, '{"draws": 20}') AS normal,
  dpmm_fit(x, '{"draws": 20, "missing": "error"}') AS strict,
  dpmm_fit(x, '{"method": "vi"}') AS vi, gmm_fit(x, 2) AS gmm,
  dpmm_fit(ARRAY[id % 2, id / 200], '{"draws": 20, "likelihood": "bernoulli"}') AS bernoulli,
    dpmm_fit(ARRAY[id % 5, id / 10], '{"draws": 20, "likelihood": "poisson"}') AS poisson,
  dpmm_fit(ARRAY[id % 3 + 1, 10 * (id % 2)], '{"draws": 20, "likelihood": "categorical"}')
    AS categorical,
  dpmm_fit(ARRAY[id % 2, id % 5, id % 3, eruptions],
    '{"draws": 20, "likelihood": ["bernoulli", "poisson", "categorical", "normal"],
    "missing": "error"}') AS mixed
    FROM faithful;
CREATE TABLE few AS SELECT id, x FROM faithful WHERE id <= 10;
