-- Options resumable and resume: a fit in slices of time is the fit in one go, to the last bit.
SELECT plan(8);
\ir ../lib/checks.sql
SET client_min_messages = error;

\ir ../lib/resume.sql

-- The fit in slices that end after about so many seconds, after at least one iteration each: at
-- most so many slices, and a last one without limit. Models are read back from their text on the
-- way.
CREATE FUNCTION sliced(call text, k text, options jsonb, seconds float8[], INOUT slices int,
  OUT model bayes_model, OUT unfinished int, OUT idle int) LANGUAGE plpgsql AS $$
DECLARE before jsonb;
BEGIN
  model := fitted(call, k, options || jsonb_build_object('max_seconds', seconds[1]));
  unfinished := 0;
  idle := 0;
  FOR i IN 2..slices LOOP
    EXIT WHEN (bayes_info(model)).stopped <> 'max_seconds';
    unfinished := unfinished + 1;
    before := model::jsonb->'checkpoint';
    model := resumed(call, model::text::bayes_model,
      jsonb_build_object('max_seconds', seconds[1 + i % array_length(seconds, 1)]));
    idle := idle + (model::jsonb ? 'stopped' AND model::jsonb->'checkpoint' = before)::int;
  END LOOP;
  slices := unfinished + 1;
  IF (bayes_info(model)).stopped = 'max_seconds' THEN
    model := resumed(call, model, '{}');
  END IF;
END $$;

CREATE TABLE fits AS SELECT v.*, fitted(call, k, options) AS whole,
    fitted(call, k, options - 'resumable') AS plain FROM variants AS v;
CREATE TABLE slices AS
  SELECT f.id, way, s.* FROM fits AS f, (VALUES ('single', '{1e-9}'::float8[], 7),
      ('some', '{1e-9,0.002,1e-9,0.0005,0.004}', 7)) AS v(way, seconds, n),
    sliced(call, k, options, seconds, n) AS s;
SELECT is((SELECT count(*) FROM slices WHERE unfinished > 0), 2 * count(*), 'every fit was stopped')
  FROM fits;
SELECT never($$SELECT family, method, options, way, slices, idle, idle > 0 AS wrong
  FROM fits JOIN slices USING (id)$$, 'every slice goes further than the one before');
SELECT ok(sum(slices) > 1000, 'more than a thousand times in all') FROM slices;
-- A last slice that was limited says so in its options.
SELECT never($$SELECT family, method, options, way, slices,
    (model <> whole) AND model::jsonb #- '{seconds}' #- '{options,max_seconds}'
      <> whole::jsonb #- '{seconds}' AS wrong
  FROM fits JOIN slices USING (id)$$, 'a fit in slices is the fit in one go');
SELECT diag(sum(slices) || ' slices of ' || count(*) || ' fits') FROM slices;
SELECT never($$SELECT family, method, options,
    plain::jsonb #- '{seconds}' <> whole::jsonb #- '{seconds}' #- '{checkpoint}'
      #- '{options,resumable}' AS wrong
  FROM fits$$, 'and that is what a fit without the option finds');

-- ---- more draws ----

CREATE TABLE longer AS SELECT id, family, call, options, n,
    fitted(call, k, options || jsonb_build_object('draws', n)) AS wanted,
    resumed(call, whole, jsonb_build_object('draws', n)) AS extended
  FROM fits, unnest('{61,100}'::int[]) AS n WHERE options ? 'draws'
    AND (options->>'draws')::int = 40;
SELECT never('SELECT id, family, options, n, extended <> wanted AS wrong FROM longer',
  'a sampler that is extended makes the draws that it would have made at once');
-- In slices, of which the first ones stop in some chain, and in two steps.
SELECT never($$SELECT id, family, options, last <> w.wanted AS wrong FROM (SELECT l.*, resumed(call,
      resumed(call, resumed(call, resumed(call, extended, '{"draws": 100, "max_seconds": 1e-9}'),
        '{"max_seconds": 1e-9}'), '{"max_seconds": 1e-9}'), '{}') AS last
    FROM longer AS l WHERE n = 61) AS s JOIN (SELECT id, wanted FROM longer WHERE n = 100) AS w
  USING (id)$$, 'also in slices, and more than once');
-- The default warmup is half of the draws; that of the extended fit is that of the first.
SELECT ok(gmm_fit(x, model, '{"resume": true, "draws": 2500}') = gmm_fit(x, 2,
    '{"method": "gibbs", "resumable": true, "draws": 2500, "warmup": 500, "chains": 2}'),
  'with the warmup that it had, of which more draws than a model stores')
FROM flowers, (SELECT gmm_fit(x, 2, '{"method": "gibbs", "resumable": true, "chains": 2}') AS model
  FROM flowers) AS f GROUP BY model;
SELECT * FROM finish();
