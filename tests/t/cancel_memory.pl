# A cancel leaves nothing behind: memory is flat over many cancels of a kind of fit, at a random
# moment each; a transaction that catches the cancel goes on; no temporary file outlives a
# statement, nor a backend that is told to end or whose client is gone.
#
# No time is measured. The kinds are shared out:
# parts: 2
# seconds: 20
use strict;
use warnings;
use Cancels;
use Effort;
use Server;
use Test::More;
use Time::HiRes qw(time sleep);

srand(20260703);
# A server of its own, where the C library gives back what is free, large blocks at once: else a
# loss would for long fit into what it keeps.
my $server = do {
    local $ENV{MALLOC_TRIM_THRESHOLD_} = 131072;
    local $ENV{MALLOC_ARENA_MAX} = 1;
    Server->new;
};
Cancels::make_tables($server, qw(rows cloud sequences series chains));

# ---- memory ----

my $cancels = effort(30);
for my $name (part_of('em', 'vi', 'two threads, spilled', 'relation', 'window', 'select',
    'bmm gibbs', 'bmm collapsed', 'gmm gibbs', 'gmm collapsed', 'hmm em', 'hmm gibbs',
    'hmm, spilled', 'hmm relation', 'hmm decode window', 'hmm probabilities window', 'hmm decode',
    map { "dpmm$_" } ' collapsed', ' gibbs', ' slice', ' vi', ' estimate, bipartition', ' window',
    ', spilled rows'))
{
    my $session = Cancels::session($server);
    my @wrong;
    my $cancel = sub {
        my ($state) = Cancels::once($session, $name, 0.03 + rand 0.1, 0);
        push @wrong, $state if $state ne '57014';
    };
    $cancel->() for 1 .. 8;
    # What a fit holds is 100 kB at least.
    my $growth = $session->growth_kb($cancels, 10 * $cancels, $cancel);
    diag("$cancels cancels of $name: memory grew by $growth kB");
    cmp_ok($growth, '<=', 50 * $cancels, "memory is flat over cancels of $name");
    is_deeply(\@wrong, [], 'each ended with 57014');
    is($session->run(q{SELECT count(*) FROM pg_backend_memory_contexts
          WHERE name LIKE 'pg_bayes%'}), '0', 'no memory context of ours is left');
    is_deeply([$server->temporary_files], [], 'nor a temporary file');
}

# ---- a cancel in a subtransaction, caught: the transaction goes on, and its earlier work counts

if (is_part(0)) {
    my $session = Cancels::session($server);
    $session->run('BEGIN; CREATE TABLE kept (a int); SAVEPOINT s;');
    $session->send($Cancels::kinds{'two threads, spilled'} =~ s/^.*;//r);
    sleep 0.3;
    kill 'INT', $session->pid;
    like($session->wait(60), qr/57014/, 'a cancel inside a subtransaction');
    is($session->run('ROLLBACK TO s; INSERT INTO kept VALUES (1); COMMIT; SELECT a FROM kept'), '1',
        'does not touch what came before');
}

# ---- the connection breaks, or the backend is told to end: it ends, and its files with it ----

for my $how (part_of('TERM', 'client')) {
    my $victim = $server->session;
    my $pid = $victim->pid;
    $victim->run("SET maintenance_work_mem = '1MB'; SET client_connection_check_interval = '50ms'");
    $victim->send("SELECT gmm_fit(x, 8, '{\"method\": \"em\", $Cancels::endless}') FROM rows");
    my $limit = time + 20;
    sleep 0.05 until $server->temporary_files || time > $limit;
    ok(scalar $server->temporary_files, 'rows are spilled');
    if ($how eq 'TERM') { kill 'TERM', $pid }
    else { kill 'KILL', $victim->{psql} }
    $limit = time + 20;
    sleep 0.05 while -d "/proc/$pid" && time < $limit;
    ok(!-d "/proc/$pid", $how eq 'TERM' ? 'a backend told to end ends'
        : 'a backend whose client is gone ends');
    is_deeply([$server->temporary_files], [], 'and its temporary files are gone');
    eval { $victim->close };
}

done_testing;
