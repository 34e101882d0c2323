# A cancel, or a statement_timeout, at a random moment of every kind of fit: the statement ends at
# once, with 57014, and the session goes on. That nothing is left behind is for cancel_memory.pl.
#
# measures: how soon it ends
use strict;
use warnings;
use Cancels;
use Effort;
use Server;
use Test::More;

srand(20260702);
my $server = Server->shared;
Cancels::make_tables($server);
my $session = Cancels::session($server);

my @names = sort keys %Cancels::kinds;
my (%times, @wrong);

# Every kind once; a quarter of them by a timeout, in each round others.
my $rounds = 0;
sub round {
    my ($later) = @_;
    $rounds++;
    for my $i (0 .. $#names) {
        my $name = $names[$i];
        my $delay = ($later ? $Cancels::later{$name} // 0 : 0) + rand(0.25) ** 1.3;
        my ($state, $seconds) = Cancels::once($session, $name, $delay, ($i + $rounds) % 4 == 0);
        push @wrong, "$name: $state" if $state ne '57014';
        push @{$times{$name}}, $seconds;
    }
}

# First without measuring: caches fill, and the allocator finds its size.
round($_ > 1) for 1 .. effort(2);
%times = ();
my @growth = map {
    my $before = $session->private_kb;
    round(1);
    $session->private_kb - $before;
} 1 .. effort(3);
my ($growth) = sort { $a <=> $b } @growth;

is_deeply(\@wrong, [], 'every statement ended with 57014');
my @all = sort { $a <=> $b } map { @$_ } values %times;
my ($median, $p90, $max) = map { $all[int($_ * $#all)] } 0.5, 0.9, 1;
diag(sprintf 'cancel to error: median %.1f ms, 90 %% within %.1f ms, longest %.1f ms, of %d',
    map({ 1000 * $_ } $median, $p90, $max), scalar @all);
my @slowest = (sort { $b->[1] <=> $a->[1] } map { my $name = $_; [$name,
    (sort { $b <=> $a } @{$times{$name}})[0]] } keys %times)[0 .. 5];
diag('slowest kinds: '
    . join(', ', map { sprintf '%s %.0f ms', $_->[0], 1000 * $_->[1] } @slowest));
# Other processes of this machine may take the processor for a while: the bound is for a typical
# cancel, and another catches what hangs.
cmp_ok($median, '<=', 0.1, 'a cancel takes effect within 100 ms');
cmp_ok($max, '<=', 2, 'none hangs');
# The C library keeps some of what it gets back, now more, now less, but what is lost is lost in
# every round; one round alone tells nothing (cancel_memory.pl has more). A fit's rows take 4 MB,
# its model and statistics 100 kB.
diag("memory grew by @growth kB in rounds of ${\scalar @names} cancels");
cmp_ok($growth, '<=', 80 * @names, 'the backend is hardly larger after every kind of cancel')
    if @growth > 1;
is_deeply([$server->temporary_files], [], 'no temporary files are left');
is($session->run(q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes%'}),
    '0', 'no memory context of ours is left');
is($session->run('SELECT i.rows FROM (SELECT gmm_fit(x, 2) AS m FROM faithful) AS f,
      bayes_info(m) AS i'), '272', 'the session goes on');

done_testing;
