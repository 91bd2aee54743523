// One connection as the RESTinio benchmark measured it: a plain socket, `http::async_read`, and a
// reply that is built on the heap for each request. No strand and no timer.
#pragma once
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <cstddef>
#include <memory>
#include <utility>

class PublishedSession : public std::enable_shared_from_this<PublishedSession> {
  public:
    explicit PublishedSession(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

    void read() {
        // The reader adds to the fields that are there.
        request_ = {};
        boost::beast::http::async_read(
            socket_, buffer_, request_,
            [self = shared_from_this()](boost::beast::error_code error, std::size_t) {
                if (!error)
                    self->answer();
            });
    }

  private:
    using Body = boost::beast::http::string_body;
    using Field = boost::beast::http::field;
    using Response = boost::beast::http::response<Body>;

    void answer() {
        auto response =
            std::make_shared<Response>(boost::beast::http::status::ok, request_.version());
        response->insert(Field::server, "Beast benchmark");
        response->insert(Field::content_type, "text/plain; charset=utf-8");
        response->body() = "Hello world!";
        response->prepare_payload();
        boost::beast::http::async_write(
            socket_, *response,
            [self = shared_from_this(), response](boost::beast::error_code error, std::size_t) {
                if (!error)
                    self->read();
            });
    }

    boost::asio::ip::tcp::socket socket_;
    boost::beast::multi_buffer buffer_;
    boost::beast::http::request<Body> request_;
};
