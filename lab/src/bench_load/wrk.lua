-- Counts of wrk as one line of JSON, and pipelines in its usual way: one string of many requests. Its argument is how
-- many. Without a pipeline there is no function `request`, so that wrk sends its own constant request.
init = function(arguments)
    local depth = tonumber(arguments[1])
    if depth > 1 then
        local batch = string.rep(wrk.format(nil, wrk.path), depth)
        request = function()
            return batch
        end
    end
end

-- Replies that failed or came too late are among the requests.
done = function(summary)
    local errors = summary.errors
    local good = summary.requests - errors.status - errors.timeout
    local all = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    local rate = good / summary.duration * 1e6
    io.write(string.format('\n{"requests":%d,"requests_per_second":%.3f,"errors":%d}\n', good, rate, all))
end
