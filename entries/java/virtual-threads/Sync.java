import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The scenarios in which virtual threads wait for each other: mutex, channel, skewed and handoff.
 *
 * <p>Locks and queues are those of java.util.concurrent, which park a virtual thread. A
 * synchronized block would hold its carrier as well in versions of the JDK before 24.
 */
final class Sync {
    private static final int CHANNEL_ROOM = 64;
    private static final int HANDOFF_ROOM = 1;

    /** What is done for one request before its reply. */
    private interface Step {
        void run(long workNanos) throws InterruptedException;
    }

    /** What a connection sends to the answering thread. */
    private record Request(long workNanos, BlockingQueue<Boolean> answers) {}

    private Sync() {}

    /** Makes the lock that all connections share. */
    static Server.Service mutex() {
        var lock = new ReentrantLock();
        return socket -> serve(socket, workNanos -> {
            lock.lock();
            try {
                work(workNanos);
            } finally {
                lock.unlock();
            }
        });
    }

    /** Starts the only thread that answers requests. */
    static Server.Service channel() {
        var requests = new ArrayBlockingQueue<Request>(CHANNEL_ROOM);
        Thread.startVirtualThread(() -> answer(requests));
        return socket -> {
            // A connection waits for one answer at a time. With room for it, the answering thread
            // never waits for a connection.
            var answers = new ArrayBlockingQueue<Boolean>(1);
            serve(socket, workNanos -> {
                requests.put(new Request(workNanos, answers));
                answers.take();
            });
        };
    }

    private static void answer(BlockingQueue<Request> requests) {
        try {
            while (true) {
                Request request = requests.take();
                work(request.workNanos());
                request.answers().put(true);
            }
        } catch (InterruptedException exception) {
            throw new IllegalStateException("the answering thread is never interrupted", exception);
        }
    }

    static void serveSkewed(Socket socket) throws IOException, InterruptedException {
        serve(socket, Sync::work);
    }

    /** Runs a step for each request. Like hello, it answers all requests of one read at once. */
    private static void serve(Socket socket, Step step) throws IOException, InterruptedException {
        InputStream input = socket.getInputStream();
        OutputStream output = socket.getOutputStream();
        var reader = new WorkReader();
        byte[] buffer = new byte[Server.READ_BYTES];
        for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
            int heads = 0;
            for (reader.feed(buffer, length); reader.next(); heads++) {
                step.run(reader.workNanos());
            }
            Server.reply(heads, (block, bytes) -> output.write(block, 0, bytes));
        }
    }

    /** Has a second thread write the replies, and returns when that one has ended too. */
    static void serveHandoff(Socket socket) throws IOException, InterruptedException {
        var requests = new ArrayBlockingQueue<Boolean>(HANDOFF_ROOM);
        Thread writer = Thread.startVirtualThread(() -> writeReplies(socket, requests));
        try {
            passRequests(socket, requests);
        } finally {
            // At the end of the stream, the writer still writes the replies that are due.
            requests.put(false);
            writer.join();
        }
    }

    /** Passes each request on before it works, until the writer has closed a broken connection. */
    private static void passRequests(Socket socket, BlockingQueue<Boolean> requests)
            throws IOException, InterruptedException {
        InputStream input = socket.getInputStream();
        var reader = new WorkReader();
        byte[] buffer = new byte[Server.READ_BYTES];
        for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
            reader.feed(buffer, length);
            while (!socket.isClosed() && reader.next()) {
                requests.put(true);
                work(reader.workNanos());
            }
        }
    }

    /**
     * Writes a reply for each true in the queue, and ends at the first false. It goes on after a
     * failure, because the first thread would wait for ever for room in a full queue.
     */
    private static void writeReplies(Socket socket, BlockingQueue<Boolean> requests) {
        try {
            while (requests.take()) {
                writeReply(socket);
            }
        } catch (InterruptedException exception) {
            throw new IllegalStateException("the writer is never interrupted", exception);
        }
    }

    private static void writeReply(Socket socket) {
        try {
            OutputStream output = socket.getOutputStream();
            Server.reply(1, (block, bytes) -> output.write(block, 0, bytes));
        } catch (IOException exception) {
            // Otherwise the first thread could wait in a read for a peer that is gone.
            Server.close(socket);
        }
    }

    /**
     * Keeps the CPU busy. It never yields, because a request that works is meant to take its
     * carrier away from all others.
     */
    private static void work(long nanos) {
        if (nanos == 0) {
            return;
        }
        for (long start = System.nanoTime(); System.nanoTime() - start < nanos; ) {}
    }
}
