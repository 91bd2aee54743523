import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Blocking sockets of package java.net, one virtual thread per connection.
 *
 * <p>It is deliberately not an HTTP server: it only looks for the end of each request head, and for
 * the work in its target in the scenarios that Sync.java has. How many threads carry the virtual
 * ones is set on the command line, where the JDK reads it.
 */
public final class Server {
    private static final String REPLY = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
            + "Content-Length: 12\r\n\r\nHello world!";
    private static final int REPLIES_PER_WRITE = 256;
    private static final byte[] REPLY_BLOCK =
            REPLY.repeat(REPLIES_PER_WRITE).getBytes(StandardCharsets.US_ASCII);
    static final byte[] TERMINATOR = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    static final int READ_BYTES = 16 * 1024;
    private static final int BACKLOG = 4096;
    private static final int ACCEPT_RETRY_MS = 50;
    private static final int DEFAULT_TIMEOUT_MS = 5000;
    private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
    private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*");

    /** What is done with one connection until it ends. */
    interface Service {
        void serve(Socket socket) throws IOException, InterruptedException;
    }

    /** How bytes are written, with or without a timeout. */
    interface Writer {
        void write(byte[] block, int length) throws IOException;
    }

    /** Counts ends of heads; a terminator may be split over any number of reads. */
    private static final class HeadCounter {
        private int seen;

        int count(byte[] input, int length) {
            int heads = 0;
            for (int index = 0; index < length; index++) {
                byte current = input[index];
                if (current == TERMINATOR[seen]) {
                    seen++;
                } else {
                    seen = current == '\r' ? 1 : 0;
                }
                if (seen == TERMINATOR.length) {
                    seen = 0;
                    heads++;
                }
            }
            return heads;
        }
    }

    /** A command line that cannot be used. */
    private static final class UsageException extends Exception {
        UsageException(String message) {
            super(message);
        }
    }

    private record Options(Service service, InetSocketAddress address) {
        static Options parse(String[] arguments) throws UsageException {
            if (arguments.length < 4 || arguments.length > 5) {
                throw new UsageException("usage: Server SCENARIO HOST PORT WORKERS [TIMEOUT_MS]");
            }
            // The JDK has read the workers from its own options; here they are only checked.
            number("WORKERS", arguments[3], 1, 1024);
            int timeoutMs = arguments.length == 5
                    ? number("TIMEOUT_MS", arguments[4], 1, Integer.MAX_VALUE)
                    : DEFAULT_TIMEOUT_MS;
            var address = new InetSocketAddress(
                    literal(arguments[1]), number("PORT", arguments[2], 0, 65535));
            return new Options(service(arguments[0], timeoutMs), address);
        }

        private static Service service(String scenario, int timeoutMs) throws UsageException {
            return switch (scenario) {
                case "hello" -> Server::serveHello;
                case "hello-timeout" -> new TimedHello(timeoutMs);
                case "echo" -> Server::serveEcho;
                case "mutex" -> Sync.mutex();
                case "channel" -> Sync.channel();
                case "skewed" -> Sync::serveSkewed;
                case "handoff" -> Sync::serveHandoff;
                default -> throw new UsageException("unknown scenario " + scenario);
            };
        }
    }

    private Server() {}

    private static void serveHello(Socket socket) throws IOException {
        OutputStream output = socket.getOutputStream();
        answer(socket.getInputStream(), (block, length) -> output.write(block, 0, length));
    }

    private static void answer(InputStream input, Writer writer) throws IOException {
        var counter = new HeadCounter();
        byte[] buffer = new byte[READ_BYTES];
        for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
            reply(counter.count(buffer, length), writer);
        }
    }

    static void reply(int heads, Writer writer) throws IOException {
        while (heads > 0) {
            int batch = Math.min(heads, REPLIES_PER_WRITE);
            writer.write(REPLY_BLOCK, batch * REPLY.length());
            heads -= batch;
        }
    }

    /**
     * The same with timeouts. Sockets have one for reads only, so a timer closes the socket under a
     * write that takes too long.
     */
    private static final class TimedHello implements Service {
        private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        private final int timeoutMs;

        TimedHello(int timeoutMs) {
            this.timeoutMs = timeoutMs;
            // Nearly all timers are cancelled and must not wait for their time in the queue.
            timer.setRemoveOnCancelPolicy(true);
        }

        @Override
        public void serve(Socket socket) throws IOException {
            socket.setSoTimeout(timeoutMs);
            OutputStream output = socket.getOutputStream();
            answer(socket.getInputStream(), (block, length) -> {
                Future<?> deadline =
                        timer.schedule(() -> close(socket), timeoutMs, TimeUnit.MILLISECONDS);
                try {
                    output.write(block, 0, length);
                } finally {
                    deadline.cancel(false);
                }
            });
        }
    }

    private static void serveEcho(Socket socket) throws IOException {
        InputStream input = socket.getInputStream();
        OutputStream output = socket.getOutputStream();
        byte[] buffer = new byte[READ_BYTES];
        for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
            output.write(buffer, 0, length);
        }
    }

    static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException exception) {
            // Its thread learns that it is closed; it needs no report.
        }
    }

    private static void serve(Socket socket, Service service) {
        try (socket) {
            socket.setTcpNoDelay(true);
            service.serve(socket);
        } catch (IOException | InterruptedException exception) {
            // So a connection ends that is reset or times out: it needs no report.
        }
    }

    private static void accept(ServerSocket listener, Service service) {
        while (true) {
            try {
                Socket socket = listener.accept();
                Thread.startVirtualThread(() -> serve(socket, service));
            } catch (IOException exception) {
                rest();
            }
        }
    }

    /** Without descriptors or memory the next accept would fail at once as well. */
    private static void rest() {
        try {
            Thread.sleep(ACCEPT_RETRY_MS);
        } catch (InterruptedException exception) {
            Thread.currentThread().interrupt();
        }
    }

    private static InetAddress literal(String host) throws UsageException {
        if (!IPV4.matcher(host).matches() && !IPV6.matcher(host).matches()) {
            throw new UsageException("HOST must be an IPv4 or IPv6 address, not " + host);
        }
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException exception) {
            throw new UsageException("HOST must be an IPv4 or IPv6 address, not " + host);
        }
    }

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

    private static void run(Options options) throws IOException, InterruptedException {
        var listener = new ServerSocket();
        listener.bind(options.address(), BACKLOG);
        String host = options.address().getAddress().getHostAddress();
        String shown = host.contains(":") ? "[" + host + "]" : host;
        System.out.println("listening " + shown + ":" + listener.getLocalPort());
        Thread.startVirtualThread(() -> accept(listener, options.service())).join();
        throw new IOException("the thread that accepts has ended");
    }

    public static void main(String[] arguments) {
        try {
            run(Options.parse(arguments));
        } catch (UsageException exception) {
            System.err.println(exception.getMessage());
            System.exit(2);
        } catch (IOException | InterruptedException exception) {
            System.err.println(exception);
            System.exit(1);
        }
    }
}
