// The scenarios with work: how much of it a request asks for, and the work itself.
#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

// Reads the work of requests out of heads, which may be split over any number of reads.
class WorkReader {
  public:
    // Removes the bytes up to the end of the next head from the input and returns its work, or
    // nothing if the input ends before the head does.
    std::optional<std::chrono::microseconds> next(std::string_view &input) {
        for (std::size_t at = 0; at < input.size(); at++) {
            if (position_ < after_digits) {
                read_digit(input[at]);
            } else if (seen_ == 0) {
                at = input.find('\r', at);
                if (at == input.npos)
                    break;
            }
            if (input[at] == "\r\n\r\n"[seen_])
                seen_++;
            else
                seen_ = input[at] == '\r' ? 1 : 0;
            if (seen_ == 4) {
                const std::chrono::microseconds work(work_us_);
                *this = WorkReader();
                input.remove_prefix(at + 1);
                return work;
            }
        }
        input = {};
        return std::nullopt;
    }

  private:
    // The digits of `GET /123456`, at most six, by their place in the head.
    static constexpr unsigned first_digit = 5;
    static constexpr unsigned after_digits = 11;

    void read_digit(char byte) {
        if (position_ < first_digit) {
            position_++;
        } else if (byte >= '0' && byte <= '9') {
            work_us_ = work_us_ * 10 + (byte - '0');
            position_++;
        } else {
            position_ = after_digits;
        }
    }

    // `after_digits` from the first byte on that is not a digit.
    unsigned position_ = 0;
    unsigned seen_ = 0;
    int work_us_ = 0;
};

// Keeps the CPU busy until the monotonic clock has advanced by that much.
inline void work_for(std::chrono::microseconds work) {
    if (work.count() == 0)
        return;
    const auto end = std::chrono::steady_clock::now() + work;
    while (std::chrono::steady_clock::now() < end)
        continue;
}
