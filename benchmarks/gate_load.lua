-- Sends requests of many agents from many addresses, and prints the result as a line of JSON. For wrk, see
-- bench_gate.py. The file REQUESTS has a line for each request: address, path and User-Agent, with tabs between them.
-- DELAY_MS: how long each connection waits before a request, on average.
-- FORWARDED=1: as a Web server asks the gate; otherwise as a client asks the Web server.

local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init()
  requests, sent, status_200, status_403, status_429, status_other = {}, number * 7919, 0, 0, 0, 0
  local forwarded = os.getenv("FORWARDED") == "1"
  for line in io.lines(os.getenv("REQUESTS")) do
    local address, path, agent = line:match("([^\t]*)\t([^\t]*)\t(.*)")
    if forwarded then
      table.insert(requests, wrk.format("GET", "/", {
        ["X-Original-URI"] = path, ["X-Original-Method"] = "GET", ["X-Forwarded-Host"] = "example.org",
        ["X-Forwarded-For"] = address, ["User-Agent"] = agent,
      }))
    else
      table.insert(requests, wrk.format("GET", path, {["X-Test-Client"] = address, ["User-Agent"] = agent}))
    end
  end
end

function delay()
  return math.random(0, 2 * tonumber(os.getenv("DELAY_MS")))
end

function request()
  sent = sent + 1
  return requests[sent % #requests + 1]
end

function response(status)
  if status == 200 then
    status_200 = status_200 + 1
  elseif status == 403 then
    status_403 = status_403 + 1
  elseif status == 429 then
    status_429 = status_429 + 1
  else
    status_other = status_other + 1
  end
end

function done(summary, latency)
  local counts = {status_200 = 0, status_403 = 0, status_429 = 0, status_other = 0}
  for _, thread in ipairs(threads) do
    for name in pairs(counts) do
      counts[name] = counts[name] + thread:get(name)
    end
  end
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "wall_s": %.3f, "p50_ms": %.3f, "p95_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f, ' ..
    '"status_200": %d, "status_403": %d, "status_429": %d, "status_other": %d, "broken": %d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000, latency.max / 1000,
    counts.status_200, counts.status_403, counts.status_429, counts.status_other,
    errors.connect + errors.read + errors.write + errors.timeout))
end
