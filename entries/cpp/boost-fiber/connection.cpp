// The scenarios: a fiber per connection, in `handoff` two, which read as if their calls blocked.
#include "connection.hpp"
#include "../shared/heads.hpp"
#include "../shared/work.hpp"

#include <algorithm>
#include <boost/fiber/all.hpp>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

namespace fibers = boost::fibers;
using Microseconds = std::chrono::microseconds;

namespace {

constexpr std::string_view reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                   "Content-Length: 12\r\n\r\nHello world!";
constexpr std::size_t replies_per_block = 256;
constexpr std::size_t read_bytes = 16 * 1024;

// A channel's capacity must be a power of two, and one place of it always stays empty.
constexpr std::size_t capacity_for_one = 2;
constexpr std::size_t capacity_of_questions = 64;

// What is sent says nothing by itself, since all answers and all replies are equal.
struct Signal {};
using Signals = fibers::buffered_channel<Signal>;

struct Question {
    Microseconds work;
    Signals *answers;
};

// The one lock of `mutex` and the one channel of `channel`.
fibers::mutex shared_lock;
fibers::buffered_channel<Question> questions(capacity_of_questions);

const std::string reply_block = [] {
    std::string block;
    for (std::size_t i = 0; i < replies_per_block; i++)
        block += reply;
    return block;
}();

bool write_replies(Socket &socket, std::size_t count) {
    for (std::size_t batch; count > 0; count -= batch) {
        batch = std::min(count, replies_per_block);
        if (!socket.write(reply_block.data(), batch * reply.size()))
            return false;
    }
    return true;
}

void answer_questions() {
    Question question;
    while (questions.pop(question) == fibers::channel_op_status::success) {
        work_for(question.work);
        question.answers->push(Signal());
    }
}

// Calls `answer(length)` after each read until the end of the stream, or until it returns false.
template <class Answer> void for_each_read(Socket &socket, char *buffer, Answer answer) {
    for (;;) {
        const ssize_t length = socket.read(buffer, read_bytes);
        if (length <= 0 || !answer(static_cast<std::size_t>(length)))
            return;
    }
}

void serve_hello(Socket &socket) {
    char buffer[read_bytes];
    HeadCounter heads;
    for_each_read(socket, buffer, [&](std::size_t length) {
        return write_replies(socket, heads.count(buffer, length));
    });
}

void serve_echo(Socket &socket) {
    char buffer[read_bytes];
    for_each_read(socket, buffer, [&](std::size_t length) { return socket.write(buffer, length); });
}

// Calls `work` with the work of each request of a read, and then writes their replies together.
template <class Work> void serve_with_work(Socket &socket, Work work) {
    char buffer[read_bytes];
    WorkReader reader;
    for_each_read(socket, buffer, [&](std::size_t length) {
        std::string_view input(buffer, length);
        std::size_t replies = 0;
        for (; const auto microseconds = reader.next(input); replies++)
            work(*microseconds);
        return write_replies(socket, replies);
    });
}

void serve_mutex(Socket &socket) {
    serve_with_work(socket, [](Microseconds work) {
        std::lock_guard held(shared_lock);
        work_for(work);
    });
}

void serve_channel(Socket &socket) {
    Signals answers(capacity_for_one);
    serve_with_work(socket, [&](Microseconds work) {
        Signal answer;
        questions.push({work, &answers});
        answers.pop(answer);
    });
}

// The second fiber of a connection.
void write_each(Socket &socket, Signals &replies) {
    Signal one;
    while (replies.pop(one) == fibers::channel_op_status::success) {
        if (socket.write(reply.data(), reply.size()))
            continue;
        // The first fiber may wait for room in the channel or for bytes of the client.
        replies.close();
        socket.shut_down();
    }
}

void serve_handoff(Socket &socket) {
    Signals replies(capacity_for_one);
    fibers::fiber writer([&] { write_each(socket, replies); });
    char buffer[read_bytes];
    WorkReader reader;
    for_each_read(socket, buffer, [&](std::size_t length) {
        std::string_view input(buffer, length);
        while (const auto work = reader.next(input)) {
            if (replies.push(Signal()) != fibers::channel_op_status::success)
                return false;
            work_for(*work);
        }
        return true;
    });
    replies.close();
    writer.join();
}

void serve_scenario(Socket &socket, Scenario scenario) {
    switch (scenario) {
    case Scenario::hello:
    case Scenario::hello_timeout:
        return serve_hello(socket);
    case Scenario::echo:
        return serve_echo(socket);
    case Scenario::mutex:
        return serve_mutex(socket);
    case Scenario::channel:
        return serve_channel(socket);
    case Scenario::skewed:
        return serve_with_work(socket, work_for);
    case Scenario::handoff:
        return serve_handoff(socket);
    }
}

} // namespace

void prepare_scenario(Scenario scenario) {
    if (scenario == Scenario::channel)
        fibers::fiber(answer_questions).detach();
}

void serve_connection(Socket &socket, Scenario scenario) {
    try {
        serve_scenario(socket, scenario);
    } catch (const std::exception &) {
        // Out of memory for a channel or a second fiber: only this connection ends.
    }
}
