import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.net.InetSocketAddress;
import java.util.Arrays;

/**
 * Undertow: a handler that answers on the I/O threads.
 *
 * <p>There is no path handler: every path gets the same reply.
 */
public final class Server {
    private static final int BACKLOG = 4096;
    private static final int DEFAULT_TIMEOUT_MS = 5000;

    /** A command line that cannot be used. */
    private static final class UsageException extends Exception {
        UsageException(String message) {
            super(message);
        }
    }

    /** A timeout of zero means none. */
    private record Options(String host, int port, int workers, int timeoutMs) {
        static Options parse(String[] arguments) throws UsageException {
            if (arguments.length < 4 || arguments.length > 5) {
                throw new UsageException("usage: Server SCENARIO HOST PORT WORKERS [TIMEOUT_MS]");
            }
            int timeoutMs = arguments.length == 5
                    ? number("TIMEOUT_MS", arguments[4], 1, Integer.MAX_VALUE)
                    : DEFAULT_TIMEOUT_MS;
            String scenario = arguments[0];
            if (!scenario.equals("hello") && !scenario.equals("hello-timeout")) {
                throw new UsageException("unknown scenario " + scenario);
            }
            if (!arguments[1].matches("[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")) {
                throw new UsageException("HOST must be an IPv4 or IPv6 address, not " + arguments[1]);
            }
            return new Options(
                    arguments[1],
                    number("PORT", arguments[2], 0, 65535),
                    number("WORKERS", arguments[3], 1, 1024),
                    scenario.equals("hello") ? 0 : timeoutMs);
        }

        String shownHost() {
            return host.contains(":") ? "[" + host + "]" : host;
        }
    }

    private Server() {}

    private static int number(String name, String text, int least, int most)
            throws UsageException {
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException exception) {
            // The message below says what is wrong.
        }
        throw new UsageException(
                name + " must be a number from " + least + " to " + most + ", not " + text);
    }

    private static void answer(HttpServerExchange exchange) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain");
        exchange.getResponseSender().send("Hello world!");
    }

    private static void run(Options options) {
        boolean limited = options.timeoutMs() > 0;
        var builder = Undertow.builder()
                .addHttpListener(options.port(), options.host(), Server::answer)
                .setIoThreads(options.workers())
                .setSocketOption(org.xnio.Options.BACKLOG, BACKLOG)
                // A minute by default, in which a silent connection would end.
                .setServerOption(
                        UndertowOptions.NO_REQUEST_TIMEOUT, limited ? options.timeoutMs() : -1);
        if (limited) {
            builder.setServerOption(UndertowOptions.REQUEST_PARSE_TIMEOUT, options.timeoutMs())
                    .setSocketOption(org.xnio.Options.WRITE_TIMEOUT, options.timeoutMs());
        }
        Undertow server = builder.build();
        server.start();
        var address = (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
        System.out.println("listening " + options.shownHost() + ":" + address.getPort());
    }

    public static void main(String[] arguments) {
        try {
            run(Options.parse(arguments));
        } catch (UsageException exception) {
            System.err.println(exception.getMessage());
            System.exit(2);
        } catch (Exception exception) {
            System.err.println(Arrays.toString(arguments) + ": " + exception);
            System.exit(1);
        }
    }
}
