-- The usual way to pipeline with wrk: one string of many requests. Its argument is how many.
init = function(arguments)
    local requests = {}
    for number = 1, tonumber(arguments[1]) do
        requests[number] = wrk.format(nil, wrk.path)
    end
    batch = table.concat(requests)
end

request = function()
    return batch
end
