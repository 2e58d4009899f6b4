/* parts.c: the parts of a model in their agreed order: behaviors and topics by name, statistics by line, then name. */
#include "reference.h"
#include <stdlib.h>

static int by_name(const void *a, const void *b) {
    const nima_part *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int by_line(const void *a, const void *b) {
    const nima_part *const *x = a, *const *y = b;
    return (*x)->line != (*y)->line ? ((*x)->line < (*y)->line ? -1 : 1) : by_name(a, b);
}

static void **collect(const nima_model *model, nima_part_kind kind, size_t *count,
                      int (*order)(const void *, const void *)) {
    size_t room = 0;
    void **found = NULL;
    *count = 0;
    for (nima_part *const *p = model->parts; p < model->parts_end; p++)
        if (*p && (*p)->kind == kind) {
            found = ref_grow(found, &room, *count + 1, sizeof *found);
            found[(*count)++] = *p;
        }
    if (*count) qsort(found, *count, sizeof *found, order);
    return found;
}

static void *single(const nima_model *model, nima_part_kind kind) {
    size_t count;
    void **found = collect(model, kind, &count, by_name), *one = count ? found[0] : NULL;
    free(found);
    return one;
}

void ref_parts_init(ref_parts *p, const nima_model *model) {
    p->params = single(model, NIMA_PART_PARAMS);
    p->world = single(model, NIMA_PART_WORLD);
    p->behaviors = (nima_behavior **)collect(model, NIMA_PART_BEHAVIOR, &p->behavior_count, by_name);
    p->topics = (nima_topic **)collect(model, NIMA_PART_TOPIC, &p->topic_count, by_name);
    p->reporters = (nima_reporter **)collect(model, NIMA_PART_REPORTER, &p->reporter_count, by_line);
    p->tallies = (nima_tally_stat **)collect(model, NIMA_PART_TALLY, &p->tally_count, by_line);
    p->levels = (nima_level_stat **)collect(model, NIMA_PART_LEVEL, &p->level_count, by_line);
    for (uint32_t i = 0; i < p->behavior_count; i++) p->behaviors[i]->index = i;
    for (uint32_t i = 0; i < p->topic_count; i++) p->topics[i]->index = i;
    for (uint32_t i = 0; i < p->reporter_count; i++) p->reporters[i]->index = i;
    for (uint32_t i = 0; i < p->tally_count; i++) p->tallies[i]->index = i;
    for (uint32_t i = 0; i < p->level_count; i++) p->levels[i]->index = i;
}

void ref_parts_fini(ref_parts *p) {
    free(p->behaviors);
    free(p->topics);
    free(p->reporters);
    free(p->tallies);
    free(p->levels);
}
