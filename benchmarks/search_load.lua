-- Sends the requests of the file TARGETS (a path and query per line) in turn, and prints the result as a line of JSON.
-- For wrk, see bench_serve.py.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init()
  requests, sent, refused = {}, 0, 0
  for target in io.lines(os.getenv("TARGETS")) do
    table.insert(requests, wrk.format("GET", target))
  end
end

function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function response(status)
  if status < 200 or status > 299 then
    refused = refused + 1
  end
end

function done(summary, latency)
  local others = 0
  for _, thread in ipairs(threads) do
    others = others + thread:get("refused")
  end
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "wall_s": %.3f, "bytes": %d, "p50_ms": %.3f, "p95_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f, ' ..
    '"not_2xx": %d, "broken": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    others, errors.connect + errors.read + errors.write + errors.timeout))
end
