/* SPDX-License-Identifier: Apache-2.0 */
/* The reader on blocks laid out by hand: what is right is read, each kind of damage is counted where it is and costs no
 * more than itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/checksum.h"
#include "trace/record_types.h"
#include "trace_fixture.h"

static void read_builder(const struct builder *builder, size_t size, struct seen *seen)
{
    struct trace_error error;
    assert_true(read_all(trace_reader_open_memory(builder->bytes, size, &error), seen, NULL, NULL));
}

static void every_type_has_its_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < record_type_count; i++) {
        const struct record_type *row = &record_types[i];
        assert_ptr_equal(record_type_find((uint16_t)row->type), row);
        assert_true(row->least_bytes >= sizeof(struct trace_record) && row->least_bytes % 8 == 0);
        if (row->refers_to)
            assert_true(record_type_find((uint16_t)row->refers_to)->is_content);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(row->name, record_types[j].name);
    }
    assert_null(record_type_find(0));
    assert_null(record_type_find((uint16_t)(record_type_count + 1)));
    assert_int_equal(record_type_count, TRACE_RECORD_SUM_HELPER);
}

static void whole_trace(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    builder_small(&b, 5);
    read_builder(&b, b.size, &seen);
    assert_int_equal(seen.stats.records, 9);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 5);
    assert_true(seen.stats.ended);
    assert_false(seen.stats.cut_short);
    assert_int_equal(seen.stats.blocks_sealed, 1);
    assert_int_equal(seen.stats.blocks_damaged + seen.stats.records_damaged + seen.stats.records_unknown, 0);
    builder_free(&b);
}

/* Cut at every 8th byte: never more than what lies before the cut, never less than the whole records there. */
static void cut_anywhere(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    builder_small(&b, 40);
    uint64_t last = 0;
    for (size_t size = TRACE_HEADER_BYTES; size <= b.position; size += 4) {
        read_builder(&b, size, &seen);
        assert_true(seen.stats.cut_short);
        assert_true(seen.stats.records >= last);
        assert_int_equal(seen.stats.records_damaged + seen.stats.blocks_damaged, 0);
        last = seen.stats.records;
    }
    assert_int_equal(last, 44);
    builder_free(&b);
}

static void one_damaged_record_costs_itself(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    builder_small(&b, 100);
    /* the size of the 50th call, its commit word, its reference */
    uint32_t call = b.position - 16 - 51 * 64;
    for (int what = 0; what < 5; what++) {
        struct trace_call saved, *record = (void *)builder_record(&b, call);
        saved = *record;
        if (what == 0)
            record->record.size = 65528;
        else if (what == 1)
            record->record.size = 68; /* no multiple of 8 */
        else if (what == 2)
            record->record.size = 0;
        else if (what == 3)
            record->record.commit ^= 2;
        else
            record->signature_offset += 8;
        read_builder(&b, b.size, &seen);
        assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 99);
        assert_int_equal(seen.stats.records_damaged, 1);
        assert_int_equal(seen.stats.blocks_damaged, 1);
        assert_true(seen.stats.ended);
        *record = saved;
    }
    builder_free(&b);
}

static void references_must_lead_back_to_their_type(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    builder_block(&b, TRACE_BLOCK_RECORDS);
    struct trace_launch_shape shape = {.entry = 2};
    uint32_t signature = builder_signature(&b, 1);
    uint32_t other = builder_add(&b, TRACE_RECORD_LAUNCH_SHAPE, &shape, sizeof shape);
    builder_call(&b, signature, 1);
    builder_call(&b, other, 2);           /* a launch shape */
    builder_call(&b, signature + 8, 3);   /* into a record */
    builder_call(&b, signature + 4, 4);   /* not aligned */
    builder_call(&b, b.position + 64, 5); /* ahead */
    builder_call(&b, 0, 6);               /* the header */
    builder_call(&b, 0xfffffff8u, 7);     /* far outside */
    builder_signature(&b, 2);             /* where call 5 points to */
    struct trace_launch launch = {.shape_offset = other};
    builder_add(&b, TRACE_RECORD_LAUNCH, &launch, sizeof launch);
    launch.shape_offset = signature;
    builder_add(&b, TRACE_RECORD_LAUNCH, &launch, sizeof launch);
    builder_end(&b);
    builder_seal(&b);
    read_builder(&b, b.size, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 1);
    assert_int_equal(seen.of_type[TRACE_RECORD_LAUNCH], 1);
    assert_int_equal(seen.stats.records_damaged, 7);
    assert_int_equal(seen.stats.blocks_damaged, 0);
    builder_free(&b);
}

