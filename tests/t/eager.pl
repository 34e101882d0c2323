# Eager aggregation, from version 19 on: partial states are made below a join, and one is used as
# often as its group is joined. Aggregates whose sums do not depend on the order of rows have the
# same bits as over the joined rows, if the states fit into memory; the others are not planned so.
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
plan skip_all => 'PostgreSQL aggregates below joins from version 19 on'
    if $server->query('SHOW server_version_num') < 190000;

$server->query(<<'SQL');
CREATE TABLE rows AS SELECT i AS id, i % 3 AS g,
  ARRAY[sin(i) + 5 * (i % 3), cos(i * 0.7) - 3 * (i % 3), sin(i * 1.3)] AS x,
  ARRAY[sin(i) > 0, cos(i * 0.7) > i % 3 - 1, i % 3 = 1]::int[] AS b
FROM generate_series(1, 6000) AS i;
CREATE TABLE kinds AS SELECT * FROM (VALUES (0, 'a'), (0, 'b'), (1, 'a'), (1, 'a'), (2, 'b'))
  AS k(g, kind);
CREATE TABLE parts AS SELECT i AS id, i % 3 AS g,
  nb_fit(j % 2, ARRAY[sin(17 * i + j), cos(j * 0.7 * i)]) AS model,
  linreg_stats(sin(7 * i * j), ARRAY[sin(i + j), cos(j * 0.3)]) AS stats
FROM generate_series(1, 300) AS i, generate_series(1, 20) AS j GROUP BY i;
CREATE TABLE large AS SELECT rows.* FROM rows, generate_series(1, 10);
CREATE TABLE model AS SELECT gmm_fit(x, 2) AS m, gmm_fit(x, 1) AS n FROM rows;
CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN (model::jsonb - 'seconds')::text;
ANALYZE;
SQL
my $session = $server->session;
$session->run("SET max_parallel_workers_per_gather = 0; SET min_eager_agg_group_size = 0;
    SET parallel_tuple_cost = 0; SET client_min_messages = error");

# Tests that a result is the same either way, and returns the plan with eager aggregation.
sub below_join {
    my ($result, $table) = @_;
    my $query = "SELECT kind, $result FROM $table JOIN kinds USING (g) GROUP BY kind ORDER BY kind";
    $session->run('SET enable_eager_aggregate = off');
    my $want = $session->run($query, 120);
    like($want, qr/^a\|..*^b\|./ms, "$result: results") or diag($want);
    $session->run('SET enable_eager_aggregate = on');
    is($session->run($query, 120), $want, 'the same bits');
    return $session->run("EXPLAIN (COSTS OFF) $query");
}

like(below_join($_, 'rows'), qr/Finalize.*Join.*Partial/s, 'below the join') for (
    'timeless(gmm_fit(x, 2))',
    q{timeless(bmm_fit(b, 2, '{"method": "em"}'))},
    'timeless(logreg_fit(sin(7 * id) > 0, x))',
    q{timeless(glm_fit(id % 4, x, '{"response": "poisson"}'))},
    'timeless(beta_bernoulli_fit(id % 5 = 1))',
    'timeless(dirichlet_categorical_fit(id % 4))',
    'timeless(normal_inverse_gamma_fit(sin(id)))',
    'bayes_drift((SELECT m FROM model), x)',
    'bayes_score((SELECT m FROM model), x)',
    'bayes_score_difference((SELECT m FROM model), (SELECT n FROM model), x)');
unlike(below_join(@$_), qr/Partial/, 'not below the join') for (
    ['timeless(linreg_fit(sin(7 * id), x))', 'rows'],
    ['linreg_stats(sin(7 * id), x)', 'rows'],
    ['timeless(nb_fit(id % 2, x))', 'rows'],
    ['timeless(bayes_rollup(model))', 'parts'],
    ['bayes_rollup(stats)', 'parts']);

my $large = 'SELECT kind, gmm_fit(x, 2) FROM large JOIN kinds USING (g) GROUP BY kind';
$session->run("SET maintenance_work_mem = '64MB'");
like($session->run("EXPLAIN $large"), qr/Partial/, 'rows that fit into memory');
$session->run("SET maintenance_work_mem = '1MB'");
unlike($session->run("EXPLAIN $large"), qr/Partial/, 'rows that would not');

done_testing;
