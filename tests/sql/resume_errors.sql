-- Fits that are resumed: what is refused, what may change, and states that were tampered with.
SELECT plan(52);
\ir ../lib/checks.sql
SET client_min_messages = error;
\ir ../lib/resume.sql

CREATE TABLE parts AS SELECT id, family, call, options,
    fitted(call, k, options || '{"max_seconds": 1e-9}') AS model FROM variants;
SELECT never($$SELECT p.family, p.options, s.stopped, s.converged,
    s.stopped IS DISTINCT FROM 'max_seconds' OR s.converged
      OR model::text::bayes_model <> model AS wrong
  FROM parts AS p, bayes_info(model) AS s$$, 'a slice is a model that says that it is unfinished');

-- ---- rows ----

CREATE FUNCTION changed(call text, model bayes_model) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM resumed(regexp_replace(call, ' FROM (\w+)( AS p)?', ' FROM (SELECT * FROM \1 ORDER BY '
    'random() LIMIT (SELECT count(*) - 1 FROM \1)) AS p'), model, '{}');
  RETURN 'resumed';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT never($$SELECT family, options, found,
    found !~ '^22023 the rows are not those of the fit' AS wrong
  FROM parts, changed(call, model) AS found$$, 'other rows are refused');
SELECT throws_ok($$SELECT gmm_fit(x, model, '{"resume": true}') FROM
    (SELECT CASE WHEN id = 7 THEN ARRAY[x[1] + 1e-9, x[2], x[3], x[4]] ELSE x END AS x
     FROM flowers) AS f, (SELECT model FROM parts WHERE id = 1) AS m GROUP BY model$$, '22023',
  'the rows are not those of the fit that is to be resumed', 'even if they hardly differ');
SELECT ok((SELECT gmm_fit(x, model, '{"resume": true}' ORDER BY id DESC) FROM flowers,
    (SELECT model FROM parts WHERE id = 1) AS m GROUP BY model)
  = (SELECT gmm_fit(x, model, '{"resume": true}') FROM flowers,
    (SELECT model FROM parts WHERE id = 1) AS m GROUP BY model), 'but their order does not count');

-- ---- requests ----

SELECT throws_ok($$SELECT gmm_fit(x, gmm_fit, '{"resume": true}') FROM flowers,
    (SELECT gmm_fit(x, 3, '{"max_seconds": 1e-9}') FROM flowers) AS m GROUP BY gmm_fit$$, '22023',
  'the fit of this model cannot be resumed', 'a fit that was not to be resumed');
SELECT throws_ok($$SELECT gmm_fit(x, bayes_compact(model), '{"resume": true}') FROM flowers,
    parts WHERE parts.id = 1 GROUP BY model$$, '22023', 'the fit of this model cannot be resumed',
  'or one whose model was compacted');
SELECT throws_ok($$SELECT gmm_fit(x, 3, '{"resume": true}') FROM flowers$$, '22023',
  'there is no fit to resume', 'no model');
SELECT throws_ok($$SELECT gmm_fit(x, model, '{"resume": 3}') FROM flowers,
    parts WHERE parts.id = 1 GROUP BY model$$, '22023', NULL, 'resume is true or false');
SELECT throws_ok($$SELECT gmm_fit(x, model, '{"resume": true, "tol": 1}') FROM flowers,
    parts WHERE parts.id = 1 GROUP BY model$$, '22023',
  'option "tol" cannot be given when a fit is resumed', 'another option');
SELECT lives_ok($$SELECT gmm_fit(x, model, '{"resume": true, "method": "em"}') FROM flowers,
    parts WHERE parts.id = 1 GROUP BY model$$, 'the same option');
SELECT throws_ok(q, '22023', 'option "resumable" does not apply here',
  'a function that does not return the model: ' || q)
FROM unnest(ARRAY[
  'SELECT gmm_cluster(x, 2, ''{"resumable": true}'') OVER () FROM flowers',
  'SELECT dpmm_cluster(x, ''{"resumable": true}'') OVER () FROM flowers',
  'SELECT * FROM gmm_fit(''SELECT x FROM flowers'', 2, ''{"resumable": true}'')',
  'SELECT * FROM dpmm_cluster(''SELECT id, x FROM flowers'', ''{"resumable": true}'')',
  'SELECT * FROM lda_topics(''SELECT d FROM documents'', 2, ''{"resumable": true}'')']) AS q;
SELECT throws_ok($$SELECT * FROM gmm_select('SELECT x FROM flowers', '{2,3}',
  '{"resumable": true}')$$, '22023', NULL, 'several fits are not resumable');
SELECT throws_ok($$SELECT linreg_fit(x[1], x[2:3], '{"method": "vi", "resumable": true}')
  FROM flowers$$, '22023', NULL, 'nor one that needs its rows once');
SELECT throws_ok($$SELECT logreg_fit(large, x[1:2], model, '{}') FROM flowers, parts
  WHERE family = 'logreg' GROUP BY model LIMIT 1$$, '22023',
  'a fit of logreg does not start from a model', 'a regression starts from no model');
