# Sampling with little memory: rows that lie in a file give the same draws to the last bit however
# much of them does, samplers that need rows in memory say so, what a fit takes is what it promises,
# and many fits in one session leave nothing behind.
#
# How long, for the runner:
# seconds: 30
use strict;
use warnings;
use Effort;
use Memory;
use Server;
use Spill;
use Test::More;

my $server = Server->shared;
$server->query(<<'SQL');
CREATE TABLE rows AS SELECT i AS id,
  ARRAY(SELECT sin(i * j * 0.7) + j * (i % 5) FROM generate_series(1, 8) AS j) AS x,
  ARRAY(SELECT (i % 5 + i * j % 3)::int FROM generate_series(1, 8) AS j) AS counts,
  ARRAY(SELECT (i * j % 3 > i % 5 % 2)::int FROM generate_series(1, 8) AS j) AS bits
  FROM generate_series(1, 30000) AS i;
CREATE TABLE small AS SELECT id, x[1:2] AS x, bits[1:4] AS bits, counts[1:3] AS counts FROM rows
WHERE id <= 200;
CREATE TABLE large AS SELECT i AS id,
  ARRAY[sin(i * 1.7) + 3 * (i % 3), 1.5 * cos(i * 0.37) - 2 * (i % 3)] AS x
FROM generate_series(1, 200000) AS i;
CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql RETURN (model::jsonb
  - 'seconds')::text;
VACUUM ANALYZE;
SQL
my $session = $server->session;

# ---- rows in a file: the same, and without draws near the same as in memory ----

# Two draws count in the end: as many labels as are always kept. Of more draws little memory would
# keep fewer, and make another estimate of them.
my $few = '"chains": 2, "draws": 6, "warmup": 5';
my $quick = '"max_iter": 4, "restarts": 1, "tol": 0';
my %statements = (
    'dpmm slice' => "SELECT timeless(dpmm_fit(x, '{\"method\": \"slice\", $few}' ORDER BY id))
          FROM rows",
    'dpmm slice, diagonal'
        => "SELECT timeless(dpmm_fit(x,
          '{\"method\": \"slice\", \"covariance\": \"diagonal\", \"estimate\": \"binder\", $few}'
          ORDER BY id)) FROM rows",
    'dpmm slice of counts'
        => "SELECT timeless(dpmm_fit(counts,
          '{\"method\": \"slice\", \"likelihood\": \"poisson\", \"estimate\": \"map\", $few}'
          ORDER BY id)) FROM rows",
    'dpmm slice of mixed rows'
        => "SELECT timeless(dpmm_fit(bits[1:2]::float8[] || counts[1] || x[1:5],
          '{\"method\": \"slice\", \"likelihood\": [\"bernoulli\", \"bernoulli\", \"categorical\",
          \"normal\", \"normal\", \"normal\", \"normal\", \"normal\"],
          $few}' ORDER BY id)) FROM rows",
    'dpmm vi' => "SELECT timeless(dpmm_fit(x, '{\"method\": \"vi\", $quick}' ORDER BY id))
          FROM rows",
    'dpmm vi of bits' => "SELECT timeless(dpmm_fit(bits,
          '{\"method\": \"vi\", \"likelihood\": \"bernoulli\", $quick}' ORDER BY id)) FROM rows",
    'dpmm relation' => "SELECT md5(string_agg(c::text, ' '))
          FROM dpmm_cluster('SELECT id, x FROM rows ORDER BY id',
          '{\"method\": \"slice\", $few}') AS c",
    'dpmm relation, vi' => "SELECT md5(string_agg(c::text, ' '))
          FROM dpmm_cluster('SELECT id, x FROM rows ORDER BY id',
          '{\"method\": \"vi\", $quick}') AS c",
    'dpmm window' => "SELECT md5(string_agg(c::text, ' ' ORDER BY id))
          FROM (SELECT id, dpmm_cluster(x, '{\"method\": \"slice\", $few}')
          OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c
          FROM rows) AS r",
    (map { ("bmm $_" => "SELECT timeless(bmm_fit(bits, 3,
          '{\"method\": \"$_\", $quick}' ORDER BY id)) FROM rows") } qw(vi em map svi)),
    'bmm gibbs' => "SELECT timeless(bmm_fit(bits, 3, '{\"method\": \"gibbs\", $few}' ORDER BY id))
          FROM rows",
    'bmm mcem of counts' => "SELECT timeless(bmm_fit(counts, 3,
          '{\"method\": \"mcem\", \"likelihood\": \"poisson\", $quick}' ORDER BY id)) FROM rows",
    'gmm gibbs' => "SELECT timeless(gmm_fit(x, 3, '{\"method\": \"gibbs\", $few}' ORDER BY id))
          FROM rows",
);
$session->run(settings(1, '256MB'));
my %want = results_of($session, %statements);
my %spilled;
for my $case ([1, '1MB'], [2, '1MB'], [2, '1500kB']) {
    $session->run(settings(@$case));
    my (@different, @elsewhere);
    for my $name (sort keys %statements) {
        my $got = $session->run($statements{$name}, 120);
        my $first = $spilled{$name} //= $got;
        push @elsewhere, $name if $got ne $first;
        # There the rows have another order, and so other random numbers.
        next if $name !~ /vi|em|map/ || $name =~ /svi|mcem|mixed|relation/;
        my ($one, $other) = map { /"objective": (-?\d[^,]*)/ } $got, $want{$name};
        push @different, "$name: $one instead of $other"
            unless abs($one - $other) <= 1e-9 * abs($one);
    }
    my $what = "maintenance_work_mem = $case->[1], threads: $case->[0]";
    is_deeply(\@different, [], "$what: near what it is in memory");
    is_deeply(\@elsewhere, [],
        "$what: the same to the last bit as with any other number of threads and size of the file");
}
no_file_is_left($server, 'no temporary files are left');

