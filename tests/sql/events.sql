-- One event has one probability, whoever is asked: every accessor and question over all families of
-- rows, methods and models at the corners (one component, one column, one row of a group, no
-- variance, all weight in one component, after bayes_condition), for usual rows, rows of NULLs,
-- rows far out and labels that no row of the fit had. tests/core/events_test.cpp has the
-- mathematics.
SELECT no_plan();
\ir ../lib/checks.sql
SET client_min_messages = error;

-- ---- the models: each with its rows, as records ----

CREATE TABLE data AS
SELECT i AS id, round((2 * sin(i * 1.7) + i % 3)::numeric, 3)::float8 AS a,
  round((cos(i * 2.3) * 3 + (i % 3) * 2)::numeric, 3)::float8 AS b,
  (i * 7 % 5) + 2 * (i % 3) AS n, i % 3 = 1 OR i % 7 = 0 AS flag,
  (ARRAY['x', 'y', 'z', 'x'])[1 + i * 3 % 4] AS label
FROM generate_series(1, 60) AS i;
CREATE TYPE wide AS (a float8, b float8, n int, flag boolean, label text);
CREATE TYPE numbers AS (a float8, b float8);
CREATE TYPE one_number AS (a float8);
CREATE TYPE one_label AS (label text);
CREATE TABLE models (name text, form text, family text, model bayes_model);

-- form, the columns of rows, the likelihoods of families of columns
CREATE TABLE forms AS SELECT * FROM (VALUES
  ('wide', '{"n": "poisson"}'::jsonb), ('numbers', '{}'), ('one_number', '{}'), ('one_label', '{}')
) AS v (form, likelihood);
CREATE FUNCTION fitted(family text, form text, k int, options jsonb, source text DEFAULT 'data')
  RETURNS bayes_model LANGUAGE plpgsql AS $$
DECLARE
  columns text := CASE form WHEN 'wide' THEN 'a, b, n, flag, label' WHEN 'numbers' THEN 'a, b'
    WHEN 'one_number' THEN 'a' ELSE 'label' END;
  out bayes_model;
BEGIN
  EXECUTE format(CASE family WHEN 'dpmm' THEN 'SELECT dpmm_fit(r, $2)'
      WHEN 'hmm' THEN 'SELECT hmm_fit(array_agg, $1, $2) FROM (SELECT array_agg(r ORDER BY id)'
      ELSE 'SELECT %s_fit(r, $1, $2)' END
    || ' FROM (SELECT id, ROW(%s)::%s AS r FROM %s) AS d'
    || CASE family WHEN 'hmm' THEN ') AS s' ELSE '' END,
    VARIADIC CASE WHEN family IN ('dpmm', 'hmm') THEN ARRAY[columns, form, source]
      ELSE ARRAY[family, columns, form, source] END)
  INTO out USING k, options;
  RETURN out;
