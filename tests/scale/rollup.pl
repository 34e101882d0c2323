# What is computed over partitions by one statement without option push_down: aggregates of each
# partition, which postgres_fdw sends away whole, and their results put together here.
#
# How long, for the runner:
# seconds: 10
use strict;
use warnings;
use Partitions;
use Test::More;

my ($one, $two, $here) = Partitions::servers(
    columns => 'id int, y boolean, n int, x float8, g text, v float8[]',
    bounds => [1200, 2500, 4000]);
my $rows = "SELECT i AS id, i % 5 < 2 + (i > 2000)::int AS y, i * 7 % 4 AS n, 5 + sin(i) * 3 AS x,
    (ARRAY['a', 'b', 'c'])[1 + i % 3] AS g, ARRAY[sin(i) + i % 3, cos(i * 0.7)] AS v
  FROM generate_series(1, 3000) AS i";
$here->query("CREATE TABLE plain AS $rows;
    INSERT INTO obs SELECT * FROM plain;
    CREATE TABLE models AS SELECT gmm_fit(v, 2) AS model FROM plain;
    CREATE FUNCTION near(a float8, b float8) RETURNS boolean
      RETURN abs(a - b) <= 1e-10 * greatest(1, abs(a), abs(b))");

# The aggregate over every partition.
sub parts {
    my ($aggregate, $condition) = @_;
    my @selects = map { "SELECT $aggregate AS part FROM obs_$_ $condition" } qw(d b c);
    return '(' . join(' UNION ALL ', @selects) . ') AS parts';
}

# Is the aggregate in what both other servers are sent?
sub sent {
    my ($query, $name) = @_;
    my $plan = $here->query("EXPLAIN (VERBOSE, COSTS off) $query");
    is(scalar(() = $plan =~ /Remote SQL: SELECT [^\n]*\Q$name\E\(/g), 2, "$name is sent away")
        or diag($plan);
}

for my $fit (['beta_bernoulli_fit(y)', 'beta_bernoulli_fit'], ['gamma_poisson_fit(n)',
        'gamma_poisson_fit'], ['normal_inverse_gamma_fit(x)', 'normal_inverse_gamma_fit'],
    ['dirichlet_categorical_fit(g)', 'dirichlet_categorical_fit'], ['nb_fit(g, v)', 'nb_fit']) {
    my ($aggregate, $name) = @$fit;
    my $merged = 'SELECT bayes_rollup(part) FROM ' . parts($aggregate, 'WHERE id % 10 < 9');
    sent($merged, $name);
    is($here->query("SELECT count(*) || ' ' || bool_and(a.parameter = b.parameter
            AND near(a.value, b.value) AND (a.sd IS NULL OR near(a.sd, b.sd)))
          FROM ROWS FROM (bayes_parameters(($merged))) WITH ORDINALITY AS a
          JOIN ROWS FROM (bayes_parameters((SELECT $aggregate FROM plain WHERE id % 10 < 9)))
            WITH ORDINALITY AS b USING (ordinality)") =~ s/^[1-9]\d* //r, 'true',
        "models of partitions make the model of all: $name");
}

my $stats = 'SELECT bayes_rollup(part) FROM ' . parts('linreg_stats(x, v)', '');
sent($stats, 'linreg_stats');
is($here->query("SELECT bool_and(near(a.mean, b.mean) AND near(a.sd, b.sd))
      FROM bayes_coefficients(linreg_fit(($stats))) AS a
      JOIN bayes_coefficients((SELECT linreg_fit(x, v) FROM plain)) AS b USING (term)"), 't',
    'sums of partitions make the regression of all');

my $scores = 'SELECT sum((part).rows * (part).log_density) / sum((part).rows) FROM '
    . parts('bayes_score((SELECT model FROM models), v)', '');
sent($scores, 'bayes_score');
is($here->query("SELECT near(($scores), (bayes_score((SELECT model FROM models), v)).log_density)
      FROM plain"), 't', 'scores of partitions, by their rows, make the score of all');

done_testing();
