import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Netty: one group of event loops, on one of its three transports.
 *
 * <p>What the scenarios do stands in the handlers; here are the command line, the transports and
 * the pipelines.
 */
public final class Server {
    private static final int BACKLOG = 4096;
    private static final int HEAD_BYTES_MOST = 16 * 1024;
    private static final int DEFAULT_TIMEOUT_MS = 5000;

    /** What the three transports differ in. */
    private record Transport(IoHandlerFactory loops, Class<? extends ServerChannel> listener) {}

    /** A command line that cannot be used. */
    private static final class UsageException extends Exception {
        UsageException(String message) {
            super(message);
        }
    }

    private record Options(
            Transport transport,
            ChannelInitializer<SocketChannel> pipeline,
            InetSocketAddress address,
            int workers) {

        static Options parse(String[] arguments) throws UsageException {
            if (arguments.length < 5 || arguments.length > 6) {
                throw new UsageException(
                        "usage: Server TRANSPORT SCENARIO HOST PORT WORKERS [TIMEOUT_MS]");
            }
            int timeoutMs = arguments.length == 6
                    ? number("TIMEOUT_MS", arguments[5], 1, Integer.MAX_VALUE)
                    : DEFAULT_TIMEOUT_MS;
            String host = arguments[2];
            if (!NetUtil.isValidIpV4Address(host) && !NetUtil.isValidIpV6Address(host)) {
                throw new UsageException("HOST must be an IPv4 or IPv6 address, not " + host);
            }
            int port = number("PORT", arguments[3], 0, 65535);
            return new Options(
                    transportOf(arguments[0]),
                    pipelineOf(arguments[1], timeoutMs),
                    new InetSocketAddress(NetUtil.createInetAddressFromIpAddressString(host), port),
                    number("WORKERS", arguments[4], 1, 1024));
        }
    }

    private Server() {}

    private static Transport transportOf(String name) throws UsageException {
        return switch (name) {
            case "nio" -> new Transport(NioIoHandler.newFactory(), NioServerSocketChannel.class);
            case "epoll" ->
                new Transport(EpollIoHandler.newFactory(), EpollServerSocketChannel.class);
            case "io_uring" ->
                new Transport(IoUringIoHandler.newFactory(), IoUringServerSocketChannel.class);
            default -> throw new UsageException("unknown transport " + name);
        };
    }

    private static ChannelInitializer<SocketChannel> pipelineOf(String scenario, int timeoutMs)
            throws UsageException {
        return switch (scenario) {
            case "hello" -> initializer(Server::addHello);
            case "hello-timeout" -> initializer(channel -> {
                // It observes the output: a write that goes on slowly is progress.
                channel.pipeline().addLast(
                        new IdleStateHandler(true, 0, 0, timeoutMs, TimeUnit.MILLISECONDS));
                addHello(channel);
            });
            case "echo" -> initializer(channel -> channel.pipeline().addLast(new EchoHandler()));
            default -> throw new UsageException("unknown scenario " + scenario);
        };
    }

    private static void addHello(SocketChannel channel) {
        HttpDecoderConfig config = new HttpDecoderConfig().setMaxHeaderSize(HEAD_BYTES_MOST);
        channel.pipeline().addLast(
                new HttpServerCodec(config), new HttpServerKeepAliveHandler(), new HelloHandler());
    }

    private interface Initializer {
        void initialize(SocketChannel channel);
    }

    private static ChannelInitializer<SocketChannel> initializer(Initializer initializer) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                initializer.initialize(channel);
            }
        };
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

    private static void run(Options options) throws InterruptedException {
        Transport transport = options.transport();
        // The loop that accepts is one of the workers: there are no more threads than WORKERS.
        var loops = new MultiThreadIoEventLoopGroup(options.workers(), transport.loops());
        Channel listener = new ServerBootstrap()
                .group(loops)
                .channel(transport.listener())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .handler(new AcceptHandler())
                .childOption(ChannelOption.TCP_NODELAY, true)
                // What a client asked for before it shut down its side is still answered.
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(options.pipeline())
                .bind(options.address())
                .sync()
                .channel();
        var address = (InetSocketAddress) listener.localAddress();
        System.out.println("listening " + NetUtil.toSocketAddressString(address));
        listener.closeFuture().sync();
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
