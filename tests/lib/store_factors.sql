-- Makes tests/data/stored_factors.copy and stored_factors.tsv, as store_models.sql makes its files:
-- factorizations by every method, as the version that runs this stores them, and what they say of a
-- row. Later versions must read them (tests/sql/stored_models.sql), so this is not run again for
-- models of today.
--
--   tests/lib/server run psql -c 'CREATE EXTENSION pg_bayes' -f tests/lib/data.sql \
--     -f tests/lib/store_factors.sql
\ir store.sql

CREATE TABLE cells AS SELECT page, lexeme AS term, cardinality(positions) AS count
FROM manual, unnest(words) WHERE page LIKE 'spi-spi-c%';
INSERT INTO made (name, type, x, model)
SELECT format('nmf %s %s', method, more), 'jsonb', '{"cursor": 2, "execut": 1, "unheard": 5}',
       (SELECT nmf_fit(page, term, count, 2, jsonb_build_object('method', method, 'max_iter', 3)
          || more) FROM cells WHERE term < 'f')
FROM (VALUES
  ('vi', '{}'::jsonb),
  ('vi', '{"prior": {"a": 0.5, "b": 1, "c": "learned", "d": "learned"}}'),
  ('vi', '{"hierarchical": true, "prior": {"h": 2}}'),
  ('vi', '{"absent": "missing"}'),
  ('em', '{}'),
  ('em', '{"absent": "missing"}'),
  ('squared', '{"init": "random"}')) AS v(method, more);
-- Arrays, whose keys are numbers; keys of other letters; a row and a column without a number.
INSERT INTO made (name, type, x, model)
SELECT 'nmf vi arrays', 'float8[]', '{1,0.5,3}',
       (SELECT nmf_fit(ARRAY[i, 1.5, i % 3], 2, '{"max_iter": 3}')
        FROM generate_series(1, 12) AS i);
INSERT INTO made (name, type, x, model)
SELECT 'nmf vi letters', 'jsonb', '{"日本": 1, "": 0.25}',
       (SELECT nmf_fit(r, c, v, 2, '{"max_iter": 3}')
        FROM (VALUES ('ä', '日本', 2), ('b"', '', 1.5), ('c', '日本', NULL), ('ä', 'ß', 0))
          AS v(r, c, v));

\copy (SELECT name, model FROM made ORDER BY id) TO 'tests/data/stored_factors.copy' (FORMAT binary)
\copy (SELECT name, type, x, answers, model FROM said ORDER BY id) TO 'tests/data/stored_factors.tsv'
