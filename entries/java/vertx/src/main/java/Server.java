import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * Vert.x: one instance of a verticle per event loop, each with an HTTP server on the same port.
 *
 * <p>There is no router, which is a module of its own: every path gets the same reply.
 */
public final class Server {
    private static final int BACKLOG = 4096;
    private static final int HEAD_BYTES_MOST = 16 * 1024;
    private static final int DEFAULT_TIMEOUT_MS = 5000;
    /** All instances share the port that the kernel chooses for this number. */
    private static final int SHARED_RANDOM_PORT = -1;

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

    private static final class Hello extends VerticleBase {
        private final Options options;
        private volatile HttpServer server;

        Hello(Options options) {
            this.options = options;
        }

        @Override
        public Future<?> start() {
            var http = new HttpServerOptions()
                    .setHost(options.host())
                    .setPort(options.port() == 0 ? SHARED_RANDOM_PORT : options.port())
                    .setAcceptBacklog(BACKLOG)
                    .setMaxHeaderSize(HEAD_BYTES_MOST)
                    .setIdleTimeout(options.timeoutMs())
                    .setIdleTimeoutUnit(TimeUnit.MILLISECONDS);
            server = vertx.createHttpServer(http).requestHandler(request -> request.response()
                    .putHeader("Content-Type", "text/plain")
                    .end("Hello world!"));
            return server.listen();
        }
    }

    private static void run(Options options) throws Exception {
        var vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(options.workers())
                .setPreferNativeTransport(true));
        if (!vertx.isNativeTransportEnabled()) {
            throw new IllegalStateException("no native transport", vertx.unavailableNativeTransportCause());
        }
        var instances = new ConcurrentLinkedQueue<Hello>();
        vertx.deployVerticle(
                        () -> {
                            var hello = new Hello(options);
                            instances.add(hello);
                            return hello;
                        },
                        new DeploymentOptions().setInstances(options.workers()))
                .await();
        int port = instances.peek().server.actualPort();
        System.out.println("listening " + options.shownHost() + ":" + port);
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
