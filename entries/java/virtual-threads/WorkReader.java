/**
 * Finds the ends of heads as {@code Server.HeadCounter} does, and reads the work that each head
 * asks for: the target {@code /100} means 100 us, and a target without digits none. A head may be
 * split over any number of reads at any byte.
 */
final class WorkReader {
    // A target follows "GET ", so its digits begin after the slash and are six at most.
    private static final int DIGITS_START = "GET /".length();
    private static final int DIGITS_END = DIGITS_START + 6;

    private byte[] input = {};
    private int position;
    private int length;
    /** The position in the head, which stays at DIGITS_END once the digits are over. */
    private int index;
    private int seen;
    /** The digits so far of a head that has not ended. */
    private int micros;
    private long workNanos;

    /**
     * Takes the input of one read, which follows the input of the call before. {@link #next} must
     * have returned false since, or the rest of that input is lost; the reader does not copy it.
     */
    void feed(byte[] input, int length) {
        this.input = input;
        this.length = length;
        position = 0;
    }

    /** Goes on to the next head that ends in the input. Returns false if there is none. */
    boolean next() {
        while (position < length) {
            byte current = input[position];
            position++;
            readDigit(current);
            if (current == Server.TERMINATOR[seen]) {
                seen++;
            } else {
                seen = current == '\r' ? 1 : 0;
            }
            if (seen == Server.TERMINATOR.length) {
                workNanos = micros * 1000L;
                index = 0;
                seen = 0;
                micros = 0;
                return true;
            }
        }
        return false;
    }

    /** Returns the work of the head that {@link #next} found. */
    long workNanos() {
        return workNanos;
    }

    private void readDigit(byte current) {
        if (index == DIGITS_END) {
            return;
        }
        if (index < DIGITS_START) {
            index++;
        } else if (current >= '0' && current <= '9') {
            micros = micros * 10 + (current - '0');
            index++;
        } else {
            index = DIGITS_END;
        }
    }
}