SELECT throws_ok($$SELECT logreg_fit(large, x[1:2], model, '{"resume": true}') FROM flowers, parts
  WHERE parts.id = 1 GROUP BY model$$, '42804', NULL,
  'and does not resume a fit of another family');
SELECT never($$SELECT family, options, bayes_compact(model)::jsonb <> model::jsonb - 'checkpoint'
    OR octet_length(bayes_compact(model)::text) >= octet_length(model::text) AS wrong
  FROM parts$$, 'a compacted model lacks the state alone');

-- ---- more iterations ----

SELECT never($$SELECT n, m, (SELECT gmm_fit(x, 3, o || jsonb_build_object('max_iter', m))
      FROM flowers)
    <> (SELECT gmm_fit(x, fitted, jsonb_build_object('resume', true, 'max_iter', m)) FROM flowers,
        (SELECT gmm_fit(x, 3, o || jsonb_build_object('max_iter', n)) AS fitted FROM flowers) AS f
      GROUP BY fitted) AS wrong
  FROM (VALUES (1, 2), (3, 17), (12, 200)) AS v(n, m),
    unnest(ARRAY['{"resumable": true, "restarts": 1, "tol": 0}', '{"resumable": true,
      "method": "em", "restarts": 20}', '{"resumable": true, "method": "svi", "tol": 0}'
      ]::jsonb[]) AS o$$, 'a larger max_iter extends a fit');
SELECT is((SELECT nmf_fit(r, c, n, fitted, '{"resume": true, "max_iter": 40}') FROM cells,
    (SELECT nmf_fit(r, c, n, 2, '{"resumable": true, "max_iter": 9, "restarts": 3}') AS fitted
     FROM cells) AS f GROUP BY fitted),
  (SELECT nmf_fit(r, c, n, 2, '{"resumable": true, "max_iter": 40, "restarts": 3}') FROM cells),
  'a factorization too');

-- ---- more draws ----

CREATE TABLE sampled AS SELECT gmm_fit(x, 2,
    '{"method": "gibbs", "resumable": true, "draws": 400, "warmup": 100, "stored_draws": 20}') AS m
  FROM flowers;
SELECT throws_ok($$SELECT gmm_fit(x, m, '{"resume": true}') FROM flowers, sampled GROUP BY m$$,
  '22023', 'the fit of this model has made all its draws', 'a complete fit');
SELECT throws_ok($$SELECT gmm_fit(x, m, '{"resume": true, "draws": 399}') FROM flowers, sampled
  GROUP BY m$$, '22023', 'option "draws" is 399, but the fit that is resumed has 400',
  'fewer draws');
SELECT throws_ok($$SELECT gmm_fit(x, m, '{"resume": true, "draws": "many"}') FROM flowers, sampled
  GROUP BY m$$, '22023', NULL, 'another kind of number');
SELECT throws_ok($$SELECT gmm_fit(x, m, '{"resume": true, "draws": 500, "warmup": 90}')
  FROM flowers, sampled GROUP BY m$$, '22023',
  'option "warmup" cannot be given when a fit is resumed', 'another warmup');
-- Draws of topics over many terms are too many numbers to hold all of them.
CREATE TABLE long AS SELECT array_agg('w' || (i * i + g) % 3000) AS d
  FROM generate_series(1, 100) AS g, generate_series(1, 60) AS i GROUP BY g;
CREATE TABLE topics AS SELECT lda_fit(d, 4, '{"method": "collapsed", "resumable": true,
    "draws": 100, "warmup": 10, "chains": 2, "stored_draws": 6}') AS m FROM long;
SELECT throws_ok($$SELECT lda_fit(d, m, '{"resume": true, "draws": 190}') FROM long, topics
  GROUP BY m$$, '22023', 'the fit cannot be extended from 100 to 190 draws', 'left-out draws');
