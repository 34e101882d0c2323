# A standby: models arrive as rows do, score as on the primary, and are fitted to the last bit as
# there, from a temporary file too; only nothing is stored, until the standby is promoted.
use strict;
use warnings;
use Server;
use Test::More;
use Time::HiRes qw(sleep);

my $primary = Server->new(data => 1);
$primary->query('CREATE TABLE models AS SELECT gmm_fit(x, 2) AS model FROM faithful');

# A base backup is a cluster, of which a server takes a copy.
my $backup = $primary->directory . '/backup';
my (undef, $errors, $status) =
    $primary->run(undef, 'pg_basebackup', '-D', $backup, '-R', '-c', 'fast');
is($status, 0, 'a base backup') or diag($errors);
system('chown', '-R', '--reference', $primary->directory . '/data', $backup) == 0 or die 'chown';
my $standby = do {
    local $ENV{PG_BAYES_CLUSTER} = $backup;
    Server->new(extension => 0);
};
is($standby->query('SELECT pg_is_in_recovery()'), 't', 'a standby');

$primary->query("INSERT INTO models SELECT bmm_fit(l, 2) FROM
    (SELECT waiting, duration, noted FROM geyser_log) AS l");
my $end = $primary->query('SELECT pg_current_wal_lsn()');
for (1 .. 300) {
    last if $standby->query("SELECT pg_last_wal_replay_lsn() >= '$end'") eq 't';
    sleep 0.1;
}

for my $question (
    ['models are those of the primary', 'SELECT md5(string_agg(md5(_bayes_model_send(model)::text),
        chr(32) ORDER BY model)) FROM models'],
    ['scores', "SELECT sum(bayes_log_density(model, x)) FROM faithful, models, bayes_info(model)
        WHERE family = 'gmm'"],
    ['parameters of a fit', 'SELECT md5(string_agg(p::text, chr(32)))
        FROM bayes_parameters((SELECT gmm_fit(x, 3) FROM iris)) AS p'],
    ['of one whose rows go to a file', "SET maintenance_work_mem = '1MB'; SELECT md5(string_agg(
        p::text, chr(32))) FROM bayes_parameters((SELECT gmm_fit(x, 2, '{\"max_iter\": 3,
        \"covariance\": \"diagonal\", \"restarts\": 1}')
        FROM digits, generate_series(1, 3))) AS p"],
    ['fits over the text of a query', "SELECT * FROM gmm_fit('SELECT x FROM faithful', 2)"],
    ['fits under way can be seen', 'SELECT count(*) FROM bayes_progress']) {
    my ($name, $sql) = @$question;
    is($standby->query($sql), $primary->query($sql), $name);
}
my $store = 'CREATE TABLE stored AS SELECT gmm_fit(x, 2) AS model FROM faithful';
like(($standby->attempt($store))[1], qr/ERROR:  25006/, 'a fit is not stored there');
$standby->query('SELECT pg_promote()');
$standby->query($store);
is($standby->query('SELECT count(*) FROM stored JOIN models USING (model)'), '1',
    'but after it has been promoted, and is the same');
is_deeply([$standby->temporary_files], [], 'no temporary files are left');

done_testing;