END $$;
CREATE TABLE methods AS SELECT * FROM (VALUES
  ('gmm', 'em', '{"method": "em"}'::jsonb), ('gmm', 'map', '{"method": "map"}'),
  ('gmm', 'vi', '{"method": "vi"}'), ('gmm', 'svi', '{"method": "svi"}'),
  ('gmm', 'kmeans', '{"method": "kmeans"}'),
  ('gmm', 'independent', '{"method": "vi", "prior": {"type": "independent"}}'),
  ('gmm', 'gibbs', '{"method": "gibbs", "chains": 1, "draws": 20, "warmup": 10}'),
  ('gmm', 'diagonal em', '{"method": "em", "covariance": "diagonal"}'),
  ('gmm', 'diagonal map', '{"method": "map", "covariance": "diagonal"}'),
  ('gmm', 'diagonal vi', '{"method": "vi", "covariance": "diagonal"}'),
  ('gmm', 'spherical vi', '{"method": "vi", "covariance": "spherical"}'),
  ('gmm', 'tied em', '{"method": "em", "covariance": "tied"}'),
  ('gmm', 'diagonal gibbs',
    '{"method": "gibbs", "chains": 1, "draws": 20, "warmup": 10, "covariance": "diagonal"}'),
  ('bmm', 'em', '{"method": "em"}'), ('bmm', 'map', '{"method": "map"}'),
  ('bmm', 'vi', '{"method": "vi"}'), ('bmm', 'svi', '{"method": "svi"}'),
  ('bmm', 'gibbs', '{"method": "gibbs", "chains": 1, "draws": 20, "warmup": 10}'),
  ('bmm', 'collapsed', '{"method": "collapsed", "chains": 1, "draws": 20, "warmup": 10}'),
  ('dpmm', 'gibbs', '{"method": "gibbs", "chains": 1, "draws": 20, "warmup": 10}'),
  ('dpmm', 'vi', '{"method": "vi"}'),
  ('hmm', 'em', '{"method": "em"}'), ('hmm', 'vi', '{"method": "vi"}'),
  ('hmm', 'gibbs', '{"method": "gibbs", "chains": 1, "draws": 20, "warmup": 10}')
) AS v (family, method, options);
INSERT INTO models
SELECT concat_ws(' ', family, method, form, k), form, family,
  fitted(family, form, k, options || CASE WHEN family IN ('bmm', 'dpmm') AND form = 'wide'
    THEN jsonb_build_object('likelihood', likelihood)
    WHEN family = 'hmm' AND form = 'wide' THEN jsonb_build_object('emission', likelihood)
    ELSE '{}' END)
FROM methods, forms, unnest(CASE family WHEN 'dpmm' THEN '{1}'::int[] ELSE '{1,2}' END) AS k
WHERE (form IN ('numbers', 'one_number') OR family <> 'gmm')
  AND NOT (family = 'dpmm' AND form = 'numbers' AND method = 'vi' AND k = 2);
-- One row, equal rows, a component that no row needs.
CREATE TABLE single AS SELECT * FROM data WHERE id = 1;
CREATE TABLE equals AS SELECT id, 2.5 AS a, -1 AS b, 3 AS n, true AS flag, 'x' AS label FROM data;
INSERT INTO models
SELECT concat_ws(' ', family, method, form, source), form, family,
  fitted(family, form, 1, options || CASE WHEN family = 'bmm' AND form = 'wide'
    THEN jsonb_build_object('likelihood', likelihood) ELSE '{}' END, source)
FROM methods, forms, unnest('{single,equals}'::text[]) AS source
WHERE family IN ('gmm', 'bmm') AND (form = 'numbers' OR family <> 'gmm') AND method IN ('vi', 'map',
    'diagonal vi', 'gibbs', 'diagonal gibbs')
  AND (method <> 'map' OR family = 'bmm') AND NOT (method = 'gibbs' AND source = 'single');
INSERT INTO models SELECT 'nb', 'wide', 'nb', nb_fit(flag::text, r) FROM (SELECT flag,
  ROW(a, b, n, flag, label)::wide AS r FROM data) AS d;
-- What remains of models of several columns once some are given.
INSERT INTO models SELECT name || ' given b', CASE form WHEN 'wide' THEN 'wide' ELSE 'one_number'
    END, 'conditional', bayes_condition(model, g)
FROM models, (SELECT 1.5::float8 AS b) AS g WHERE form IN ('wide', 'numbers');
INSERT INTO models SELECT name || ' label', 'one_label', 'conditional', bayes_condition(model, g)
FROM models, (SELECT 1.5::float8 AS a, 0 AS n, true AS flag) AS g
WHERE form = 'wide' AND family = 'conditional' AND name !~ '^nb';
SELECT ok(count(*) > 150, 'there are many models') FROM models;

-- ---- the rows ----

-- kind: usual, partial, empty, far, unseen
CREATE TABLE asked (form text, kind text, row text);
INSERT INTO asked SELECT f.form, k.kind, CASE f.form WHEN 'wide' THEN k.wide
    WHEN 'numbers' THEN k.numbers WHEN 'one_number' THEN k.number ELSE k.label END
