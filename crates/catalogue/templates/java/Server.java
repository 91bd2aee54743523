import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * One thread per connection with blocking calls: a beginning that does what `hello` asks.
 *
 * <p>It is deliberately no HTTP server: it only looks for the end of each request head.
 */
public final class Server {
    private static final byte[] REPLY = ("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
            + "Content-Length: 12\r\n\r\nHello world!").getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TERMINATOR = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int READ_BYTES = 16 * 1024;
    private static final int BACKLOG = 4096;
    private static final int ACCEPT_RETRY_MS = 50;

    private Server() {}

    private static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            byte[] buffer = new byte[READ_BYTES];
            // Every head has at least the four bytes of its end.
            byte[] replies = new byte[REPLY.length * READ_BYTES / TERMINATOR.length];
            int seen = 0;
            int length;
            while ((length = in.read(buffer)) > 0) {
                int filled = 0;
                for (int index = 0; index < length; index++) {
                    // A terminator may be split over any number of reads.
                    byte current = buffer[index];
                    seen = current == TERMINATOR[seen] ? seen + 1 : current == '\r' ? 1 : 0;
                    if (seen == TERMINATOR.length) {
                        seen = 0;
                        System.arraycopy(REPLY, 0, replies, filled, REPLY.length);
                        filled += REPLY.length;
                    }
                }
                out.write(replies, 0, filled);
            }
        } catch (IOException reset) {
            // So a connection ends that is reset: there is nobody to tell.
            return;
        }
    }

    public static void main(String[] words) throws IOException, InterruptedException {
        if (words.length < 4 || !words[0].equals("hello")) {
            System.err.println("usage: Server hello HOST PORT WORKERS [TIMEOUT_MS]");
            System.exit(2);
        }
        InetAddress host = InetAddress.getByName(words[1]);
        try (ServerSocket listener = new ServerSocket(Integer.parseInt(words[2]), BACKLOG, host)) {
            String shown = words[1].contains(":") ? "[" + words[1] + "]" : words[1];
            System.out.println("listening " + shown + ":" + listener.getLocalPort());
            while (true) {
                try {
                    Socket socket = listener.accept();
                    new Thread(() -> serve(socket)).start();
                } catch (IOException failed) {
                    // Out of descriptors or memory: the next accept would fail at once as well.
                    Thread.sleep(ACCEPT_RETRY_MS);
                }
            }
        }
    }
}
