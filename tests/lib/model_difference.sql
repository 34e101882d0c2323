-- How far two models are from each other, for tests of fits over several servers. What does not
-- count: the duration, and the sample for bayes_drift.

CREATE FUNCTION leaves(j jsonb) RETURNS TABLE (path text, leaf jsonb) LANGUAGE sql AS $$
  WITH RECURSIVE t(path, value) AS (
    SELECT '', j - 'seconds' - 'row_reference'
    UNION ALL
    SELECT path || '/' || m.key, m.value FROM t, LATERAL (
      SELECT key, value FROM jsonb_each(CASE jsonb_typeof(t.value) WHEN 'object' THEN t.value END)
      UNION ALL
      SELECT n::text, value FROM jsonb_array_elements(
        CASE jsonb_typeof(t.value) WHEN 'array' THEN t.value END) WITH ORDINALITY AS a(value, n)
    ) AS m)
  SELECT path, value FROM t WHERE jsonb_typeof(value) NOT IN ('object', 'array') $$;

-- The largest difference of their numbers, relative to 1 or to the numbers, where it is, and both
-- numbers; 1e9 if they have other members.
CREATE FUNCTION largest_difference(a bayes_model, b bayes_model) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce((SELECT d || ' ' || path || ' ' || coalesce(one, 'none') || ' '
      || coalesce(other, 'none')
    FROM (SELECT path, l.leaf #>> '{}' AS one, r.leaf #>> '{}' AS other, CASE
        WHEN l.leaf = r.leaf THEN 0
        WHEN jsonb_typeof(l.leaf) = 'number' AND jsonb_typeof(r.leaf) = 'number'
        THEN abs(l.leaf::float8 - r.leaf::float8)
          / greatest(1, abs(l.leaf::float8), abs(r.leaf::float8))
        ELSE 1e9 END AS d
      FROM leaves(a::jsonb) AS l FULL JOIN leaves(b::jsonb) AS r USING (path)) AS s
    ORDER BY d DESC LIMIT 1), '1e9 no model') $$;

-- That number alone.
CREATE FUNCTION difference(a bayes_model, b bayes_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT split_part(largest_difference(a, b), ' ', 1)::float8 $$;
