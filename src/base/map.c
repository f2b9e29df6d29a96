/* map.c - a hash map from bytes to a pointer, with a chain of entries in each slot. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/base.h"

struct map_entry {
    struct map_entry *next;
    uint64_t hash;
    void *value;
    size_t size;
    unsigned char key[];
};

uint64_t hash_bytes(const void *bytes, size_t size) { return XXH3_64bits(bytes, size); }

static struct map_entry **find(const map *m, uint64_t hash, const void *key, size_t size) {
    struct map_entry **at = &m->slots[hash & (m->capacity - 1)];
    while (*at && !((*at)->hash == hash && (*at)->size == size && memcmp((*at)->key, key, size) == 0))
        at = &(*at)->next;
    return at;
}

static bool grow(map *m) {
    map bigger = {.count = m->count, .capacity = m->capacity ? 2 * m->capacity : 64};
    bigger.slots = mem_zero(bigger.capacity, sizeof(struct map_entry *));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < m->capacity; i++)
        for (struct map_entry *e = m->slots[i], *next; e; e = next) {
            next = e->next;
            e->next = bigger.slots[e->hash & (bigger.capacity - 1)];
            bigger.slots[e->hash & (bigger.capacity - 1)] = e;
        }
    mem_free(m->slots);
    *m = bigger;
    return true;
}

void *map_get(const map *m, const void *key, size_t size) {
    if (!m->count)
        return NULL;
    struct map_entry *e = *find(m, hash_bytes(key, size), key, size);
    return e ? e->value : NULL;
}

bool map_put(map *m, const void *key, size_t size, void *value) {
    uint64_t hash = hash_bytes(key, size);
    if (m->count >= m->capacity && !grow(m))
        return false;
    struct map_entry **at = find(m, hash, key, size);
    if (*at) {
        (*at)->value = value;
        return true;
    }
    struct map_entry *e = mem_alloc(sizeof *e + size);
    if (!e)
        return false;
    *e = (struct map_entry){.hash = hash, .value = value, .size = size};
    memcpy(e->key, key, size);
    *at = e;
    m->count++;
    return true;
}

void *map_remove(map *m, const void *key, size_t size) {
    if (!m->count)
        return NULL;
    struct map_entry **at = find(m, hash_bytes(key, size), key, size), *e = *at;
    if (!e)
        return NULL;
    void *value = e->value;
    *at = e->next;
    mem_free(e);
    m->count--;
    return value;
}

void map_free(map *m) {
    for (size_t i = 0; i < m->capacity; i++)
        for (struct map_entry *e = m->slots[i], *next; e; e = next) {
            next = e->next;
            mem_free(e);
        }
    mem_free(m->slots);
    *m = (map){0};
}
