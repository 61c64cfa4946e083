# Crawls for the exam with LWP::RobotUA, as in its manual. It follows every link on the hosts of the seeds.
#
#     perl lwp_robot.pl SEED_FILE CA_FILE
#     perl lwp_robot.pl --version
use strict;
use warnings;
use HTML::LinkExtor;
use LWP::RobotUA;
use URI;

my ($seed_file, $ca_file) = @ARGV;
if ($seed_file eq '--version') { print "$LWP::RobotUA::VERSION\n"; exit }

# LWP::RobotUA reads the robots.txt of each host, and waits between two requests to the same host.
my $robot = LWP::RobotUA->new(
    agent    => 'ExamBot/1.0 (+mailto:exam@example.org)',
    from     => 'exam@example.org',
    ssl_opts => { SSL_ca_file => $ca_file },
);
$robot->delay(0.2 / 60);    # in minutes; by default one minute
$robot->timeout(30);
$robot->env_proxy;
$robot->max_size(16 * 1024 * 1024);    # bytes of a body; by default without limit

my $LEVELS = 5;                        # of links, as wget
open my $file, '<', $seed_file or die "$seed_file: $!";
chomp(my @seeds = <$file>);
my %hosts = map { URI->new($_)->host => 1 } @seeds;
my %seen  = map { $_ => 1 } @seeds;
my @queue = map { [$_, 0] } @seeds;

while (my $next = shift @queue) {
    my ($url, $level) = @$next;
    my $answer = $robot->get($url);
    printf "%s %s\n", $answer->code, $url;
    next unless $answer->is_success && $answer->content_is_html && $level < $LEVELS;
    my $links = HTML::LinkExtor->new(undef, $answer->base);
    $links->parse($answer->decoded_content // $answer->content);
    for my $link (map { [@$_] } $links->links) {
        my ($tag, %to) = @$link;
        next unless $tag =~ /^(?:a|area|frame|iframe)$/;
        my $found = URI->new($to{href} // $to{src} // next)->canonical;
        next unless $found->scheme && $found->scheme =~ /^https?$/ && $hosts{ $found->host };
        $found->fragment(undef);
        push @queue, ["$found", $level + 1] unless $seen{$found}++;
    }
}
