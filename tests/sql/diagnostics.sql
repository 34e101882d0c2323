-- Posterior draws as a relation, and what the aggregates say of chains.
SELECT plan(56);
\ir ../lib/checks.sql
SET client_min_messages = error;

\ir ../lib/errors.sql

-- ---- against the R package posterior ----

-- Chains as tests/statistics/reference_diagnostics.R makes them; `number` is that of the case.
CREATE FUNCTION made(number bigint, chains int, draws int, rho float8,
  steps float8) RETURNS TABLE (chain int, draw int, value float8) LANGUAGE plpgsql AS $$
DECLARE x float8; noise float8;
BEGIN
  FOR c IN 1 .. chains LOOP
    x := 0;
    FOR d IN 1 .. draws LOOP
      noise := 0;
      FOR i IN 1 .. 3 LOOP
        number := 16807 * number % 2147483647;
        noise := noise + number / 2147483647::float8;
      END LOOP;
      x := rho * x + (noise - 1.5);
      chain := c; draw := d; value := CASE WHEN steps > 0 THEN floor(x * steps) ELSE x END;
      RETURN NEXT;
    END LOOP;
  END LOOP;
END $$;
CREATE TABLE slow AS SELECT * FROM made(4, 4, 1000, 0.9, 0);
CREATE TABLE antithetic AS SELECT * FROM made(9, 1, 1001, -0.9, 0);
CREATE TABLE counts AS SELECT * FROM made(16, 4, 1000, 0.8, 2);
CREATE TABLE odd AS SELECT * FROM made(3, 3, 997, 0, 0);
CREATE FUNCTION agree(a float8,
  b float8) RETURNS boolean LANGUAGE sql AS 'SELECT abs(a / b - 1) < 1e-9';
SELECT ok(agree(bayes_rhat(value, chain ORDER BY chain, draw), 1.0119615479243815),
  'slow chains: rhat')
  FROM slow;
SELECT ok(agree(bayes_ess_bulk(value, chain ORDER BY chain, draw), 280.71409032758129),
  'slow chains: ess_bulk') FROM slow;
SELECT ok(agree(bayes_ess_tail(value, chain ORDER BY chain, draw), 542.01484899187824),
  'slow chains: ess_tail') FROM slow;
SELECT ok(agree(bayes_mcse(value, chain ORDER BY chain, draw), 0.065023837153170325),
  'slow chains: mcse')
  FROM slow;
SELECT ok(agree(bayes_rhat(value, chain ORDER BY chain, draw), 1.0009628606229606)
  AND agree(bayes_ess_bulk(value, chain ORDER BY chain, draw), 2990.6600264659651) AND
          agree(bayes_ess_tail(value, chain ORDER BY chain, draw), 2966.4489018925906)
            AND agree(bayes_mcse(value, chain ORDER BY chain, draw), 0.0091333450845838288),
            'an odd number of draws') FROM odd;
SELECT ok(agree(bayes_rhat(value, chain ORDER BY chain, draw), 1.0101695903342471)
  AND agree(bayes_ess_bulk(value, chain ORDER BY chain, draw), 381.48355692184811) AND
          agree(bayes_ess_tail(value, chain ORDER BY chain, draw), 468.89043839700952)
            AND agree(bayes_mcse(value, chain ORDER BY chain, draw), 0.087083902518572218), 'ties')
          FROM counts;
SELECT ok(agree(bayes_rhat(value, 1 ORDER BY draw), 1.0040226225550224)
  AND agree(bayes_ess_bulk(value, 1 ORDER BY draw), 3000)
  AND agree(bayes_ess_tail(value, 1 ORDER BY draw),
  255.38292980213433) AND
          agree(bayes_mcse(value, 1 ORDER BY draw), 0.021982724046872196),
  'a single chain needs no number')
          FROM antithetic;

-- ---- rows, groups, types ----

SELECT is(count(DISTINCT r)::int, 1, 'what counts is the order inside a chain') FROM (
  SELECT bayes_rhat(value, chain ORDER BY chain, draw) AS r FROM slow
  UNION ALL SELECT bayes_rhat(value, chain ORDER BY draw, chain DESC) FROM slow
  UNION ALL SELECT bayes_rhat(value, chain * 1000 - 5 ORDER BY md5(draw::text) IS NULL, draw)
    FROM slow) AS f;
