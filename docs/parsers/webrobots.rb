# Asks WebRobots: `ruby docs/parsers/webrobots.rb` reads questions as JSON lines and answers each with a JSON line.
# docs/make_parsers_report.py starts it.
#
# A question has `robots` (base64), `agent` and `url`; an answer has `allowed`, or `error`.

require 'json'
require 'webrobots'

$stdout.sync = true
$stdin.each_line do |line|
  question = JSON.parse(line)
  begin
    text = question['robots'].unpack1('m').force_encoding('UTF-8')
    robots = WebRobots.new(question['agent'], http_get: ->(_uri) { text }, crawl_delay: :ignore)
    result = { allowed: robots.allowed?(question['url']) }
  rescue StandardError => e
    result = { error: "#{e.class}: #{e.message}"[0, 200] }
  end
  puts JSON.generate(result)
end
