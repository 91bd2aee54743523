# wirebench in a small image, for an ordinary user:
#   docker build -t wirebench . && docker run --rm --network host wirebench load -d5s http://127.0.0.1:8080/
# Docker's default seccomp profile forbids io_uring; wirebench then uses epoll, and says so.
FROM rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package wirebench

FROM debian:bookworm-slim
RUN useradd --create-home --uid 1000 wirebench
COPY --from=build /source/target/release/wirebench /usr/local/bin/
USER 1000
WORKDIR /home/wirebench
ENTRYPOINT ["wirebench"]
CMD ["--help"]
