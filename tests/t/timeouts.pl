# A statement_timeout at a random moment of statements of all kinds, over large models among them,
# ends them, or they end by themselves: none is late. The short form takes some over large models
# once, the long form (TEST_EFFORT=1) every kind, those of cancel.pl too, several times.
#
# measures: how late it is
# seconds: 35
use strict;
use warnings;
use Cancels;
use Effort;
use List::Util qw(max min);
use Server;
use Test::More;
use Timeouts;

srand($ENV{TEST_SEED} // 20261128);
my $server = Server->shared;
my $long = effort(4) > 1;
Timeouts::make_tables($server, $long);
my $session = Cancels::session($server);

# TEST_KINDS in the environment, a regular expression, selects some.
my $kinds = $ENV{TEST_KINDS} // '.';
my @names = grep { /$kinds/ && ($long || /page|thousand/ || rand() < 0.3) }
    sort(keys %Timeouts::kinds, $long ? keys %Cancels::kinds : ());
my (%late, %ended, @wrong);
for my $round (1 .. effort(4)) {
    for my $name (@names) {
        my $delay = $long ? 5 * rand() ** 2 : 0.6 * rand();
        my $statement = $Timeouts::kinds{$name} // $name;
        my ($state, $seconds) = Cancels::once($session, $statement, $delay, 1);
        # A machine that stalls makes any statement late, but hardly three times at this moment.
        for (1 .. 3) {
            last if $seconds < 1;
            my (undef, $again) = Cancels::once($session, $statement, $delay, 1);
            $seconds = min($seconds, $again);
        }
        push @wrong, "$name: " . substr($state, 0, 300)
            if $state ne '57014' && ($state !~ /^none: / || $state =~ /^none: .*ERROR/s);
        $ended{$name}++ if $state eq '57014';
        # One that ended by itself before says nothing of how late a timeout is.
        $late{$name} = max($late{$name} // 0, $seconds) if $state eq '57014' || $seconds > 0;
    }
}
is_deeply(\@wrong, [], 'every statement ended with 57014, or by itself');
my @latest = sort { $late{$b} <=> $late{$a} } keys %late;
diag(scalar(@names) . ' kinds, ' . scalar(keys %ended) . ' of them ended by a timeout; the latest: '
    . join(', ', map { sprintf '%s %.0f ms', $_, 1000 * $late{$_} }
        @latest[0 .. min(9, $#latest)]));
# A selection may end by itself.
cmp_ok(scalar(keys %ended), '>=', $ENV{TEST_KINDS} ? 0 : @names / 4, 'timeouts end many');
SKIP: {
    skip 'no timeout came', 2 unless @latest;
    cmp_ok($late{$latest[@latest / 2]}, '<=', 0.1, 'as a rule it is on time');
    cmp_ok($late{$latest[0]}, '<=', 2, 'none hangs');
}
is($session->run('SELECT 1'), '1', 'the session goes on');

done_testing;
