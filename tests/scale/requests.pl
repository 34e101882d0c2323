# What anybody who may call a function can send: requests of real fits with some of their bytes
# changed. Each gives an answer or an error, and the server lives.
#
# How long, for the runner:
# seconds: 60
use strict;
use warnings;
use MIME::Base64 qw(decode_base64 encode_base64);
use Server;
use Test::More;

srand(20261127);
my $server = Server->new(settings => {log_statement => 'all'});
$server->query("CREATE EXTENSION postgres_fdw;
    CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $server->host . "',
      port '5432', dbname 'postgres', extensions 'pg_bayes');
    CREATE USER MAPPING FOR CURRENT_USER SERVER itself;
    CREATE TABLE rows AS SELECT sin(i) + i % 3 AS x, NULLIF(cos(i), cos(3)) AS y, i % 4 AS n,
      'l' || i % 5 AS g, 1 + i % 2 AS w, ARRAY['a' || i % 3, 'b' || i % 7, 'c' || i % 5] AS d,
      ARRAY[1 + sin(i), i % 4, 2 + cos(i)] AS v FROM generate_series(1, 12000) AS i;
    CREATE FOREIGN TABLE far (x float8, y float8, n int, g text, w int, d text[], v float8[])
      SERVER itself
      OPTIONS (table_name 'rows')");
my @fits = ("gmm_model('SELECT x, y FROM far', 2, '{\"push_down\": true, \"max_iter\": 2}')",
    "bmm_model('SELECT x, n, g, w FROM far', 2, '{\"push_down\": true, \"max_iter\": 2,
      \"weight\": \"w\", \"likelihood\": {\"n\": \"poisson\"}}')",
    "gmm_model('SELECT x, y FROM far', 2, '{\"push_down\": true, \"method\": \"svi\",
      \"batch_size\": 100, \"max_iter\": 3, \"restarts\": 1}')",
    "dpmm_model('SELECT x, g FROM far', '{\"push_down\": true, \"method\": \"vi\",
      \"max_iter\": 2, \"truncation\": 3, \"restarts\": 2}')",
    "logreg_model('SELECT n > 1, x, g FROM far', '{\"push_down\": true, \"max_iter\": 2}')",
    "lda_model('SELECT d FROM far', 2, '{\"push_down\": true, \"max_iter\": 4}')",
    "nmf_model('SELECT v FROM far', 2, '{\"push_down\": true, \"max_iter\": 4}')",
    "hmm_model('SELECT n, v FROM far', 2, '{\"push_down\": true, \"max_iter\": 2,
      \"emission\": \"normal\"}')",
    "hmm_model('SELECT n, d FROM far', 2, '{\"push_down\": true, \"max_iter\": 2}')");

my $refused = 0;
for my $fit (@fits) {
    my $from = length $server->log;
    $server->query("SET client_min_messages = error; SELECT $fit");
    my @sent = substr($server->log, $from)
        =~ /SELECT public\.(_bayes_\w+\(0, \$1::[^\n]*)\n[^\n]*parameters: \$1 = '([^']+)'/g;
    my @calls;
    while (my ($sql, $request) = splice(@sent, 0, 2)) {
        push @calls, {sql => $sql, request => decode_base64($request)};
    }
    cmp_ok(scalar @calls, '>', 6, 'the log has the requests of a fit') or next;
    my $text = sub {
        my ($call, $bytes) = @_;
        my $value = encode_base64($bytes, '');
        return 'SELECT ' . ($call->{sql} =~ s/\$1/'$value'/r =~ s/\$2/NULL/r);
    };
    my $session = $server->session;
    $session->run('BEGIN');
    $session->run($text->($_, $_->{request})) for @calls[0, 1];  # the rows, in order
    my %seen;
    for my $call (grep { length $_->{request} < 20_000 } @calls[1 .. $#calls]) {
        next if $seen{substr($call->{request}, 0, 300)}++;
        for (1 .. 60) {
            my $bytes = $call->{request};
            for (1 .. 1 + int rand 4) {
                my $at = int rand length $bytes;
                my $kind = rand;
                if ($kind < 0.6) { substr($bytes, $at, 1) = chr(int rand 256) }
                elsif ($kind < 0.8) { substr($bytes, $at, 1) = "\0" }
                else { substr($bytes, $at, 1) = substr($bytes, int rand length $bytes, 1) }
            }
            my $said = $session->run('SAVEPOINT s; ' . $text->($call, $bytes)
                . '; ROLLBACK TO s');
            $refused++ if $said =~ /ERROR/;
            unlike($said, qr/XX000|server closed/, 'no internal error') if $said =~ /XX000|closed/;
        }
    }
    is($session->run('ROLLBACK; SELECT 1'), 1, 'the session lives');
}
cmp_ok($refused, '>', 50, 'many of them are refused');
unlike($server->log, qr/terminated by signal|PANIC/, 'no process has crashed');

done_testing();
