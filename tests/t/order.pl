# The order of rows: a fit of exchangeable rows is the same to the last bit in whatever order they
# come, from a sorted table, a shuffled one or parallel workers; and what is said of single rows is
# said of the right ones.
#
# How long, for the runner:
# seconds: 40
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
$server->query(<<'SQL');
-- More distinct rows than starting points are chosen from, and repeated ones.
CREATE TABLE rows AS SELECT i AS id,
  ARRAY[sin(i) + 5 * (i % 3), cos(i * 0.7) - 3 * (i % 3)] AS x,
  ARRAY[floor(5 * (1 + sin(i))), (i % 3 = 1)::int, cos(i) + i % 3, nullif(i % 5, 4)] AS mixed,
  0.1 + i % 4 AS w
FROM (SELECT least(n, 25000) AS i FROM generate_series(1, 25100) AS n) AS numbers;
CREATE TABLE few AS SELECT id, x, mixed[1:3] AS mixed, w FROM rows WHERE id <= 300;
CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (model::jsonb - 'seconds')::text;
ANALYZE;
SQL
my $session = $server->session;
$session->run("SET client_min_messages = error; SET max_parallel_workers_per_gather = 0;
    SET maintenance_work_mem = '64MB'");

my @orders = ('id', 'id DESC', 'md5(id::text), w');
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
    SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';

# Bit by bit the same model, in every order.
sub same_in_all_orders {
    my ($name, $table, $fit, $workers) = @_;
    my %answers = map {
        $session->run("SELECT md5(timeless($fit)) FROM (SELECT * FROM $table ORDER BY $_) AS r",
            120) => $_
    } @orders;
    if ($workers) {
        my $query = "SELECT md5(timeless($fit)) FROM $table";
        $session->run("$parallel; ALTER TABLE $table SET (parallel_workers = 2)");
        like($session->run("EXPLAIN (COSTS OFF) $query"), qr/Gather.*Partial Aggregate/s,
            "$name: a parallel plan");
        $answers{$session->run($query, 120)} = 'parallel';
        $session->run('SET max_parallel_workers_per_gather = 0');
    }
    is_deeply([map { /^[0-9a-f]{32}$/ ? () : $_ } keys %answers], [], "$name: fits");
    is(scalar keys %answers, 1, "$name: one model") or diag(join ', ', %answers);
}

for my $method (qw(em map vi svi mcem kmeans gibbs collapsed)) {
    my $options = $method =~ /gibbs|collapsed/ ? '"draws": 6, "chains": 2'
        : $method eq 'kmeans' ? '"restarts": 2' : '"max_iter": 20, "restarts": 2';
    my $o = qq('{"method": "$method", $options}');
    same_in_all_orders("gmm $method", $method eq 'collapsed' ? 'few' : 'rows',
        "gmm_fit(x, 3, $o)", $method =~ /vi|gibbs/);
    same_in_all_orders("gmm $method, weights", 'rows', "gmm_fit(x, 3, $o, w)", $method eq 'vi')
        unless $method =~ /gibbs|collapsed/;
    next if $method eq 'kmeans';
    my $some = $method eq 'collapsed';
    my $likelihood = join ', ', map { qq("$_") } qw(poisson bernoulli normal),
        $some ? () : 'categorical';
    my $b = qq('{"method": "$method", $options, "missing": "marginalize",
        "likelihood": [$likelihood]}');
    same_in_all_orders("bmm $method", $some ? 'few' : 'rows', "bmm_fit(mixed, 2, $b)", 0);
}
for my $method (qw(collapsed gibbs slice vi)) {
    my $o = $method eq 'vi' ? '"restarts": 2, "max_iter": 20' : '"draws": 20, "chains": 2';
    same_in_all_orders("dpmm $method", 'few', qq[dpmm_fit(x, '{"method": "$method", $o}')], 0);
    same_in_all_orders("dpmm $method, products", 'few', qq[dpmm_fit(mixed,
        '{"method": "$method", $o, "likelihood": ["poisson", "bernoulli", "normal"]}')], 0);
}
# ---- rows keep their labels ----

my %labels = map {
    my $order = $_;
    map {
        my ($name, $call) = @$_;
        "$name by $order" => $session->run("SELECT md5(string_agg(id || ' ' || c, ',' ORDER BY id))
            FROM (SELECT id, $call OVER () AS c
                  FROM (SELECT * FROM few ORDER BY $order OFFSET 0) AS r) AS l", 60)
    } ['gmm', 'gmm_cluster(x, 3)'],
        ['gmm gibbs', q[gmm_cluster(x, 3, '{"method": "gibbs", "draws": 20}')]],
        ['dpmm', q[dpmm_cluster(x, '{"draws": 20}')]],
        ['dpmm with rows left out', q[dpmm_cluster(CASE WHEN id % 7 > 0 THEN x END,
            '{"draws": 20}')]]
} map { s/, w//r } @orders;
for my $name (sort keys %labels) {
    my ($what) = $name =~ /(.*) by /;
    is($labels{$name}, $labels{"$what by id"}, "window: $name");
}
is($session->run(q[SELECT count(*) FROM (SELECT x, dpmm_cluster(x, '{"draws": 100}') OVER () AS c
        FROM (SELECT * FROM few ORDER BY md5(id::text) OFFSET 0) AS r) AS l
    GROUP BY c HAVING max(x[1]) - min(x[1]) > 4 OR max(x[2]) - min(x[2]) > 4]), '',
    'a cluster holds rows near each other');

my (%clusters, %pairs);
for my $order (map { s/, w//r } @orders) {
    $clusters{$session->run("SELECT md5(string_agg(c::text, ' ' ORDER BY id::int))
        FROM dpmm_cluster('SELECT id, x FROM few ORDER BY $order', '{\"draws\": 20}') AS c", 60)} =
        $order;
    $pairs{$session->run("SELECT md5(string_agg(p, ' ' ORDER BY p))
        FROM (SELECT least(id1::int, id2::int) || ' ' || greatest(id1::int, id2::int) || ' '
              || probability AS p
        FROM dpmm_similarity('SELECT id, x FROM few WHERE id < 60 ORDER BY $order',
                             '{\"draws\": 20}') AS s) AS t", 60)} = $order;
}
is(scalar keys %clusters, 1, 'dpmm_cluster of a query') or diag(%clusters);
is(scalar keys %pairs, 1, 'dpmm_similarity of a query') or diag(%pairs);
is($session->run(q[SELECT bool_and(a = lag AND b > a) FROM (SELECT id1::int AS b, id2::int AS a,
        id2::int AS lag FROM dpmm_similarity('SELECT id, x FROM few WHERE id < 60 ORDER BY id DESC',
        '{"draws": 4}')) AS p]), 't', 'pairs in the order of the query');

done_testing;
