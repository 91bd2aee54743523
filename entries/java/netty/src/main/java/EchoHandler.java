import io.netty.channel.ChannelHandlerContext;

/** Writes back what was read; the buffer itself travels, nothing is copied. */
final class EchoHandler extends ConnectionHandler {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        context.write(message);
    }
}
