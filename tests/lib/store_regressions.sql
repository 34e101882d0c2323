-- Makes tests/data/stored_regressions.copy and stored_regressions.tsv, as store_models.sql makes
-- its files: linear regressions by every method, as the version that runs this stores them, and
-- what they say of a row. Later versions must read them (tests/sql/stored_models.sql), so this is
-- not run again for models of today.
--
--   tests/lib/server run psql -c 'CREATE EXTENSION pg_bayes' -f tests/lib/data.sql \
--     -f tests/lib/store_regressions.sql
\ir store.sql

INSERT INTO made (name, type, x, model)
SELECT format('linreg %s %s', method, more), 'float8[]', '{3.1, 1.2}', model
FROM (SELECT method, more, linreg_fit(x[1], x[2:3], jsonb_build_object('method', method) || more)
        AS model
      FROM iris, (VALUES ('exact', '{}'::jsonb), ('exact', '{"noise_variance": 2}'),
        ('exact', '{"intercept": false, "prior": {"c": 0}}'), ('em', '{}'),
        ('laplace', '{"ard": true}'), ('vi', '{}'), ('vi', '{"ard": true}'),
        ('vi', '{"prior": {"lambda": 2}}'),
        ('gibbs', '{"draws": 20, "chains": 2}')) AS v(method, more)
      GROUP BY method, more) AS fits;
-- Labels, a constant column and a collinear one.
INSERT INTO made (name, type, x, model)
SELECT 'linreg exact labels', 'record_of_iris', '(virginica,1.3,t,2.6,5)',
  (SELECT linreg_fit(petal_length, r, '{"prior": {"c": 0}, "reference": {"species": "versicolor"}}')
   FROM iris, LATERAL (SELECT species, petal_width, id % 2 = 0 AS even, 2 * petal_width AS twice,
     5 AS five) AS r);

\copy (SELECT name, model FROM made ORDER BY id) TO 'tests/data/stored_regressions.copy' (FORMAT binary)
\copy (SELECT name, type, x, answers, model FROM said ORDER BY id) TO 'tests/data/stored_regressions.tsv'
