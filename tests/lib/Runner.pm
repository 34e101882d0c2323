# Runs test programs and counts single tests.
package Runner;
use strict;
use warnings;
use POSIX ();
use TAP::Parser;
use Time::HiRes qw(time);

our ($passed, $failed) = (0, 0);
our $logs = 'build/log';
my %children;

# One line for what was run; for a failure also what went wrong.
sub report {
    my ($name, $good, $bad, $seconds, @notes) = @_;
    $passed += $good;
    $failed += $bad;
    printf "%-5s%-48s %5d passed%s %8.1f s\n", $bad ? 'FAIL' : 'ok', $name, $good,
        $bad ? sprintf(', %d failed', $bad) : '', $seconds;
    @notes = (@notes[0 .. 39], '...', $notes[-1]) if @notes > 42;
    print map { "       $_\n" } @notes;
}

sub lines {
    my ($name) = @_;
    open(my $file, '<', $name) or die "$name: $!";
    chomp(my @lines = <$file>);
    return @lines;
}

# Runs jobs, so many at a time. A job is a hash of name, command, count and perhaps seconds, size,
# environment, limit in seconds, waits and measures; count is given the output and the exit status
# and returns (passed, failed, notes). One that waits for a clock, and takes no processor's time
# meanwhile, runs from the beginning on beside the others; those that measure time run in the end,
# beside each other. Returns the jobs with the seconds that each took.
#
# The longest come first, so that no processor waits in the end for one that began last. How long
# each takes is known from an earlier run; before there was one, from its seconds; else the larger
# is thought to be the longer.
sub run {
    my ($at_once, @all) = @_;
    my @quiet = grep { $_->{measures} } @all;
    my @jobs = grep { !$_->{measures} } @all;
    return map { run($at_once, @$_) } \@jobs, \@quiet if @jobs && @quiet;
    @jobs = @all;
    my @ended;
    mkdir 'build';
    mkdir $logs;
    my %seconds = -e "$logs/seconds" ? map { split /\t/ } lines("$logs/seconds") : ();
    my $weight = sub { $seconds{$_[0]{name}} // $_[0]{seconds} // 1e6 + ($_[0]{size} // 0) };
    @jobs = sort { $weight->($b) <=> $weight->($a) } @jobs if $at_once > 1;
    @jobs = ((grep { $_->{waits} } @jobs), (grep { !$_->{waits} } @jobs));
    while (@jobs || %children) {
        while (@jobs && ($jobs[0]{waits} || grep({ !$_->{waits} } values %children) < $at_once)) {
            my $job = {limit => 900, %{shift @jobs}};
            $job->{log} = "$logs/" . ($job->{name} =~ s/[^\w.-]+/-/gr) . '.log';
            $job->{start} = time;
            my $pid = fork() // die "fork: $!";
            if ($pid == 0) {
                $ENV{$_} = $job->{environment}{$_} for keys %{$job->{environment} // {}};
                open(STDIN, '<', '/dev/null');
                open(STDOUT, '>', $job->{log}) or die "$job->{log}: $!";
                open(STDERR, '>&', \*STDOUT);
                exec('timeout', '-k', '10', $job->{limit}, @{$job->{command}}) or POSIX::_exit(127);
            }
            $children{$pid} = $job;
        }
        my $pid = waitpid(-1, 0);
        my $job = delete $children{$pid} or next;
        my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
        open(my $file, '<', $job->{log}) or die "$job->{log}: $!";
        my $text = join '', <$file>;
        my ($good, $bad, @notes) = $job->{count}->($text, $status);
        push @notes, "no end after $job->{limit} s" if $status == 124;
        push @notes, "all of it: $job->{log}" if $bad;
        $job->{seconds} = $seconds{$job->{name}} = time - $job->{start};
        report($job->{name}, $good, $bad, $job->{seconds}, @notes);
        push @ended, $job;
    }
    if (open(my $file, '>', "$logs/seconds")) {
        print {$file} map { "$_\t$seconds{$_}\n" } sort keys %seconds;
    }
    return @ended;
}

# Jobs for pgTAP files, each in a copy of the template database, made and dropped from the database
# $home.
sub pgtap_jobs {
    my ($home, $template, @files) = @_;
    my $script = <<'END';
psql -Xq -d $3 -c "CREATE DATABASE $1 TEMPLATE $2" || exit
psql -XAtq -P pager=off -v ON_ERROR_STOP=1 -d $1 -f "$0"
status=$?
psql -Xq -d $3 -c "DROP DATABASE IF EXISTS $1 WITH (FORCE)"
exit $status
END
    my $number = 0;
    return map {
        my $database = "sql_$$" . '_' . ++$number;
        {   name => $_,
            size => -s $_,
            command => ['sh', '-c', $script, $_, $database, $template, $home],
            count => \&count_tap,
        }
    } @files;
}

# Those that say in a line of their own of how many parts they are become a job for each; one that
# takes long says so as well, in seconds for each part, and so does one that mostly waits, or one
# that measures time.
sub perl_jobs {
    return map {
        my $file = $_;
        my ($parts) = (map({ /^# parts: (\d+)$/ ? $1 : () } lines($file)), 1);
        my ($seconds) = (map({ /^# seconds: (\d+)$/ ? $1 : () } lines($file)), 5);
        map { {
            name => $parts > 1 ? "$file $_/$parts" : $file,
            seconds => $seconds,
            command => ['perl', '-Itests/lib', $file],
            count => \&count_tap,
            environment => {TEST_PART => "$_/$parts"},
            limit => 1200,
            waits => scalar(grep { /^# waits$/ } lines($file)),
            measures => scalar(grep { /^# measures/ } lines($file)),
        } } 1 .. $parts
    } @_;
}

# Ends what is still running; for signal handlers.
sub stop { kill 'TERM', keys %children }

sub tail {
    my ($text, $count) = @_;
    my @lines = split /\n/, $text;
    return @lines > $count ? @lines[-$count .. -1] : @lines;
}

# Counts a program that speaks TAP.
sub count_tap {
    my ($text, $status) = @_;
    my $parser = TAP::Parser->new({tap => $text});
    my ($good, $bad, $in_failure, @notes) = (0, 0, 0);
    while (my $result = $parser->next) {
        if ($result->is_test) {
            $in_failure = !$result->is_ok;
            $in_failure ? $bad++ : $good++;
            push @notes, $result->raw if $in_failure;
        } elsif ($in_failure && $result->is_comment || $result->is_bailout) {
            push @notes, $result->raw;
        } else {
            $in_failure = 0;
        }
    }
    push @notes, 'skipped: ' . $parser->skip_all if $parser->skip_all;
    my $missing = !$parser->plan && !$parser->skip_all
        ? 1 : ($parser->tests_planned // 0) - $good - $bad;
    if ($missing != 0 || $status != 0 && !$bad) {
        push @notes, "exit status $status; planned " . ($parser->tests_planned // 'nothing')
            . ', seen ' . ($good + $bad), tail($text, 15);
        $bad += $missing > 0 ? $missing : 1;
    }
    return ($good, $bad, @notes);
}

# Counts a Boost.Test program run with --report_level=short; it may have been told to leave some
# test cases out.
sub count_boost {
    my ($text, $status) = @_;
    my ($good, $all, $left_out) = (0, 0, 0);
    while ($text =~ /(\d+) test cases? out of (\d+) (\w+)/g) {
        $all = $2 if $2 > $all;
        $good += $1 if $3 eq 'passed';
        $left_out = $1 if $3 eq 'skipped';
    }
    my $bad = $all - $good - $left_out;
    $bad = 1 if $status != 0 && $bad == 0 || $all == $left_out;
    my @notes = $bad ? grep { /error|fail|abort|ERROR|SUMMARY/i } split /\n/, $text : ();
    return ($good, $bad, @notes, $bad && !@notes ? tail($text, 15) : ());
}

# Counts a program as one test.
sub count_one {
    my ($text, $status) = @_;
    return $status == 0 ? (1, 0) : (0, 1, "exit status $status", tail($text, 25));
}

1;
