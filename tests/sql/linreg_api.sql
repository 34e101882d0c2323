-- The interface of linear regression, pinned as that of the others is in api.sql.
SELECT plan(2);
\ir ../lib/interface.sql
SET client_min_messages = error;

SELECT results_eq($$
  SELECT signature, kind, arguments, result, volatility, strict, parallel
  FROM interface WHERE proname LIKE 'linreg%' OR signature = 'rollup(linreg_stats)'
  ORDER BY signature COLLATE "C"$$, $$VALUES
  ('linreg_coefficients(bayes_model)', 'function',
    'model bayes_model',
    'TABLE(term text, mean double precision, sd double precision, lower double precision, upper '
    'double precision)', 'immutable', true, 'safe'),
  ('linreg_coefficients(bayes_model,double precision)', 'function',
    'model bayes_model, level double precision',
    'TABLE(term text, mean double precision, sd double precision, lower double precision, upper '
    'double precision)', 'immutable', true, 'safe'),
  ('linreg_fit(double precision,double precision)', 'aggregate',
    'y double precision, x double precision', 'bayes_model', 'immutable', false, 'safe'),
  ('linreg_fit(double precision,double precision,jsonb)', 'aggregate',
    'y double precision, x double precision, options jsonb', 'bayes_model', 'immutable', false,
    'safe'),
  ('linreg_fit(double precision,double precision,jsonb,double precision)', 'aggregate',
    'y double precision, x double precision, options jsonb, weight double precision',
    'bayes_model', 'immutable', false, 'safe'),
  ('linreg_fit(double precision,double precision[])', 'aggregate',
    'y double precision, x double precision[]', 'bayes_model', 'immutable', false, 'safe'),
  ('linreg_fit(double precision,double precision[],jsonb)', 'aggregate',
    'y double precision, x double precision[], options jsonb', 'bayes_model', 'immutable', false,
    'safe'),
  ('linreg_fit(double precision,double precision[],jsonb,double precision)', 'aggregate',
    'y double precision, x double precision[], options jsonb, weight double precision',
    'bayes_model', 'immutable', false, 'safe'),
  ('linreg_fit(double precision,record)', 'aggregate',
    'y double precision, x record', 'bayes_model', 'immutable', false, 'safe'),
  ('linreg_fit(double precision,record,jsonb)', 'aggregate',
    'y double precision, x record, options jsonb', 'bayes_model', 'immutable', false, 'safe'),
  ('linreg_fit(double precision,record,jsonb,double precision)', 'aggregate',
    'y double precision, x record, options jsonb, weight double precision', 'bayes_model',
    'immutable', false, 'safe'),
  ('linreg_fit(linreg_stats)', 'function',
    'stats linreg_stats', 'bayes_model', 'immutable', false, 'safe'),
  ('linreg_fit(linreg_stats,jsonb)', 'function',
    'stats linreg_stats, options jsonb', 'bayes_model', 'immutable', false, 'safe'),
  ('linreg_noise(bayes_model)', 'function',
    'model bayes_model',
    'TABLE(mean double precision, sd double precision, lower double precision, upper double '
    'precision)', 'immutable', true, 'safe'),
  ('linreg_noise(bayes_model,double precision)', 'function',
    'model bayes_model, level double precision',
    'TABLE(mean double precision, sd double precision, lower double precision, upper double '
    'precision)', 'immutable', true, 'safe'),
  ('linreg_predict(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'linreg_prediction', 'immutable', true, 'safe'),
  ('linreg_predict(bayes_model,"any",double precision)', 'function',
    'model bayes_model, x "any", level double precision', 'linreg_prediction', 'immutable', true,
    'safe'),
  ('linreg_stats(double precision,double precision)', 'aggregate',
    'y double precision, x double precision', 'linreg_stats', 'immutable', false, 'safe'),
  ('linreg_stats(double precision,double precision,double precision)', 'aggregate',
    'y double precision, x double precision, weight double precision', 'linreg_stats',
    'immutable', false, 'safe'),
  ('linreg_stats(double precision,double precision[])', 'aggregate',
    'y double precision, x double precision[]', 'linreg_stats', 'immutable', false, 'safe'),
  ('linreg_stats(double precision,double precision[],double precision)', 'aggregate',
    'y double precision, x double precision[], weight double precision', 'linreg_stats',
    'immutable', false, 'safe'),
  ('linreg_stats(double precision,record)', 'aggregate',
    'y double precision, x record', 'linreg_stats', 'immutable', false, 'safe'),
  ('linreg_stats(double precision,record,double precision)', 'aggregate',
    'y double precision, x record, weight double precision', 'linreg_stats', 'immutable', false,
    'safe'),
  ('linreg_stats_from_jsonb(jsonb)', 'function',
    'jsonb', 'linreg_stats', 'immutable', true, 'safe'),
  ('linreg_stats_in(cstring)', 'function',
    'cstring', 'linreg_stats', 'immutable', true, 'safe'),
  ('linreg_stats_info(linreg_stats)', 'function',
    'stats linreg_stats',
    'TABLE(rows bigint, skipped bigint, weight double precision, predictors integer, columns '
    'integer)', 'immutable', true, 'safe'),
  ('linreg_stats_out(linreg_stats)', 'function',
    'linreg_stats', 'cstring', 'immutable', true, 'safe'),
  ('linreg_stats_recv(internal)', 'function',
    'internal', 'linreg_stats', 'immutable', true, 'safe'),
  ('linreg_stats_send(linreg_stats)', 'function',
    'linreg_stats', 'bytea', 'immutable', true, 'safe'),
  ('linreg_stats_to_jsonb(linreg_stats)', 'function',
    'linreg_stats', 'jsonb', 'immutable', true, 'safe'),
  ('rollup(linreg_stats)', 'aggregate',
    'stats linreg_stats', 'linreg_stats', 'immutable', false, 'safe')$$,
  'functions and aggregates');

SELECT lives_ok($$SELECT p.mean, c.term, n.sd, i.rows
  FROM (SELECT linreg_fit(i * i, i, NULL, 1) AS m,
      linreg_stats(i, i) AS s FROM generate_series(1, 9) AS i) AS f,
    linreg_predict(level => 0.5, x => 3, model => m) AS p,
    linreg_coefficients(level => 0.5, model => linreg_fit(options => NULL, stats => s)) AS c,
    linreg_noise(level => 0.5, model => m) AS n, linreg_stats_info(stats => s) AS i$$,
  'arguments have names, which can be used');

SELECT * FROM finish();