# A NOTICE says that an estimate is based on few draws.
$session->run(settings(1, '1MB') . '; SET client_min_messages = notice');
like($session->run(q{SELECT dpmm_fit(x,
      '{"method": "slice", "chains": 1, "draws": 60, "warmup": 0}') IS NULL FROM rows}, 120),
    qr/NOTICE:.*the estimate of the partition is based on 2 of 60 draws/,
    'a NOTICE says that memory keeps few draws');
unlike($session->run(
    q{SELECT dpmm_fit(x, '{"method": "slice", "chains": 1, "draws": 20}') IS NULL FROM small}, 120),
    qr/NOTICE/, 'and nothing is said where all are kept');

# ---- samplers that need the rows in memory ----

$session->run(settings(1, '1MB'));
for my $statement (
    "SELECT dpmm_fit(x) FROM rows", "SELECT dpmm_fit(x, '{\"method\": \"gibbs\"}') FROM rows",
        "SELECT count(*) FROM dpmm_cluster('SELECT id, x FROM rows')",
        "SELECT count(c) FROM (SELECT dpmm_cluster(x) OVER () AS c FROM rows) AS r",
    "SELECT bmm_fit(bits, 2, '{\"method\": \"collapsed\"}') FROM rows",
        "SELECT gmm_fit(x, 2, '{\"method\": \"collapsed\"}') FROM rows")
{
    my $said = $session->run($statement, 60);
    like($said, qr/^ERROR:  54000: .*^DETAIL:  .*^HINT:  .*maintenance_work_mem/ms,
        "$statement: refused, and why and what to do is said") or diag($said);
    no_file_is_left($server, 'the file is gone');
}
my $said = $session->run("SELECT count(*) FROM dpmm_similarity('SELECT id, x FROM rows')", 60);
like($said, qr/^ERROR:  54000: /m, 'similarities of too many rows');
no_file_is_left($server, 'the file is gone');

# ---- no room on disk ----

limit_of_files_is_kept($server, $session, \%statements, 'dpmm slice', 'dpmm vi', 'dpmm relation',
    'dpmm window', 'bmm gibbs', 'gmm gibbs');