SELECT ok(bayes_ess_bulk(value, chain ORDER BY md5(chain || ' ' || draw)) > 3000,
  'another order is another sequence') FROM slow;
SELECT results_eq($$SELECT name,
  agree(bayes_ess_bulk(value, chain ORDER BY chain, draw),
  CASE name WHEN 'slow' THEN 280.71409032758129 ELSE 381.48355692184811 END)
  FROM (SELECT 'slow' AS name, * FROM slow UNION ALL SELECT 'counts', * FROM counts) AS f
    GROUP BY name ORDER BY name$$,
  $$VALUES ('counts', true), ('slow', true)$$, 'under GROUP BY');
SELECT ok(bayes_rhat(value, chain ORDER BY draw) FILTER (WHERE chain <= 2) IS DISTINCT
  FROM bayes_rhat(value, chain ORDER BY draw), 'with FILTER') FROM slow;
SELECT is(bayes_mcse(v::float8, 1), bayes_mcse(v, 1), 'numeric values')
  FROM (SELECT i * 7 % 13 + 0.5 AS v FROM generate_series(1, 40) i) AS f;
SELECT is(bayes_mcse(v::float8, c::int), bayes_mcse(v, c), 'integer values, small chain numbers')
  FROM (SELECT i * 7 % 13 AS v, (i % 2)::smallint AS c FROM generate_series(1, 40) i) AS f;
SELECT is(pg_typeof(bayes_rhat(value, chain))::text, 'double precision', 'the type of the result')
  FROM slow;
SELECT is((SELECT count(DISTINCT r)::int
  FROM (SELECT bayes_ess_tail(value, chain) OVER (PARTITION BY chain) AS r FROM slow) AS f), 4,
  'over windows');
SELECT is((SELECT array_agg(r IS NULL ORDER BY draw)
  FROM (SELECT draw, bayes_rhat(value, 1) OVER (ORDER BY draw) AS r
    FROM antithetic WHERE draw <= 5) AS f),
  '{t,t,t,f,f}', 'over growing frames');

-- ---- no answer ----

SELECT is(bayes_rhat(value, chain), NULL, 'no rows: rhat') FROM slow WHERE false;
SELECT is(bayes_ess_bulk(value, chain), NULL, 'no rows: ess_bulk') FROM slow WHERE false;
SELECT is(bayes_ess_tail(value, chain), NULL, 'no rows: ess_tail') FROM slow WHERE false;
SELECT is(bayes_mcse(value, chain), NULL, 'no rows: mcse') FROM slow WHERE false;
SELECT is((bayes_rhat(value, 1), bayes_ess_bulk(value, 1), bayes_ess_tail(value, 1),
  bayes_mcse(value, 1))::text, '(,,,)',
  'no rows, one chain') FROM slow WHERE false;
SELECT is((bayes_rhat(value, chain), bayes_ess_bulk(value, chain), bayes_ess_tail(value, chain),
  bayes_mcse(value, chain))::text, '(,,,)', 'one row') FROM slow WHERE chain = 1 AND draw = 1;
SELECT is((bayes_rhat(value, chain), bayes_ess_bulk(value, chain), bayes_ess_tail(value, chain),
  bayes_mcse(value, chain))::text, '(,,,)', 'three draws of a chain') FROM slow WHERE draw <= 3;
SELECT is((bayes_rhat(value, chain) IS NULL, bayes_ess_bulk(value, chain),
  bayes_ess_tail(value, chain), bayes_mcse(value, chain))::text, '(f,,,)',
  'five draws are enough for bayes_rhat') FROM slow WHERE draw <= 5;
SELECT is((bayes_rhat(value, chain) + bayes_ess_bulk(value, chain) + bayes_ess_tail(value, chain)
  + bayes_mcse(value, chain)) IS NULL, false, 'six are enough for all') FROM slow WHERE draw <= 6;
SELECT is((bayes_rhat(7.25, chain), bayes_ess_bulk(7.25, chain), bayes_ess_tail(7.25, chain),
  bayes_mcse(7.25, chain))::text, '(,,,)', 'equal draws') FROM slow;
