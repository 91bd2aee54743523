import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;

/**
 * Lets a listening socket rest for a moment when accept fails.
 *
 * <p>Netty does so too, but logs the failure first, and without descriptors the JDK's logging
 * cannot read the time zone: its error would end the loop.
 */
final class AcceptHandler extends ChannelInboundHandlerAdapter {
    private static final int ACCEPT_RETRY_MS = 50;

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        ChannelConfig config = context.channel().config();
        if (config.isAutoRead()) {
            config.setAutoRead(false);
            context.executor().schedule(
                    () -> config.setAutoRead(true), ACCEPT_RETRY_MS, TimeUnit.MILLISECONDS);
        }
    }
}