FROM forms AS f, (VALUES
  ('usual', '(1.2,2.1,3,t,x)', '(1.2,2.1)', '(1.2)', '(x)'),
  ('usual', '(-0.4,1.1,2,f,z)', '(-0.4,1.1)', '(-0.4)', '(z)'),
  ('partial', '(1.2,,3,,y)', '(1.2,)', '(2.2)', '(y)'),
  ('partial', '(,,,f,)', '(,0.3)', '(0.1)', '(x)'),
  ('empty', '(,,,,)', '(,)', '()', '()'),
  ('far', '(80,-90,200,t,x)', '(80,-90)', '(80)', NULL),
  ('unseen', '(1.2,2.1,3,t,w)', NULL, NULL, '(w)'),
  ('unseen', '(,,,,w)', NULL, NULL, '(w)')
) AS k (kind, wide, numbers, number, label);
DELETE FROM asked WHERE row IS NULL;

-- What every accessor and question says of a row. absent: of the record without what is NULL.
-- share: of 300 rows of the model, observed in the same columns, those at most as probable.
CREATE TABLE told (name text, form text, family text, kind text, observed boolean[],
  density float8, p float8[], anomaly float8, similarity float8, surprises jsonb,
  conditionals jsonb, box float8, share float8, absent float8, absent_p float8[],
  absent_score float8, absent_anomaly float8, absent_drift float8, unseen boolean);
CREATE FUNCTION tell(name text, form text, family text, m bayes_model, kind text, "row" text)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  t told;
  steps boolean := name ~ '^hmm';
  given text := format('(SELECT %L::%I AS r) AS g', "row", form);
  present text;