static void contents_must_match_their_id(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    builder_block(&b, TRACE_BLOCK_RECORDS);
    uint32_t signature = builder_signature(&b, 1);
    ((struct trace_signature *)(void *)builder_record(&b, signature))->n = 999;
    builder_call(&b, signature, 1);
    builder_end(&b);
    read_builder(&b, b.size, &seen);
    assert_int_equal(seen.stats.records, 1);
    assert_int_equal(seen.stats.records_damaged, 2);
    builder_free(&b);
}

static void text_must_fit(void **state)
{
    (void)state;
    for (int what = 0; what < 7; what++) {
        struct builder b = {0};
        struct seen seen;
        builder_block(&b, TRACE_BLOCK_RECORDS);
        struct trace_process *process = (void *)builder_record(&b, builder_text(&b, TRACE_RECORD_PROCESS, "cmd"));
        struct trace_entry *entry = (void *)builder_record(&b, builder_text(&b, TRACE_RECORD_ENTRY, "name"));
        struct trace_note *note = (void *)builder_record(&b, builder_text(&b, TRACE_RECORD_NOTE, "note"));
        struct trace_name *name = (void *)builder_record(&b, builder_text(&b, TRACE_RECORD_NAME, "kernel"));
        struct trace_device device = {.ordinal = 0};
        uint32_t at = builder_add(&b, TRACE_RECORD_DEVICE, &device, sizeof device);
        if (what == 1)
            process->version_bytes = 65535;
        if (what == 2)
            entry->name_bytes = 9;
        if (what == 3)
            note->text_bytes = 0xffffffffu;
        if (what == 4)
            name->name_bytes = name->full_bytes = 9;
        if (what == 5)
            name->full_bytes = 1; /* less than what is here */
        if (what == 6)
            memset(((struct trace_device *)(void *)builder_record(&b, at))->name, 'x', TRACE_DEVICE_NAME_BYTES);
        builder_end(&b);
        read_builder(&b, b.size, &seen);
        assert_int_equal(seen.stats.records, what ? 5 : 6);
        assert_int_equal(seen.stats.records_damaged, what ? 1 : 0);
        builder_free(&b);
    }
}

/* A later minor version: types we don't know, records that grew at their end, bits we don't know in the header. */
static void later_minor_versions_are_read(void **state)
{
    struct builder b = {0};
    struct seen seen;
    unsigned char longer[sizeof(struct trace_call) + 16] = {0};
    (void)state;
    builder_block(&b, TRACE_BLOCK_RECORDS);
    builder_header(&b)->version_minor = 9;
    builder_header(&b)->reserved[sizeof builder_header(&b)->reserved / sizeof(uint64_t) - 1] = 1;
    uint32_t signature = builder_signature(&b, 1);
    builder_add(&b, 4000, longer, 24);
    ((struct trace_call *)(void *)longer)->signature_offset = signature;
    builder_add(&b, TRACE_RECORD_CALL, longer, sizeof longer);
    builder_end(&b);
    builder_seal(&b);
    read_builder(&b, b.size, &seen);
    assert_int_equal(seen.stats.records, 3);
    assert_int_equal(seen.stats.records_unknown, 1);
    assert_int_equal(seen.stats.records_damaged, 0);
    builder_free(&b);
}

static void see_signature(const struct trace_item *item, void *context)
{
    if (item->signature)
        ((struct trace_signature *)context)[item->record->type == TRACE_RECORD_CALL] = *item->signature;
}

/* A signature as version 1.0 wrote it, 216 bytes: what came later is unknown, and what lies behind it is not taken for it. */
static void older_signatures_are_completed(void **state)
{
    struct builder b = {0};
    struct seen seen;
    struct trace_error error;
    struct trace_signature signature = {.entry = 1, .m = 5, .n = 2, .k = 3, .batch = 1, .aux_ld = 77}, got[2] = {0};
    (void)state;
    builder_block(&b, TRACE_BLOCK_RECORDS);
    builder_call(&b, builder_add(&b, TRACE_RECORD_SIGNATURE, &signature, 216), 0xdeadbeef);
    builder_end(&b);
    builder_seal(&b);
    assert_true(read_all(trace_reader_open_memory(b.bytes, b.size, &error), &seen, see_signature, got));
    assert_int_equal(seen.stats.records, 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(got[i].m, 5);
        assert_int_equal(got[i].aux_ld, 77);
        assert_int_equal(got[i].groups_id, 0);
        for (int operand = 0; operand < 4; operand++)
            assert_int_equal(got[i].plane_offset[operand], TRACE_UNKNOWN);
    }
    builder_free(&b);
}

