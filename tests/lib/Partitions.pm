# A table over several servers, for tests of fits over it.
#
#   my ($one, $two, $here) = Partitions::servers(columns => 'id int, x float8',
#       bounds => [7000, 10000, 13000], settings => {log_statement => 'all'});
#
# Servers one and two have a table obs each, and an empty table nothing, with these columns. The
# server of the fit, which has the extension postgres_fdw and both as servers, has table obs of five
# partitions by id: obs_d, from 0, is on server one, obs_b on server two, obs_c here; obs_a on
# server two and obs_e here are empty. The names are in another order than the rows. Bounds are the
# ends of the first three; settings those of servers one and two.
package Partitions;
use strict;
use warnings;
use Server;

sub servers {
    my (%how) = @_;
    my ($first, $second, $third) = @{$how{bounds}};
    my ($one, $two, $here) = map { Server->new(settings => $_) } ($how{settings} // {}) x 2, {};
    $_->query("CREATE TABLE obs ($how{columns}); CREATE TABLE nothing ($how{columns})")
        for $one, $two;
    $here->query('CREATE EXTENSION postgres_fdw');
    for (['one', $one], ['two', $two]) {
        my ($name, $host) = ($_->[0], $_->[1]->host);
        $here->query("CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host',
              port '5432', dbname 'postgres', extensions 'pg_bayes', async_capable 'true',
              batch_size '500');
            CREATE USER MAPPING FOR postgres SERVER $name");
    }
    my ($empty, $end) = (10 * $third, 20 * $third);
    $here->query("CREATE TABLE obs ($how{columns}) PARTITION BY RANGE (id);
        CREATE FOREIGN TABLE obs_d PARTITION OF obs FOR VALUES FROM (0) TO ($first)
          SERVER one OPTIONS (table_name 'obs');
        CREATE FOREIGN TABLE obs_b PARTITION OF obs FOR VALUES FROM ($first) TO ($second)
          SERVER two OPTIONS (table_name 'obs');
        CREATE TABLE obs_c PARTITION OF obs FOR VALUES FROM ($second) TO ($third);
        CREATE FOREIGN TABLE obs_a PARTITION OF obs FOR VALUES FROM ($empty) TO ($end)
          SERVER two OPTIONS (table_name 'nothing');
        CREATE TABLE obs_e PARTITION OF obs FOR VALUES FROM ($end) TO (@{[$end + $third]})");
    # What models are compared with.
    $here->include('tests/lib/model_difference.sql');
    return ($one, $two, $here);
}

# Columns of 12,500 rows of three components, of numbers, texts, booleans, counts and arrays, with
# NULLs, and labels that only some partitions have; and the statement that makes a table plain of
# them.
our $columns = 'id int, x float8, y float8, z float8, g text, u boolean, n int, w float8,
    v float8[]';
our $rows = <<'SQL';
CREATE TABLE plain AS SELECT i AS id, c * 3 + sin(i * 1.7) + cos(i * 0.37) AS x,
  CASE WHEN i % 13 > 0 THEN c * -2 + sin(i * 2.3) * 0.8 + cos(i * .11) END AS y,
  1e4 + sqrt(i % 17) + sin(i * 0.7) AS z,
  CASE WHEN i % 7 > 0 THEN (CASE WHEN i < 7000 THEN '{low,blue,NULL}' ELSE '{low,green,red}'
    END::text[])[1 + (c + i / 50) % 3] END AS g,
  (i * 7 % 11 < 3 + 2 * c) AS u, i * 31 % 97 % (3 + c) AS n, 0.5 + i % 3 AS w,
  ARRAY[c + sin(i), c - cos(i * 0.9)] AS v
FROM (SELECT i, i % 3 AS c FROM generate_series(1, 12500) AS i) AS s;
SQL
our @bounds = (7000, 10000, 13000);

1;
