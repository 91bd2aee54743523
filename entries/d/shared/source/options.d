/* The arguments: SCENARIO HOST PORT WORKERS [TIMEOUT_MS]. Builds copy this folder next to the entry's own files. */
module options;

import core.time : Duration, msecs;
import std.conv : ConvException, to;
import std.exception : enforce;
import std.format : format;
import std.socket : Address, parseAddress, SocketException;

@safe:

enum Scenario { hello, helloTimeout, echo }

struct Options {
    Scenario scenario;
    Address address;
    ushort port;
    uint workers;
    Duration timeout;
}

private uint parseNumber(string text, string name, uint least, uint most) {
    uint value;
    try
        value = text.to!uint;
    catch (ConvException)
        value = uint.max;
    enforce(value >= least && value <= most,
        format!"%s must be a number from %s to %s, not `%s`"(name, least, most, text));
    return value;
}

private Scenario parseScenario(string text) {
    switch (text) {
        case "hello": return Scenario.hello;
        case "hello-timeout": return Scenario.helloTimeout;
        case "echo": return Scenario.echo;
        default: throw new Exception(format!"unknown scenario `%s`"(text));
    }
}

private Address parseHost(string host, ushort port) {
    try
        return parseAddress(host, port);
    catch (SocketException)
        throw new Exception(format!"HOST must be an IPv4 or IPv6 address, not `%s`"(host));
}

/* Throws a message for the user. */
Options parseOptions(const string[] arguments, uint mostWorkers = 1024) {
    enforce(arguments.length == 4 || arguments.length == 5,
        "usage: server SCENARIO HOST PORT WORKERS [TIMEOUT_MS]");
    Options options;
    options.scenario = parseScenario(arguments[0]);
    options.port = cast(ushort) parseNumber(arguments[2], "PORT", 0, ushort.max);
    options.address = parseHost(arguments[1], options.port);
    options.workers = parseNumber(arguments[3], "WORKERS", 1, mostWorkers);
    immutable timeout = arguments.length == 5 ? arguments[4] : "5000";
    options.timeout = parseNumber(timeout, "TIMEOUT_MS", 1, int.max).msecs;
    return options;
}
