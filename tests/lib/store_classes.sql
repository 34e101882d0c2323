-- Makes tests/data/stored_classes.copy and stored_classes.tsv, as store_models.sql makes its files:
-- Bayes classifiers of columns and of words, as the version that runs this stores them, and what
-- they say of a row. Later versions must read them (tests/sql/stored_models.sql), so this is not
-- run again for models of today.
--
--   tests/lib/server run psql -c 'CREATE EXTENSION pg_bayes' -f tests/lib/data.sql \
--     -f tests/lib/store_classes.sql
\ir store.sql

INSERT INTO made (name, type, x, model)
SELECT format('nb exact %s', more), 'float8[]', '{6.1,2.8,NULL,1.5}',
       (SELECT nb_fit(species, x, more) FROM iris)
FROM (VALUES ('{}'::jsonb), ('{"covariance": "full"}'),
  ('{"prior": {"alpha": 0.5, "normal": {"m": 3, "c": 1, "a": 2, "B": [1, 2, 3, 4]}}}')) AS v(more);
INSERT INTO made (name, type, x, model)
SELECT 'nb exact columns', 'int[]', '{3,1,0,2,5,4}',
       (SELECT nb_fit(i % 3, ARRAY[i % 7, i % 2, i % 4, i % 5, i % 11, i % 3], '{"likelihood":
          ["poisson", "bernoulli", "categorical", "exponential", "normal", "geometric"]}', i)
        FROM generate_series(1, 40) AS i);
-- Letters, words, nulls.
INSERT INTO made (name, type, x, model)
SELECT format('nb exact words %s', more), 'jsonb', '{"ä": 2, "日本": true, "land": "CH", "x": null}',
       (SELECT nb_fit(label, words, more) FROM (VALUES ('ä', '{"ä": 1, "land": "CH"}'::jsonb),
          ('b"', '{"日本": true, "ä": 3, "leer": null}'), ('', '{"x": 2, "land": "ß"}'), ('ä', '{}'))
          AS v(label, words))
FROM (VALUES ('{}'::jsonb), ('{"absent": "missing"}')) AS v(more);

\copy (SELECT name, model FROM made ORDER BY id) TO 'tests/data/stored_classes.copy' (FORMAT binary)
\copy (SELECT name, type, x, answers, model FROM said ORDER BY id) TO 'tests/data/stored_classes.tsv'
