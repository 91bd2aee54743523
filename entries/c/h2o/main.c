/*
 * libh2o on its own event loop, one process per worker.
 *
 * There is one path, to which h2o's own routing leads every request.
 */
#define _GNU_SOURCE
#define H2O_USE_LIBUV 0
#include "../shared/loop.h"

#include <h2o.h>
#include <h2o/http1.h>
#include <signal.h>

enum {
    ACCEPT_RETRY_MS = 50,
    /* Connections are kept; the default closes a silent one after ten seconds. */
    KEEP_ALIVE_MS = 24 * 60 * 60 * 1000,
    ANY_PORT = 65535,
};

const unsigned known_scenarios = SCENARIO_HELLO;

static h2o_globalconf_t config;
static h2o_context_t context;
static h2o_accept_ctx_t accept_context = {.ctx = &context};
static h2o_socket_t *listening;
static h2o_timeout_t accept_retry;
static h2o_timeout_entry_t retry_entry;

static int answer(h2o_handler_t *handler, h2o_req_t *request) {
    (void)handler;
    static const char body[] = "Hello world!";
    request->res.status = 200;
    request->res.reason = "OK";
    request->res.content_length = sizeof body - 1;
    h2o_add_header(&request->pool, &request->res.headers, H2O_TOKEN_CONTENT_TYPE, NULL,
                   H2O_STRLIT("text/plain"));
    h2o_send_inline(request, H2O_STRLIT(body));
    return 0;
}

static void on_accept(h2o_socket_t *listener, const char *error) {
    if (error != NULL)
        return;
    h2o_socket_t *socket = h2o_evloop_socket_accept(listener);
    if (socket != NULL) {
        h2o_accept(&accept_context, socket);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        /* The next accept would fail at once as well. */
        h2o_socket_read_stop(listener);
        h2o_timeout_link(context.loop, &accept_retry, &retry_entry);
    }
}

static void accept_again(h2o_timeout_entry_t *entry) {
    (void)entry;
    h2o_socket_read_start(listening, on_accept);
}

void prepare_shared(enum scenario wanted) {
    (void)wanted;
    /* h2o writes to sockets with `writev`, which raises it for a closed one. */
    signal(SIGPIPE, SIG_IGN);
    h2o_config_init(&config);
    config.http1.req_timeout = KEEP_ALIVE_MS;
    h2o_hostconf_t *host =
        h2o_config_register_host(&config, h2o_iovec_init(H2O_STRLIT("default")), ANY_PORT);
    h2o_pathconf_t *path = h2o_config_register_path(host, "/", 0);
    h2o_handler_t *handler = h2o_create_handler(path, sizeof *handler);
    handler->on_req = answer;
}

_Noreturn void serve(int listener, enum scenario wanted, void (*ready)(void)) {
    (void)wanted;
    h2o_context_init(&context, h2o_evloop_create(), &config);
    accept_context.hosts = config.hosts;
    h2o_timeout_init(context.loop, &accept_retry, ACCEPT_RETRY_MS);
    retry_entry.cb = accept_again;
    listening = h2o_evloop_socket_create(context.loop, listener, H2O_SOCKET_FLAG_DONT_READ);
    h2o_socket_read_start(listening, on_accept);
    ready();
    while (h2o_evloop_run(context.loop, INT32_MAX) == 0)
        continue;
    perror("h2o_evloop_run");
    exit(1);
}
