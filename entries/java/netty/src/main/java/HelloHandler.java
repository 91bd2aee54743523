import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;

/** Answers each request that Netty's HTTP codec has read, whatever it asks for. */
final class HelloHandler extends ConnectionHandler {
    private static final byte[] BODY = "Hello world!".getBytes(StandardCharsets.US_ASCII);

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            // The end of a request's body is a message too, and needs no reply.
            if (message instanceof HttpRequest request) {
                answer(context, request);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private static void answer(ChannelHandlerContext context, HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            context.close();
            return;
        }
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(BODY));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, BODY.length);
        context.write(response);
    }
}
