// What the sessions have in common: names, the size of a buffer, and the block of replies.
#pragma once
#include <algorithm>
#include <boost/asio.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t read_bytes = 16 * 1024;
constexpr std::string_view reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                   "Content-Length: 12\r\n\r\nHello world!";
constexpr std::size_t replies_per_block = 256;

inline const std::string reply_block = [] {
    std::string block;
    for (std::size_t i = 0; i < replies_per_block; i++)
        block += reply;
    return block;
}();

// The next part of this many bytes of replies, of which `offset` have been sent.
inline asio::const_buffer next_replies(std::size_t offset, std::size_t owed_bytes) {
    offset %= reply.size();
    return asio::buffer(reply_block.data() + offset,
                        std::min(owed_bytes, reply_block.size() - offset));
}
