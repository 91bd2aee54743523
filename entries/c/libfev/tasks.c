/*
 * The scenarios with work: `mutex`, `channel`, `skewed` and `handoff`, with the mutex, the semaphores
 * and the fibers of libfev. It has no channel, so this file makes one of semaphores and a ring.
 */
#define _GNU_SOURCE
#include "../shared/work.h"
#include "connection.h"

#include <stdatomic.h>

enum { QUESTIONS_MOST = 64 };

/* A request on its way to the answering fiber; it is on the stack of the connection's fiber. */
struct question {
    long work_us;
    struct fev_sem *answer;
};

/* The one channel of `channel`; only the answering fiber takes from it. */
static struct {
    struct fev_sem *room, *items;
    struct question *ring[QUESTIONS_MOST];
    unsigned first, last;
} questions;

/* The one lock of `mutex`; in `channel`, that of the fibers that put questions into the ring. */
static struct fev_mutex *lock;

/* The second fiber of a connection writes the replies. It gets them through a place for one. */
enum item { ONE_REPLY, END };
struct writer {
    struct fev_socket *socket;
    struct fev_sem *room, *items;
    enum item place;
    atomic_bool is_broken;
};

static void *answer_questions(void *argument) {
    for (;;) {
        fev_sem_wait(questions.items);
        struct question *question = questions.ring[questions.first++ % QUESTIONS_MOST];
        fev_sem_post(questions.room);
        work_for_us(question->work_us);
        fev_sem_post(question->answer);
    }
    return argument;
}

int prepare_tasks(struct fev_sched *scheduler, enum scenario scenario) {
    int result = fev_mutex_create(&lock);
    if (result < 0 || scenario != SCENARIO_CHANNEL)
        return result;
    result = fev_sem_create(&questions.room, QUESTIONS_MOST);
    if (result == 0)
        result = fev_sem_create(&questions.items, 0);
    if (result == 0)
        result = fev_fiber_spawn(scheduler, answer_questions, NULL);
    return result;
}

static void ask(struct question *question, long work_us) {
    question->work_us = work_us;
    fev_sem_wait(questions.room);
    fev_mutex_lock(lock);
    questions.ring[questions.last++ % QUESTIONS_MOST] = question;
    fev_mutex_unlock(lock);
    fev_sem_post(questions.items);
    fev_sem_wait(question->answer);
}

static void work_with_lock(long work_us) {
    fev_mutex_lock(lock);
    work_for_us(work_us);
    fev_mutex_unlock(lock);
}

/* Works on all requests of a read and writes their replies together. */
static void serve_alone(struct fev_socket *socket, enum scenario scenario) {
    struct question question;
    struct work_reader reader = {0};
    char buffer[READ_BYTES];
    if (fev_sem_create(&question.answer, 0) < 0)
        return;
    enum outcome outcome = DONE;
    while (outcome == DONE) {
        ssize_t length = read_some(socket, buffer);
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
        outcome = write_replies(socket, replies);
    }
    /* The answering fiber may still hold the lock inside the semaphore: the post waits for it. */
    fev_sem_post(question.answer);
    fev_sem_destroy(question.answer);
}

static void *write_each(void *argument) {
    struct writer *writer = argument;
    for (;;) {
        fev_sem_wait(writer->items);
        enum item item = writer->place;
        fev_sem_post(writer->room);
        if (item == END)
            return NULL;
        if (!writer->is_broken && write_replies(writer->socket, 1) == BROKEN) {
            writer->is_broken = true;
            /* The first fiber may wait for bytes of the client. */
            shutdown(fev_socket_native_handle(writer->socket), SHUT_RDWR);
        }
    }
}

/* Waits for room. False if the connection is broken. */
static bool pass(struct writer *writer, enum item item) {
    fev_sem_wait(writer->room);
    writer->place = item;
    fev_sem_post(writer->items);
    return !writer->is_broken;
}

static void pass_replies(struct writer *writer) {
    struct work_reader reader = {0};
    char buffer[READ_BYTES];
    for (;;) {
        ssize_t length = read_some(writer->socket, buffer);
        if (length <= 0)
            return;
        const char *bytes = buffer;
        for (long work_us; next_work(&reader, &bytes, buffer + length, &work_us);) {
            if (!pass(writer, ONE_REPLY))
                return;
            work_for_us(work_us);
        }
    }
}

static void serve_with_writer(struct fev_socket *socket) {
    struct writer writer = {.socket = socket};
    struct fev_fiber *fiber;
    if (fev_sem_create(&writer.room, 1) < 0)
        return;
    if (fev_sem_create(&writer.items, 0) == 0) {
        if (fev_fiber_create(&fiber, NULL, write_each, &writer, NULL) == 0) {
            pass_replies(&writer);
            pass(&writer, END);
            fev_fiber_join(fiber, NULL);
        }
        fev_sem_destroy(writer.items);
    }
    fev_sem_destroy(writer.room);
}

void serve_with_work(struct fev_socket *socket, enum scenario scenario) {
    if (scenario == SCENARIO_HANDOFF)
        serve_with_writer(socket);
    else
        serve_alone(socket, scenario);
}
