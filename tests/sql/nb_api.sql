-- The interface of Bayes classifiers, pinned as that of the others is in api.sql.
SELECT plan(4);
\ir ../lib/checks.sql
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT results_eq($$
  SELECT signature, kind, arguments, result, volatility, strict, parallel
  FROM interface WHERE proname LIKE 'nb%' AND arguments !~ 'features (record|jsonb|tsv|dou|boo)'
    AND (arguments !~ '^query' OR proname !~ '_(fit|model)$')
  ORDER BY signature COLLATE "C"$$, $$VALUES
  ('nb_classes(bayes_model)', 'function', 'model bayes_model',
    'TABLE(class text, rows bigint, weight double precision, prior double precision, probability '
    'double precision, sd double precision)', 'immutable', true, 'safe'),
  ('nb_features(bayes_model)', 'function', 'model bayes_model',
    'TABLE(class text, element integer, column_name text, likelihood text, parameter text, '
    'category bigint, label text, value double precision, sd double precision, lower double '
    'precision, upper double precision)', 'immutable', true, 'safe'),
  ('nb_features(bayes_model,double precision)', 'function',
    'model bayes_model, level double precision',
    'TABLE(class text, element integer, column_name text, likelihood text, parameter text, '
    'category bigint, label text, value double precision, sd double precision, lower double '
    'precision, upper double precision)', 'immutable', true, 'safe'),
  ('nb_fit("any",anyarray)', 'aggregate', 'label "any", features anyarray', 'bayes_model',
    'immutable', false, 'safe'),
  ('nb_fit("any",anyarray,jsonb)', 'aggregate', 'label "any", features anyarray, options jsonb',
    'bayes_model', 'immutable', false, 'safe'),
  ('nb_fit("any",anyarray,jsonb,double precision)', 'aggregate',
    'label "any", features anyarray, options jsonb, weight double precision', 'bayes_model',
    'immutable', false, 'safe'),
  ('nb_log_density(bayes_model,"any")', 'function', 'model bayes_model, features "any"',
    'double precision', 'stable', true, 'safe'),
  ('nb_predict(bayes_model,"any")', 'function', 'model bayes_model, features "any"', 'text',
    'stable', true, 'safe'),
  ('nb_probabilities(bayes_model,"any")', 'function', 'model bayes_model, features "any"',
    'TABLE(class text, probability double precision)', 'stable', true, 'safe'),
  ('nb_probability(bayes_model,"any","any")', 'function',
    'model bayes_model, features "any", label "any"', 'double precision', 'stable', true,
    'safe'),
  ('nb_update("any",anyarray,bayes_model)', 'aggregate',
    'label "any", features anyarray, prior bayes_model', 'bayes_model', 'immutable', false, 'safe'),
  ('nb_update("any",anyarray,bayes_model,jsonb)', 'aggregate',
    'label "any", features anyarray, prior bayes_model, options jsonb', 'bayes_model',
    'immutable', false, 'safe'),
  ('nb_update("any",anyarray,bayes_model,jsonb,double precision)', 'aggregate',
    'label "any", features anyarray, prior bayes_model, options jsonb, weight double precision',
    'bayes_model', 'immutable', false, 'safe')$$,
  'functions and aggregates');
SELECT set_eq($$
  SELECT proname, kind, arguments, result FROM interface
  WHERE proname LIKE 'nb%' AND arguments ~ 'features (record|jsonb|tsv|dou|boo)'$$, $$
  SELECT proname, kind, replace(arguments, 'features anyarray', 'features ' || form), result
  FROM interface, unnest('{record,jsonb,tsvector,double precision,boolean}'::text[]) AS form
  WHERE proname LIKE 'nb%' AND arguments ~ 'features anyarray'$$,
  'what takes arrays takes records, objects, lexemes and single values');
SELECT never($$SELECT signature, a.aggtransspace <> 65536 OR aggcombinefn = 0
    OR aggserialfn = 0 OR aggdeserialfn = 0 OR aggfinalmodify <> 'r' AS wrong
  FROM functions f JOIN pg_aggregate a ON a.aggfnoid = f.oid WHERE proname LIKE 'nb%'$$,
  'aggregates keep statistics, and are computed in parallel');

SELECT lives_ok($$SELECT c.class, c.probability, f.class, p.class, p.probability,
    nb_predict(features => 1.5, model => m), nb_log_density(features => 1.5, model => m),
    nb_probability(label => 1, features => 1.5, model => m)
  FROM (SELECT nb_fit(i % 2, i * 1.5) AS m FROM generate_series(1, 9) AS i) AS t,
  nb_classes(model => m) AS c, nb_features(level => 0.5, model => m) AS f,
  nb_probabilities(features => 1.5, model => m) AS p$$, 'arguments have names, which can be used');

SELECT * FROM finish();
