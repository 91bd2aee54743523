-- Pipelines in wrk's usual way: one string of many requests. Its argument is how many.
init = function(arguments)
    local batch = string.rep(wrk.format(nil, wrk.path), tonumber(arguments[1]))
    request = function()
        return batch
    end
end
