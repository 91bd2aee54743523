// One thread per connection with blocking calls: a beginning that does what `hello` asks.
//
// It is deliberately no HTTP server: it only looks for the end of each request head.

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace {

constexpr std::string_view reply =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";
constexpr std::string_view terminator = "\r\n\r\n";
constexpr std::size_t read_bytes = 16 * 1024;
constexpr int backlog = 4096;
constexpr std::chrono::milliseconds accept_retry{50};

bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t taken = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (taken < 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(taken));
    }
    return true;
}

void serve(int fd) {
    std::vector<char> buffer(read_bytes);
    std::string replies;
    std::size_t seen = 0;
    for (ssize_t length; (length = recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
        replies.clear();
        for (const char byte : std::string_view(buffer.data(), static_cast<std::size_t>(length))) {
            // A terminator may be split over any number of reads.
            seen = byte == terminator[seen] ? seen + 1 : byte == '\r' ? 1 : 0;
            if (seen == terminator.size()) {
                seen = 0;
                replies += reply;
            }
        }
        if (!send_all(fd, replies)) {
            break;
        }
    }
    close(fd);
}

int listen_on(const char* host, const char* port) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* address = nullptr;
    if (getaddrinfo(host, port, &hints, &address) != 0) {
        std::cerr << "HOST must be an IPv4 or IPv6 address and PORT a number\n";
        std::exit(2);
    }
    const int on = 1;
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, backlog) < 0) {
        throw std::system_error(errno, std::generic_category(), "listen");
    }
    freeaddrinfo(address);
    return fd;
}

void announce(int listener, const std::string& host) {
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    char port[8];
    getsockname(listener, reinterpret_cast<sockaddr*>(&own), &length);
    getnameinfo(reinterpret_cast<sockaddr*>(&own), length, nullptr, 0, port, sizeof port,
                NI_NUMERICSERV);
    const bool bare = host.find(':') == std::string::npos;
    std::cout << "listening " << (bare ? host : "[" + host + "]") << ":" << port << std::endl;
}

}  // namespace

int main(int count, char** words) {
    if (count < 5 || std::string_view(words[1]) != "hello") {
        std::cerr << "usage: server hello HOST PORT WORKERS [TIMEOUT_MS]\n";
        return 2;
    }
    const int listener = listen_on(words[2], words[3]);
    announce(listener, words[2]);
    for (;;) {
        const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) {
            // Out of descriptors or memory: the next accept would fail at once as well.
            std::this_thread::sleep_for(accept_retry);
            continue;
        }
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        try {
            std::thread(serve, fd).detach();
        } catch (const std::system_error&) {
            close(fd);
        }
    }
}
