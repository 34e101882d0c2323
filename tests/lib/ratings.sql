-- What ratings of tests are made of: vectors of users (side 1) and films (side 2), from hashes.

-- Numbers between 0 and 1 that follow from others, and normal ones from them.
CREATE FUNCTION uniform(VARIADIC of int[]) RETURNS float8 LANGUAGE sql IMMUTABLE
  RETURN (('x' || substr(md5(array_to_string(of, ' ')), 1, 8))::bit(32)::bigint + 0.5) / 2.0 ^ 32;
CREATE FUNCTION normal(a int, b int, c int) RETURNS float8 LANGUAGE sql IMMUTABLE
  RETURN sqrt(-2 * ln(uniform(a, b, c, 1))) * cos(2 * pi() * uniform(a, b, c, 2));
CREATE TABLE vectors AS SELECT side, id, 0.5 * normal(side, id, 9) AS own,
  0.7 * normal(side, id, 7) AS one, 0.7 * normal(side, id, 8) AS two
FROM generate_series(1, 2) AS side, generate_series(1, 120) AS id;
