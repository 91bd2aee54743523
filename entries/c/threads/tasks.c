/*
 * The scenarios with work: `mutex`, `channel`, `skewed` and `handoff`, each with a function that
 * gets the work of one request. A connection has one thread, in `handoff` two.
 */
#define _GNU_SOURCE
#include "../shared/work.h"
#include "connection.h"
#include "queue.h"

#include <unistd.h>

/* A request on its way to the answering thread; it is on the stack of the connection's thread. */
struct question {
    long work_us;
    bool answered;
    pthread_mutex_t mutex;
    pthread_cond_t answer;
};

/* The second thread of a connection writes the replies. */
struct writer {
    int fd;
    pthread_t thread;
    struct queue replies;
};

/* The one lock of `mutex` and the one channel of `channel`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue questions = QUEUE_INITIALIZER(64);

/* The signal comes under the lock, because the question is gone as soon as its thread has it. */
static void *answer_questions(void *argument) {
    for (;;) {
        struct question *question = queue_pop(&questions);
        work_for_us(question->work_us);
        pthread_mutex_lock(&question->mutex);
        question->answered = true;
        pthread_cond_signal(&question->answer);
        pthread_mutex_unlock(&question->mutex);
    }
    return argument;
}

static void ask(struct question *question, long work_us) {
    question->work_us = work_us;
    question->answered = false;
    queue_push(&questions, question);
    pthread_mutex_lock(&question->mutex);
    while (!question->answered)
        pthread_cond_wait(&question->answer, &question->mutex);
    pthread_mutex_unlock(&question->mutex);
}

void prepare_tasks(enum scenario scenario) {
    pthread_t thread;
    if (scenario != SCENARIO_CHANNEL)
        return;
    if (start_thread(&thread, PTHREAD_CREATE_DETACHED, answer_questions, NULL) != 0) {
        fprintf(stderr, "cannot start the answering thread\n");
        exit(1);
    }
}

static void work_with_lock(long work_us) {
    pthread_mutex_lock(&lock);
    work_for_us(work_us);
    pthread_mutex_unlock(&lock);
}

/* Works on all requests of a read and writes their replies together. */
static void serve_alone(int fd, enum scenario scenario) {
    struct question question = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                                .answer = PTHREAD_COND_INITIALIZER};
    struct work_reader reader = {0};
    char buffer[READ_BYTES];
    enum outcome outcome = DONE;
    while (outcome == DONE) {
        ssize_t length = recv(fd, buffer, sizeof buffer, 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            break;
        const char *bytes = buffer;
        size_t replies = 0;
        for (long work_us; next_work(&reader, &bytes, buffer + length, &work_us); replies++) {
            if (scenario == SCENARIO_MUTEX)
                work_with_lock(work_us);
            else if (scenario == SCENARIO_CHANNEL)
                ask(&question, work_us);
            else
                work_for_us(work_us);
        }
        outcome = send_replies(fd, replies);
    }
}

static void *write_replies(void *argument) {
    struct writer *writer = argument;
    while (queue_pop(&writer->replies) != NULL) {
        if (send_replies(writer->fd, 1) == DONE)
            continue;
        /* The first thread may wait for room in the queue or for bytes of the client. */
        queue_close(&writer->replies);
        shutdown(writer->fd, SHUT_RDWR);
    }
    return NULL;
}

/* An item of the queue only says that there is one more reply, since all replies are equal. */
static void pass_replies(struct writer *writer) {
    struct work_reader reader = {0};
    char buffer[READ_BYTES];
    for (;;) {
        ssize_t length = recv(writer->fd, buffer, sizeof buffer, 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return;
        const char *bytes = buffer;
        for (long work_us; next_work(&reader, &bytes, buffer + length, &work_us);) {
            if (!queue_push(&writer->replies, writer))
                return;
            work_for_us(work_us);
        }
    }
}

static void serve_with_writer(int fd) {
    struct writer writer = {.fd = fd, .replies = QUEUE_INITIALIZER(1)};
    if (start_thread(&writer.thread, PTHREAD_CREATE_JOINABLE, write_replies, &writer) != 0)
        return;
    pass_replies(&writer);
    queue_close(&writer.replies);
    pthread_join(writer.thread, NULL);
}

void serve_with_work(int fd, enum scenario scenario) {
    if (scenario == SCENARIO_HANDOFF)
        serve_with_writer(fd);
    else
        serve_alone(fd, scenario);
}