/* COUNT is what the record claims to hold; FLIP changes a bit of a group after the id was made. */
static uint64_t groups_damaged(uint32_t count, uint32_t holds, bool flip)
{
    struct builder b = {0};
    struct seen seen;
    struct {
        struct trace_groups fixed;
        struct trace_group group[2];
    } record = {.fixed = {.count = count}, .group = {{.m = 3, .n = 5, .k = 7, .batch = 1}, {.m = 9, .batch = 2}}};
    record.fixed.id = trace_hash(record.group, (count > 2 ? 2 : count) * (uint32_t)sizeof *record.group);
    record.group[0].m ^= flip;
    builder_block(&b, TRACE_BLOCK_RECORDS);
    builder_add(&b, TRACE_RECORD_GROUPS, &record, sizeof record.fixed + holds * sizeof *record.group);
    builder_end(&b);
    builder_seal(&b);
    read_builder(&b, b.size, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_GROUPS] + seen.stats.records_damaged, 1);
    builder_free(&b);
    return seen.stats.records_damaged;
}

static void groups_are_checked(void **state)
{
    (void)state;
    assert_int_equal(groups_damaged(2, 2, false), 0);
    assert_int_equal(groups_damaged(1, 2, false), 0); /* longer than it needs to be, as a later version's may be */
    assert_int_equal(groups_damaged(2, 1, false), 1);
    assert_int_equal(groups_damaged(0x4000001, 2, false), 1);
    assert_int_equal(groups_damaged(0, 2, false), 1);
    assert_int_equal(groups_damaged(2, 2, true), 1);
}

static void blocks_stand_alone(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    for (int i = 0; i < 6; i++)
        builder_small(&b, 10);
    struct trace_block_header *second = (void *)(b.bytes + TRACE_BLOCK_BYTES);
    struct trace_block_header *third = (void *)(b.bytes + 2 * TRACE_BLOCK_BYTES);
    struct trace_block_header *fourth = (void *)(b.bytes + 3 * TRACE_BLOCK_BYTES);
    struct trace_block_header *last = (void *)(b.bytes + 5 * TRACE_BLOCK_BYTES);
    second->magic = 1;
    third->version_major = 2;
    memset(fourth, 0, TRACE_BLOCK_BYTES);
    last->magic = last->state = 0; /* killed while it was being prepared */
    read_builder(&b, b.size, &seen);
    assert_int_equal(seen.of_type[TRACE_RECORD_CALL], 20);
    assert_int_equal(seen.stats.blocks, 6);
    assert_int_equal(seen.stats.blocks_damaged, 2);
    assert_int_equal(seen.stats.blocks_free, 2);
    builder_free(&b);
}

/* What a block held in an earlier use has commit words of that use: it is never taken for a record of now. */
static void recycled_blocks_show_nothing_old(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    builder_small(&b, 900);
    for (uint64_t sequence = 2; sequence < 2000; sequence++) {
        builder_header(&b)->sequence = sequence;
        builder_header(&b)->state = TRACE_BLOCK_OPEN;
        b.sequence = sequence;
        b.position = TRACE_HEADER_BYTES;
        uint32_t signature = builder_signature(&b, (int64_t)sequence);
        for (uint64_t i = 0; i < sequence % 7; i++)
            builder_call(&b, signature, i);
        read_builder(&b, b.size, &seen);
        assert_int_equal(seen.stats.records, 1 + sequence % 7);
    }
    builder_free(&b);
}

static void slots_and_counters(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    builder_small(&b, 1);
    for (int i = 0; i < 2; i++) {
        builder_block(&b, TRACE_BLOCK_SLOTS);
        struct trace_counters *counters = (void *)builder_record(&b, TRACE_HEADER_BYTES);
        struct trace_slot *slot = (void *)(counters + 1);
        counters->names_cut = 3;
        counters->kernels_unjoined = i ? UINT64_MAX : 5; /* sums saturate */
        slot[0].tid = 5;
        slot[0].calls_begun = 10;
        slot[3].calls_begun = 7; /* free, but counted before */
        slot[508].records_dropped = 2;
    }
    read_builder(&b, b.size, &seen);
    assert_int_equal(seen.counters.names_cut, 6);
    assert_true(seen.counters.kernels_unjoined == UINT64_MAX);
    assert_int_equal(seen.slots, 6);
    assert_int_equal(seen.slot_calls, 34);
    assert_int_equal(seen.slot_drops, 4);
    read_builder(&b, b.size - 128, &seen); /* the last slot is cut off */
    assert_int_equal(seen.slots, 5);
    builder_free(&b);
}

