-- The interface of Bayes classifiers, pinned as that of the others is in api.sql.
SELECT plan(2);
\ir ../lib/checks.sql
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT never($$SELECT signature, abs(a.aggtransspace) <> 65536 OR aggcombinefn = 0
    OR aggserialfn = 0 OR aggdeserialfn = 0 OR aggfinalmodify <> 'r' AS wrong
  FROM functions f JOIN pg_aggregate a ON a.aggfnoid = f.oid WHERE proname LIKE 'nb%'$$,
  'aggregates keep statistics, and are computed in parallel');

SELECT lives_ok($$SELECT c.class, c.probability, f.class, p.class, p.probability,
    nb_predict(features => 1.5, model => m), bayes_log_density(x => 1.5, model => m),
    nb_probability(label => 1, features => 1.5, model => m)
  FROM (SELECT nb_fit(i % 2, i * 1.5) AS m FROM generate_series(1, 9) AS i) AS t,
  nb_classes(model => m) AS c, nb_features(level => 0.5, model => m) AS f,
  nb_probabilities(features => 1.5, model => m) AS p$$, 'arguments have names, which can be used');

SELECT * FROM finish();
