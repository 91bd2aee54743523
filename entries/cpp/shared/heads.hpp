// Finds the ends of request heads, which is all of HTTP that the servers on bare sockets know.
#pragma once
#include <cstddef>
#include <cstring>

// Counts ends of heads; a terminator may be split over any number of reads.
class HeadCounter {
  public:
    std::size_t count(const char *bytes, std::size_t length) {
        const char *end = bytes + length;
        std::size_t heads = 0;
        for (; bytes < end; bytes++) {
            if (seen_ == 0) {
                bytes = static_cast<const char *>(std::memchr(bytes, '\r', end - bytes));
                if (bytes == nullptr)
                    break;
            }
            if (*bytes == "\r\n\r\n"[seen_])
                seen_++;
            else
                seen_ = *bytes == '\r' ? 1 : 0;
            if (seen_ == 4) {
                seen_ = 0;
                heads++;
            }
        }
        return heads;
    }

  private:
    unsigned seen_ = 0;
};
