//! What each check is for: the wrong figure, or the failed measurement, that it prevents.

/// By the check's name, which means the same in all scenarios.
const PURPOSES: [(&str, &str); 36] = [
    ("ready", "a load starts when the server can answer, and not before"),
    ("reply-exact", "all servers send the same bytes, so their figures compare"),
    ("reply-once", "a duplicate would count as the reply to the next request"),
    ("keep-alive", "loads reuse connections; making new ones would be measured instead"),
    ("reply-in-time", "a reply that waits for the next request would stall a closed loop"),
    ("split-head", "networks cut requests anywhere"),
    ("pipelined", "loads may have several requests in flight on a connection"),
    ("long-head", "browsers and proxies send heads of several KiB"),
    ("half-close", "clients that close their side early still get their reply"),
    ("slow-reader", "a slow client loses no reply"),
    ("many-connections", "loads have hundreds of connections"),
    ("timeout-idle", "the timers whose cost `hello-timeout` measures exist for reads"),
    ("timeout-partial", "an incomplete request does not count as activity"),
    ("timeout-write", "the timers whose cost `hello-timeout` measures exist for writes"),
    ("timeout-active", "no timer ends a connection that a load uses"),
    ("echo-exact", "all servers send the same bytes, so their figures compare"),
    ("echo-sizes", "messages of every length are measured with one program"),
    ("echo-large", "the server streams, so its memory does not grow with the message"),
    ("echo-split", "networks cut messages anywhere"),
    ("echo-half-close", "no byte is lost at the end of a connection"),
    ("echo-slow-reader", "a slow client costs no memory and loses no byte"),
    ("worker-limit", "the server uses no more CPUs than it is given"),
    ("workers", "the server uses all CPUs that it is given"),
    ("mechanism", "results name the mechanism that was measured"),
    ("no-delay", "Nagle's algorithm would delay replies by up to 40 ms"),
    ("affinity", "server and load generator do not take CPU time from each other"),
    ("survives", "one broken client does not end a measurement"),
    ("work", "a request costs what its scenario says"),
    ("one-at-a-time", "the lock or channel that the scenario measures exists"),
    ("stops-on-sigterm", "the next server starts on a machine without this one"),
    ("leaves-nothing-behind", "no leftover process takes CPU time from the next server"),
    ("quiet", "the server spends no CPU time on a log that others do not write"),
    ("fresh-connections", "replies do not depend on earlier requests of a connection"),
    ("reused-connection", "replies stay right on the connections that a load reuses"),
    ("pipelined-requests", "loads may have several requests in flight on a connection"),
    ("split-requests", "networks cut requests anywhere"),
];

pub(super) fn of(check: &str) -> &'static str {
    PURPOSES.iter().find(|(name, _)| *name == check).map_or("", |(_, purpose)| purpose)
}
