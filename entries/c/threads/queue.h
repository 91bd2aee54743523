/* A bounded queue between threads: the channel of this server. */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { QUEUE_MOST = 64 };

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty, not_full;
    size_t room, first, length;
    bool closed;
    void *items[QUEUE_MOST];
};

#define QUEUE_INITIALIZER(room_for)                                                                \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER,                 \
        .not_full = PTHREAD_COND_INITIALIZER, .room = (room_for)                                   \
    }

/* Waits for room. False if the queue is closed. */
static inline bool queue_push(struct queue *queue, void *item) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->length == queue->room && !queue->closed)
        pthread_cond_wait(&queue->not_full, &queue->mutex);
    bool pushed = !queue->closed;
    if (pushed) {
        queue->items[(queue->first + queue->length++) % queue->room] = item;
        pthread_cond_signal(&queue->not_empty);
    }
    pthread_mutex_unlock(&queue->mutex);
    return pushed;
}

/* Waits for an item. NULL if the queue is closed and all its items are taken. */
static inline void *queue_pop(struct queue *queue) {
    void *item = NULL;
    pthread_mutex_lock(&queue->mutex);
    while (queue->length == 0 && !queue->closed)
        pthread_cond_wait(&queue->not_empty, &queue->mutex);
    if (queue->length > 0) {
        item = queue->items[queue->first];
        queue->first = (queue->first + 1) % queue->room;
        queue->length--;
        pthread_cond_signal(&queue->not_full);
    }
    pthread_mutex_unlock(&queue->mutex);
    return item;
}

static inline void queue_close(struct queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_cond_broadcast(&queue->not_full);
    pthread_mutex_unlock(&queue->mutex);
}

#endif
