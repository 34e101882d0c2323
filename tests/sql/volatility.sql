-- What functions promise of their results.
--
-- Labels, keys and symbols are known by their texts, and the text of a value may change: that of an
-- enum by ALTER TYPE ... RENAME VALUE. So a function is not IMMUTABLE if an argument may hold them:
-- if it is of any type, any array or any record. gmm_* and nmf_transform* take numbers alone, lda_*
-- texts and jsonb, bayes_page and the options of linreg_fit jsonb, which ALTER TYPE does not
-- change. (PostgreSQL calls every aggregate immutable, and internal functions follow theirs.)
SELECT plan(4);
\ir ../lib/checks.sql
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT never($$SELECT signature, volatility = 'immutable'
    AND proname !~ '^(gmm|lda)_|^nmf_transform|^bayes_page$|^linreg_fit$' AS wrong
  FROM interface WHERE kind <> 'aggregate'
    AND (signature ~ '"any"|anyelement|anyarray|anynonarray|record')$$,
  'what may take labels is not immutable');

CREATE TYPE colour AS ENUM ('red', 'green');
CREATE TABLE things AS
SELECT i AS id, (ARRAY['red', 'green'])[1 + i % 2]::colour AS colour
FROM generate_series(1, 700) AS i;
CREATE TABLE classes AS SELECT nb_fit(id % 4 < 2, c) AS model
FROM things, LATERAL (SELECT things.colour) AS c;
SELECT throws_ok(format('CREATE INDEX ON things (nb_predict(%L::bayes_model, ROW(colour)))',
  (SELECT model FROM classes)), '42P17', NULL, 'a class is no expression of an index');

-- A model is a function of what it was fitted to: how long that took is none of it.
SELECT ok(linreg_fit(s) = linreg_fit(s) AND linreg_fit(s, '{"method": "gibbs"}')
  = linreg_fit(s, '{"method": "gibbs"}'), 'the same statistics, the same model')
FROM (SELECT linreg_stats(sin(i), ARRAY[i, i % 7]) AS s FROM generate_series(1, 50) AS i) AS t;
SELECT is(_bayes_model_hash(linreg_fit(s)), _bayes_model_hash(linreg_fit(s)), 'with the same hash')
FROM (SELECT linreg_stats(sin(i), ARRAY[i, i % 7]) AS s FROM generate_series(1, 50) AS i) AS t;
SELECT * FROM finish();