is($session->run("SELECT count(*) FROM dpmm_cluster('SELECT id, x FROM small', '{\"draws\": 20}')"),
    '200', 'the session goes on');

# ---- memory of one fit ----

sub rise {
    my ($memory, $statement) = @_;
    return peak_rise_with($server, $memory, "SELECT sum(x[1]) FROM large;
          SELECT dpmm_fit(x, '{\"method\": \"slice\", \"draws\": 4}') FROM large WHERE id <= 1000",
        $statement);
}
SKIP: {
    skip 'the peak of a process cannot be reset here', 8 unless defined rise(4, 'SELECT 1');
    my $rows = 200000 / 1048576;
    for my $memory (2, 16) {
        for my $what (['slice', '"method": "slice", "draws": 40, "chains": 1'],
            ['slice, binder', '"method": "slice", "estimate": "binder", "draws": 20, "chains": 2'],
            ['slice, three chains',
            '"method": "slice", "estimate": "map", "draws": 10, "chains": 3'],
            ['vi', '"method": "vi", "max_iter": 5, "restarts": 1, "tol": 0']) {
            my $rise = rise($memory, "SELECT timeless(dpmm_fit(x, '{$what->[1]}')) FROM large");
            diag(sprintf '%s: 200,000 rows of 3.1 MB, maintenance_work_mem %d MB:'
                . ' memory rose by %.1f MB', $what->[0], $memory, $rise);
            # Where there is room, all that grows with the rows stays within it, but for a label for
            # each row and chain. Else two draws and the estimate take some 32 bytes a row. 6 MB:
            # threads, parameters, allocation.
            my ($chains) = ($what->[1] =~ /"chains": (\d)/, 1);
            cmp_ok($rise, '<', $memory + ($memory > 2 ? 4 * $chains : 32) * $rows + 6,
                "$what->[0]: memory stays near maintenance_work_mem = $memory MB");
        }
    }
}

# ---- many fits in one session ----

my %many = (
    'dpmm, all methods' => q{SELECT pg_column_size(dpmm_fit(x, jsonb_build_object('method', m)
          || CASE m WHEN 'vi' THEN '{}' ELSE '{"draws": 20}' END::jsonb)) FROM small,
          unnest(ARRAY['collapsed', 'gibbs', 'slice', 'vi']) AS m WHERE id <= 20 GROUP BY m},
    'dpmm of bits' => q{SELECT pg_column_size(dpmm_fit(bits,
          '{"likelihood": "bernoulli", "draws": 20}')) FROM small},
    'dpmm relation' => q{SELECT count(*) FROM dpmm_cluster('SELECT id, x FROM small',
          '{"draws": 20}')},
    'dpmm similarity' => q{SELECT count(*) FROM dpmm_similarity('SELECT id, x FROM small',
          '{"draws": 20}')},
    'bmm, all methods' => q{SELECT pg_column_size(bmm_fit(bits, 2,
          jsonb_build_object('method', m))) FROM small,
          unnest(ARRAY['vi', 'svi', 'em', 'map', 'mcem']) AS m GROUP BY m},
    'bmm gibbs' => q{SELECT pg_column_size(bmm_fit(bits, 2,
          '{"method": "gibbs", "draws": 20}')) FROM small},
    'bmm of counts, collapsed'
        => q{SELECT pg_column_size(bmm_fit(counts, 2,
          '{"likelihood": "poisson", "method": "collapsed", "draws": 20}')) FROM small},
    'refused' => q{SELECT dpmm_fit(bits,
          '{"likelihood": "normal", "draws": 20, "prior": {"a": -1}}') FROM small;
          SELECT dpmm_fit(CASE WHEN id < 190 THEN x ELSE '{1,2,3}' END, '{"draws": 20}') FROM small;
          SELECT bmm_fit(CASE WHEN id < 190 THEN bits ELSE '{5,5,5,5}' END, 2) FROM small},
);
memory_is_flat($server, settings(1, '64MB'), effort(100), 8, %many);

done_testing;