BEGIN
  -- Fits to one row, or equal ones, know one label.
  t.unseen := kind = 'unseen' OR (name ~ 'single|equals' AND form IN ('wide', 'one_label'));
  t.name := name; t.form := form; t.family := family; t.kind := kind;
  EXECUTE format('SELECT array_agg(to_jsonb(r) ->> c.name IS NOT NULL ORDER BY element),
      string_agg(format(''(r).%%I'', c.name), '', '')
        FILTER (WHERE to_jsonb(r) ->> c.name IS NOT NULL)
    FROM (SELECT DISTINCT element, c.name FROM bayes_columns($1) AS c) AS c, %s', given)
    INTO t.observed, present USING m;
  EXECUTE format('SELECT bayes_log_density($1, r), bayes_anomaly($1, r),
      bayes_similarity($1, r, r), (SELECT jsonb_agg(to_jsonb(s)) FROM bayes_surprise($1, r) AS s),
      (SELECT jsonb_agg(to_jsonb(c)) FROM bayes_conditional($1, r, 0.9) AS c),
      bayes_probability($1, r, r) FROM %s', given)
    INTO t.density, t.anomaly, t.similarity, t.surprises, t.conditionals, t.box USING m;
  SELECT avg((bayes_log_density(m, d.x) <= t.density + 1e-6)::int) INTO t.share
  FROM (SELECT ARRAY(SELECT CASE WHEN has THEN e END FROM unnest(s.x, t.observed)
      WITH ORDINALITY AS u(e, has, o) WHERE o <= cardinality(t.observed) ORDER BY o) AS x
    FROM bayes_sample(m, 300, 1) AS s) AS d;
  IF NOT steps THEN
    EXECUTE format('SELECT bayes_probabilities($1, r) FROM %s', given) INTO t.p USING m;
  END IF;
  IF present IS NOT NULL THEN
    given := format('(SELECT %s FROM %s) AS q', present, given);
    EXECUTE format('SELECT bayes_log_density($1, q), bayes_anomaly($1, q) FROM %s', given)
      INTO t.absent, t.absent_anomaly USING m;
    IF NOT steps AND family NOT IN ('nb', 'conditional') THEN
      EXECUTE format('SELECT bayes_probabilities($1, q) FROM %s', given) INTO t.absent_p USING m;
      EXECUTE format('SELECT (bayes_score($1, q)).log_density, (SELECT max(nulls)
        FROM unnest(bayes_drift($1, q)) AS d) FROM %s GROUP BY $1', given)
        INTO t.absent_score, t.absent_drift USING m;
    END IF;
  END IF;
  INSERT INTO told VALUES (t.*);
END $$;
SELECT count(tell(m.name, m.form, m.family, model, kind, a.row)) AS asked
FROM models AS m JOIN asked AS a USING (form) \gset

-- ---- what must hold, whatever the model ----

SELECT never('SELECT name, kind, density, NOT coalesce(density > ''-Infinity'' AND density <
    ''Infinity'', false) AS wrong FROM told', 'log densities are finite');
SELECT never('SELECT name, kind, p, (SELECT bool_or(NOT e BETWEEN 0 AND 1)
    OR abs(sum(e) - 1) > 1e-9 FROM unnest(p) AS e) AS wrong
  FROM told WHERE p IS NOT NULL', 'probabilities sum to 1');
SELECT never('SELECT name, kind, anomaly, similarity, box, NOT (anomaly BETWEEN 0 AND 1
    AND similarity BETWEEN 0 AND 1 AND box BETWEEN 0 AND 1) AS wrong FROM told',
  'all probabilities are in [0, 1]');
SELECT never('SELECT name, kind, observed, anomaly, density, anomaly <> 1
    OR abs(density) > 1e-12 AS wrong
  FROM told WHERE NOT true = ANY (observed) AND name !~ ''given''', 'a row of NULLs is no event');
-- 4.5 standard errors of the shares of 300 draws and of the 1,000 of bayes_anomaly; labels that no
-- row had add their probability.
CREATE FUNCTION allowed(a float8, b float8) RETURNS float8
  RETURN 4.5 * sqrt(((a + b) / 2 * (1 - (a + b) / 2) + 1e-3) * (1 / 300.0 + 1 / 1000.0)) + 0.004;
SELECT never('SELECT name, kind, anomaly, share, NOT abs(anomaly - share) < allowed(anomaly, share)
    AS wrong FROM told WHERE NOT unseen',
  'bayes_anomaly is the share of draws that are as improbable');
SELECT never('SELECT name, kind, anomaly, share, NOT anomaly > share - allowed(anomaly, share)
    AS wrong FROM told WHERE unseen', 'or more');
SELECT never('SELECT a.name, a.kind, b.kind, a.density, b.density, a.anomaly, b.anomaly,
    a.density < b.density AND a.anomaly > b.anomaly * (1 + 1e-9) AS wrong
  FROM told AS a JOIN told AS b USING (name, observed) WHERE a.kind <> ''unseen''
    AND b.kind <> ''unseen''', 'it falls with the density');
SELECT never('SELECT name, kind, density, anomaly, NOT anomaly < 1e-6 AS wrong FROM told
  WHERE kind = ''far'' AND name ~ '' em '' AND name !~ ''given''',
  'far out less than one in a million is left');
SELECT never('SELECT name, kind, s, NOT ((s ->> ''tail'')::float8 BETWEEN 0 AND 1)
    OR (s ->> ''surprise'') IS NULL
    OR coalesce((s ->> ''lower'')::float8 >= (s ->> ''upper'')::float8, false) AS wrong
  FROM told, jsonb_array_elements(surprises) AS s', 'surprise has a tail, and intervals a width');
SELECT never('SELECT name, kind, c, coalesce(NOT (c ->> ''probability'')::float8 BETWEEN 0 AND 1,
      NOT (c ->> ''value'')::float8 BETWEEN (c ->> ''lower'')::float8 AND (c ->> ''upper'')::float8)
    OR coalesce((c ->> ''sd'')::float8 > 0 AND name !~ ''equals|single|bmm''
      AND (c ->> ''lower'')::float8 >= (c ->> ''upper'')::float8, false) AS wrong
  FROM told, jsonb_array_elements(conditionals) AS c',
  'intervals contain the point, and have a width');
SELECT never('SELECT name, kind, density, box, anomaly, surprises,
    NOT (near(box, exp(density), 1e-9)
      AND near((surprises -> 0 ->> ''tail'')::float8, anomaly, 1e-9)
      AND near(exp(-(surprises -> 0 ->> ''surprise'')::float8), exp(density), 1e-9)) AS wrong
  FROM told WHERE form = ''one_label'' AND observed = ''{t}''',
  'density, probability, surprise and anomaly of a label agree');
SELECT never('SELECT name, kind, density, absent, NOT (near(absent, density)
    AND near(absent_anomaly, anomaly) AND coalesce(absent_p = p, p IS NULL OR absent_p IS NULL)
    AND (absent_score IS NULL OR near(absent_score, density))
    AND coalesce(absent_drift BETWEEN 0 AND 1, absent_p IS NULL)) AS wrong
  FROM told WHERE absent IS NOT NULL', 'columns that a record lacks are NULL, whoever is asked');

-- ---- parameters ----

SELECT never('SELECT name, p.*, NOT coalesce(value > ''-Infinity'' AND value < ''Infinity'', false)
    OR coalesce(NOT value BETWEEN lower - 1e-12 AND upper + 1e-12, false)
    OR coalesce(sd > 0 AND lower >= upper, false) AS wrong
  FROM models, bayes_parameters(model) AS p WHERE family NOT IN (''dpmm'', ''conditional'')',
  'intervals contain the parameter, and have a width where it has a variance');

-- Of the families that are no distributions over rows, too.
INSERT INTO models SELECT 'linreg ' || m, 'none', 'linreg', linreg_fit(n, ROW(a, b)::numbers,
    jsonb_build_object('method', m)) FROM data, unnest('{exact,em,vi,laplace,gibbs}'::text[]) AS m
  GROUP BY m
UNION ALL SELECT 'logreg', 'none', 'logreg', logreg_fit(flag, ROW(a, b)::numbers) FROM data
UNION ALL SELECT 'probit ' || m, 'none', 'probit', probit_fit(flag, ROW(a, b)::numbers,
    jsonb_build_object('method', m)) FROM data, unnest('{em,vi,gibbs}'::text[]) AS m GROUP BY m
UNION ALL SELECT concat_ws(' ', 'lda', m, k), 'none', 'lda', lda_fit(ARRAY[label, n::text, 'x'], k,
    jsonb_build_object('method', m)) FROM data, unnest('{1,2}'::int[]) AS k,
    unnest('{vi,em,collapsed}'::text[]) AS m GROUP BY m, k
UNION ALL SELECT concat_ws(' ', 'nmf', m, k), 'none', 'nmf', nmf_fit(id, label, n, k,
    jsonb_build_object('method', m)) FROM data, unnest('{1,2}'::int[]) AS k,
    unnest('{vi,em}'::text[]) AS m GROUP BY m, k;
SELECT never('SELECT name, p.*, NOT coalesce(value > ''-Infinity'' AND value < ''Infinity'', false)
    OR coalesce(NOT value BETWEEN lower - 1e-12 AND upper + 1e-12, false)
    OR coalesce(sd > 0 AND lower >= upper, false) AS wrong
  FROM models, bayes_parameters(model) AS p WHERE form = ''none''',
  'so it is for regressions, topics and factors');

-- ---- weights of 0, and NULLs in arrays ----

SELECT ok(near(bayes_log_density(a, x), bayes_log_density(b, x)) AND near(bayes_anomaly(a, x),
    bayes_anomaly(b, x)), 'rows of weight 0 are none')
FROM (SELECT gmm_fit(ARRAY[d.a, d.b], 1, '{"method": "em"}', (id <= 40)::int) AS a FROM data AS d)
  AS one, (SELECT gmm_fit(ARRAY[d.a, d.b], 1, '{"method": "em"}') AS b FROM data AS d
    WHERE id <= 40) AS other, (SELECT '{1,2}'::float8[] AS x) AS r;
SELECT never('SELECT name, NOT (near(bayes_log_density(model, x), bayes_log_density(model, r))
    AND bayes_anomaly(model, x) = bayes_anomaly(model, r)) AS wrong
  FROM models, (SELECT ''{1.2,NULL}''::float8[] AS x, ROW(1.2, NULL)::numbers AS r) AS q
  WHERE form = ''numbers'' AND name ~ ''^(gmm|bmm|dpmm)''', 'NULL in an array is NULL in a record');
SELECT * FROM finish();
