-- Steps for the models in `fits` of hmm.sql. Read by psql's \ir.
-- Every kind of emission, with steps that are missing, in part or whole.
CREATE TABLE observed (data text, t int, name text, number float8, vector float8[]);
INSERT INTO observed SELECT 'letters', t, CASE WHEN t % 7 = 3 THEN NULL WHEN t % 11 = 0 THEN 'ø'
    ELSE letter END FROM letters, unnest(x[1:150]) WITH ORDINALITY AS u(letter, t)
  WHERE page = 'tutorial-agg';
INSERT INTO observed SELECT data, t, CASE WHEN data = 'words' AND t % 7 <> 3 THEN n::text END,
    CASE WHEN data = 'counts' AND t % 7 <> 3 THEN n END
  FROM unnest('{words,counts}'::text[]) AS data, words, unnest(x[1:150]) WITH ORDINALITY AS u(n, t)
  WHERE page = 'tutorial-agg';
INSERT INTO observed SELECT data, t, NULL, CASE WHEN t % 7 <> 3 THEN
    CASE data WHEN 'long' THEN (duration > 3)::int ELSE waiting END END
  FROM unnest('{waiting,exponential,long}'::text[]) AS data, geyser WHERE t <= 100;
INSERT INTO observed SELECT data, t, NULL, NULL, ARRAY[CASE WHEN t % 5 <> 2 THEN waiting END,
    CASE WHEN t % 7 <> 2 THEN CASE data WHEN 'mixed' THEN (duration > 3)::int ELSE duration END END]
  FROM unnest('{duo full,duo diagonal,duo spherical,duo tied,mixed}'::text[]) AS data, geyser
  WHERE t <= 100;