SELECT is((bayes_rhat(v, chain), bayes_ess_bulk(v, chain), bayes_ess_tail(v, chain),
  bayes_mcse(v, chain))::text, '(,,,)',
  'a draw that is ' || bad) FROM unnest('{NaN,Infinity,-Infinity}'::float8[]) AS bad,
  LATERAL (SELECT chain, CASE WHEN draw = 500 AND chain = 2 THEN bad ELSE value END AS v
    FROM slow) AS f GROUP BY bad;
SELECT is((bayes_rhat(v, chain) IS NULL, bayes_ess_bulk(v, chain) IS NULL,
  bayes_ess_tail(v, chain) IS NULL, bayes_mcse(v, chain) IS NULL)::text, '(f,f,t,f)',
  'a tail that has no draw beyond it')
  FROM (SELECT chain, (value > 1)::int AS v FROM slow) AS f;
SELECT is(bayes_rhat(chain, chain), 'Infinity', 'chains that are stuck apart') FROM slow;

-- ---- errors ----

SELECT is(whole_complaint(statement), said, statement) FROM (VALUES
  ('SELECT bayes_rhat(nullif(draw, 17), chain ORDER BY chain, draw) FROM slow',
   '22004 value of draw 17 is NULL | Draws of a chain are a sequence, from which none can be '
     'left out. | To leave it out nevertheless, use FILTER (WHERE ... IS NOT NULL).'),
  ('SELECT bayes_ess_bulk(nullif(draw, 1), 1 ORDER BY nullif(draw, 1)) FROM slow',
   '22004 value of draw 3997 is NULL | Draws of a chain are a sequence, from which none can be '
     'left out. | To leave it out nevertheless, use FILTER (WHERE ... IS NOT NULL).'),
  ('SELECT bayes_mcse(value, NULL) FROM slow',
   '22004 chain of draw 1 is NULL | Draws of a chain are a sequence, from which none can be '
     'left out. | To leave it out nevertheless, use FILTER (WHERE ... IS NOT NULL).'),
  ('SELECT bayes_ess_tail(value, chain) FROM slow WHERE draw < 100 OR chain <> 3',
   '22023 chains have different numbers of draws | Chain 1 has 1000, chain 3 has 99. | Compare as '
     'many draws of each chain.'),
  ('SELECT bayes_rhat(i, i) FROM generate_series(1, 10001) AS i',
    '54000 more than 10000 chains | The second argument is the number of the chain, not of the '
    'draw.'),
  ('SELECT bayes_mcse(i, 1) FROM generate_series(1, 10000001) AS i',
    '54000 more than 10000000 draws | Thin them, for instance by FILTER (WHERE draw % 10 = 0).'))
  AS c(statement, said);
SELECT is((SELECT count(*) FROM slow WHERE draw = 1)::int, 4, 'the session goes on');

-- ---- draws of a model ----

CREATE TABLE models AS SELECT gmm_fit(x, 2, '{"method": "em"}') AS plain,
  NULL::bayes_model AS sampled FROM faithful;
UPDATE models SET sampled
  = (plain::jsonb || '{"draws": {"quantities": ["clusters", "log_joint"], "chains": 2, "draws": 3,
  "values": [[[1, -2.5], [2, -3], [3, "-0"]], [[1, "NaN"], [2, -1e300], [4, 4]]]}}')::bayes_model;
SELECT results_eq('SELECT d.* FROM models, bayes_draws(sampled) d',
  $$VALUES (1, 1, 'clusters', 1::float8), (1, 1, 'log_joint', -2.5), (1, 2, 'clusters', 2),
  (1, 2, 'log_joint', -3), (1, 3, 'clusters', 3),
  (1, 3, 'log_joint', '-0'), (2, 1, 'clusters', 1), (2, 1, 'log_joint', 'NaN'),
    (2, 2, 'clusters', 2), (2, 2, 'log_joint', -1e300), (2, 3, 'clusters', 4),
    (2, 3, 'log_joint', 4)$$, 'a row for every value');