SELECT ok((SELECT lda_fit(d, m, '{"resume": true, "draws": 280}') FROM long, topics GROUP BY m)
    = (SELECT lda_fit(d, 4, '{"method": "collapsed", "resumable": true, "draws": 280,
        "warmup": 10, "chains": 2, "stored_draws": 6}') FROM long), 'but three times as many');

-- ---- a start model ----

CREATE TABLE started AS SELECT gmm_fit(x, 3) AS start FROM flowers WHERE id % 3 > 0;
SELECT ok((SELECT gmm_fit(x, part, '{"resume": true}') FROM flowers, (SELECT gmm_fit(x, start,
        '{"resumable": true, "max_seconds": 1e-9, "restarts": 3}') AS part FROM flowers, started
      GROUP BY start) AS p GROUP BY part)
    = (SELECT gmm_fit(x, start, '{"resumable": true, "restarts": 3}') FROM flowers, started
      GROUP BY start), 'a fit that started from a model goes on from there');

-- ---- tampering ----

-- The model with a number of its state replaced, or with more or fewer of them.
CREATE FUNCTION tampered(model bayes_model, seed int) RETURNS bayes_model LANGUAGE plpgsql AS $$
DECLARE
  doc jsonb := model;
  path text[] := CASE WHEN doc->'checkpoint' ? 'chains' THEN '{checkpoint,chains,0,state}'
    WHEN seed % 9 = 8 THEN '{checkpoint,runs,0,loops,0,trace}'
    ELSE '{checkpoint,runs,0,loops,0,state}' END;
  length int := jsonb_array_length(doc#>path);
BEGIN
  IF coalesce(length, 0) = 0 THEN RETURN model; END IF;
  IF seed % 11 = 10 THEN
    doc := jsonb_set(doc, path, (doc#>path) || '[1]'::jsonb);
  ELSIF seed % 11 = 9 AND length > 1 THEN
    doc := doc #- (path || (seed * 7919 % length)::text);
  ELSE
    doc := jsonb_set(doc, path || (CASE WHEN seed % 2 = 0 THEN seed / 2 % least(length, 20)
        ELSE seed::bigint * 7919 % length END)::text,
      ('{0,-1,1,0.5,1e308,-1e308,65535,281474976710655,1e15,"\"NaN\"","\"Infinity\"",-1e-300,7}'
        ::text[])[1 + seed * 31 % 13]::jsonb);
  END IF;
  RETURN doc;
END $$;
CREATE FUNCTION outcome(call text, model bayes_model) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM resumed(call, model, '{"max_seconds": 1e-9}');
  RETURN 'resumed';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;

-- Forms that no fit writes are not read at all.
CREATE TABLE strange AS SELECT path, value, model FROM parts, (VALUES
    ('{k}', '-1'), ('{k}', '"three"'), ('{data}', '0.5'), ('{options}', '[]'), ('{runs}', '3'),
    ('{runs}', '[1]'), ('{runs,0}', '{}'), ('{runs,0,loops}', '[{"trace": [], "state": []}]'),
    ('{runs,0,loops}', '[{"trace": ["NaN"], "state": []}]'), ('{runs,0,loops,0,state}', '"x"'),
    ('{runs,0,trace}', '[1]'), ('{chains}', '[[1], [2]]'), ('{chains}', '[{"state": ["x"]}]'),
    ('{more}', '1'), ('{start}', '{}'))
  AS v(path, value) WHERE family = 'logreg' AND NOT options ? 'draws';
-- Models to start from that are of another family, or have a checkpoint of their own.
INSERT INTO strange SELECT '{start}', other.model::jsonb::text, p.model FROM strange AS p,
  parts AS other WHERE p.path = '{more}' AND other.id IN (
    SELECT min(id) FROM parts WHERE family IN ('gmm', 'logreg') GROUP BY family);
SELECT throws_ok(format('SELECT (jsonb_set(%L::jsonb, %L::text[], %L::jsonb))::bayes_model',
    model::jsonb, '{checkpoint,' || ltrim(path, '{'), value), '22P02', NULL,
  path || ' ' || left(value, 40)) FROM strange;

-- If a run without loops is said to have been the best, all runs are made again.
SELECT ok((SELECT gmm_fit(x, forged, '{"resume": true}') FROM flowers) = whole, 'a forged best run')
FROM (SELECT gmm_fit(x, 2, '{"resumable": true, "restarts": 4}') AS whole FROM flowers) AS f,
  generate_series(0, 3) AS n, LATERAL (SELECT jsonb_set(whole::jsonb,
      ARRAY['checkpoint', 'runs', n::text, 'trace'], '[1e9]')::bayes_model AS forged) AS g
WHERE jsonb_array_length(whole::jsonb#>ARRAY['checkpoint', 'runs', n::text, 'loops']) = 0;
-- Chains that are said to be complete, or to have draws that they have not made.
SELECT never($$SELECT id, found, found <> '22023' AS wrong FROM (SELECT p.id,
    outcome(call, jsonb_set(model::jsonb, '{checkpoint,chains,0,state,4}',
      n::text::jsonb)::bayes_model) AS found
  FROM parts AS p, generate_series(38, 40) AS n WHERE options ? 'draws'
    AND (model::jsonb->'checkpoint') ? 'chains') AS t$$, 'chains that are not complete');

CREATE TABLE later AS SELECT id, family, call, options, model FROM parts
UNION ALL SELECT id, family, call, options, resumed(call, resumed(call, model,
    '{"max_seconds": 1e-9}'), '{"max_seconds": 0.002}') FROM parts WHERE id <= 100;
CREATE TABLE outcomes AS
  SELECT l.id, l.family, l.options, n, outcome(call, tampered(model, n)) AS found
  FROM later AS l, bayes_info(model) AS i, generate_series(1, 6) AS n
  WHERE i.stopped = 'max_seconds' OR NOT l.options ? 'draws';
SELECT never($$SELECT id, family, options, n, found,
    found !~ '^(resumed|22...|54...|53200)$' AS wrong
  FROM outcomes$$, 'a state that was tampered with is refused, or fitted');
SELECT ok(count(*) FILTER (WHERE found <> 'resumed') > count(*) / 3, 'and mostly refused')
  FROM outcomes;
SELECT * FROM finish();