static void more_slots_blocks_than_a_writer_makes(void **state)
{
    struct builder b = {0};
    struct seen seen;
    (void)state;
    builder_small(&b, 1);
    for (int i = 0; i < 70; i++) {
        builder_block(&b, TRACE_BLOCK_SLOTS);
        memset(builder_record(&b, TRACE_HEADER_BYTES), 1, TRACE_BLOCK_BYTES - TRACE_HEADER_BYTES);
    }
    read_builder(&b, b.size, &seen);
    assert_int_equal(seen.slots, 64 * 509);
    assert_int_equal(seen.stats.blocks_damaged, 6);
    builder_free(&b);
}

/* A file that shrinks while it is read must not fault, as a mapping would. */
static void file_cut_while_read(void **state)
{
    struct builder b = {0};
    char folder[PATH_MAX], path[PATH_MAX + 16];
    struct trace_error error;
    struct trace_item item;
    (void)state;
    for (int i = 0; i < 4; i++)
        builder_small(&b, 10);
    folder_make(folder);
    snprintf(path, sizeof path, "%s/a.trace", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(fd, b.bytes, b.size), b.size);
    struct trace_reader *reader = trace_reader_open(path, &error);
    assert_non_null(reader);
    uint64_t records = 0;
    while (trace_reader_next(reader, &item))
        if (++records == 14 + 3)
            assert_int_equal(ftruncate(fd, TRACE_BLOCK_BYTES + 500), 0);
    assert_int_equal(records, 28);
    trace_reader_close(reader);
    close(fd);
    folder_remove(folder);
    builder_free(&b);
}

static void checksum_sees_each_bit_but_state_and_itself(void **state)
{
    struct builder b = {0};
    (void)state;
    builder_small(&b, 3);
    struct trace_block_header *header = builder_header(&b);
    uint64_t whole = trace_checksum(header, header->used_bytes);
    for (uint32_t bit = 0; bit < header->used_bytes * 8u; bit++) {
        size_t byte = bit / 8;
        bool ignored = (byte >= offsetof(struct trace_block_header, state) &&
                        byte < offsetof(struct trace_block_header, state) + sizeof header->state) ||
                       (byte >= offsetof(struct trace_block_header, checksum) &&
                        byte < offsetof(struct trace_block_header, checksum) + sizeof header->checksum);
        uint32_t used = b.position;
        b.bytes[byte] ^= (unsigned char)(1u << bit % 8);
        assert_true((trace_checksum(header, used) == whole) == ignored);
        b.bytes[byte] ^= (unsigned char)(1u << bit % 8);
    }
    builder_free(&b);
}

/* Short inputs with every bit flipped once, and all lengths: no two hash alike. */
static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void hashes_differ(void **state)
{
    static uint64_t seen[1 + 216 * 8 + 300];
    unsigned char content[300] = {0};
    size_t count = 0;
    (void)state;
    for (uint32_t bytes = 0; bytes < 300; bytes++)
        seen[count++] = trace_hash(content, bytes);
    for (uint32_t bit = 0; bit < 216 * 8; bit++) {
        content[bit / 8] ^= (unsigned char)(1u << bit % 8);
        seen[count++] = trace_hash(content, 216);
        content[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    qsort(seen, count, sizeof *seen, compare_words);
    for (size_t i = 1; i < count; i++)
        assert_true(seen[i] != seen[i - 1] && seen[i] != 0);
    /* The definition that files of version 1 carry. */
    assert_int_equal(trace_hash("cublasSgemm_v2", 14), 0x6313b0a5e6e5ccb1ull);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_row),
        cmocka_unit_test(whole_trace),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(one_damaged_record_costs_itself),
        cmocka_unit_test(references_must_lead_back_to_their_type),
        cmocka_unit_test(contents_must_match_their_id),
        cmocka_unit_test(text_must_fit),
        cmocka_unit_test(later_minor_versions_are_read),
        cmocka_unit_test(older_signatures_are_completed),
        cmocka_unit_test(groups_are_checked),
        cmocka_unit_test(blocks_stand_alone),
        cmocka_unit_test(recycled_blocks_show_nothing_old),
        cmocka_unit_test(slots_and_counters),
        cmocka_unit_test(more_slots_blocks_than_a_writer_makes),
        cmocka_unit_test(file_cut_while_read),
        cmocka_unit_test(checksum_sees_each_bit_but_state_and_itself),
        cmocka_unit_test(hashes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