SELECT results_eq(
  'SELECT pg_typeof(chain)::text, pg_typeof(draw)::text, pg_typeof(quantity)::text, '
  'pg_typeof(value)::text FROM models, bayes_draws(model => sampled) LIMIT 1',
  $$VALUES ('integer', 'integer', 'text', 'double precision')$$, 'types of bayes_draws');
SELECT is((SELECT count(*) FROM bayes_draws(NULL))::int, 0, 'a NULL model has no rows');
SELECT is(whole_complaint('SELECT bayes_draws(plain) FROM models'),
  '22023 model has no posterior draws | It is of family gmm, fitted by method em. | Only methods '
    'that sample store draws: fit it by one of them.', 'a model that was not sampled');
SELECT never($$SELECT _bayes_model_send(sampled::text::bayes_model) <> _bayes_model_send(sampled)
  OR _bayes_model_send(sampled::jsonb::bayes_model) <> _bayes_model_send(sampled)
  OR sampled::text::bayes_model::text <> sampled::text AS wrong FROM models$$,
    'draws survive text and jsonb');
SELECT is((SELECT sampled::jsonb - 'draws' = plain::jsonb FROM models), true,
  'they are one member of the model');
SELECT ok(gmm_predict(sampled, '{2,50}') IS NOT NULL, 'which works as without them') FROM models;
SELECT is((SELECT array_agg(quantity ORDER BY quantity)
  FROM (SELECT quantity, bayes_rhat(value, chain ORDER BY chain, draw)
  FROM models, bayes_draws(sampled) GROUP BY quantity) AS f), '{clusters,log_joint}',
  'they go into the aggregates');
-- As many as a long run has, with the names, sizes and values of a sampler.
UPDATE models SET sampled
  = (plain::jsonb || jsonb_build_object('draws',
  jsonb_build_object('quantities', '["x", "next"]'::jsonb, 'chains', 4, 'draws', 1000, 'values',
  (SELECT jsonb_agg(v ORDER BY chain)
    FROM (SELECT chain, jsonb_agg(jsonb_build_array(value, value + 1) ORDER BY draw) AS v FROM slow
    GROUP BY chain) AS f))))::bayes_model;
SELECT results_eq(
  'SELECT quantity, agree(bayes_ess_bulk(value, chain ORDER BY chain, draw), 280.71409032758129), '
  'count(*) FROM models, bayes_draws(sampled) GROUP BY quantity ORDER BY 1',
  $$VALUES ('next', true, 4000::bigint), ('x', true, 4000)$$, 'a whole posterior');
SELECT is(whole_complaint(format('SELECT %L::bayes_model',
  jsonb_set(sampled::jsonb, ARRAY['draws', key], value))), said,
  key || ' ' || left(value::text, 40)) FROM models, (VALUES
  ('quantities', '["x"]'::jsonb,
    '22P02 invalid bayes_model: member "draws.values" is an array of 4 x 1000 x 2 numbers, but '
    'must be an array of 4 x 1000 x 1 numbers'),
  ('quantities', '["x", "x"]',
    '22P02 invalid bayes_model: member "draws.quantities" contains "x" twice'),
  ('quantities', '["x", "Infinity"]',
    '22P02 invalid bayes_model: member "draws.quantities" contains "Infinity", but names must be '
    'strings of at most 63 bytes that begin with a letter from a to z'),
  ('quantities', '["NaN", "Infinity"]',
    '22P02 invalid bayes_model: member "draws.quantities" is not an array of 1 to 64 names'),
  ('quantities', '[]',
    '22P02 invalid bayes_model: member "draws.quantities" is not an array of 1 to 64 names'),
  ('chains', '0', '22P02 invalid bayes_model: member "draws.chains" is 0, but must be a whole '
    'number from 1 to 10000'),
  ('draws', '999',
    '22P02 invalid bayes_model: member "draws.values" is an array of 4 x 1000 x 2 numbers, but '
    'must be an array of 4 x 999 x 2 numbers'),
  ('values', '[[["Infinity", 1]]]',
    '22P02 invalid bayes_model: member "draws.values" is an array of 1 x 1 x 2 numbers, but must '
    'be an array of 4 x 1000 x 2 numbers'),
  ('colour', '1', '22P02 invalid bayes_model: unknown member "draws.colour"')) AS c(key, value,
    said);

SELECT * FROM finish();
