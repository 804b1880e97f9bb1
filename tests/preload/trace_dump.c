/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the traces in a folder as JSON lines, record by record, for tests: a file's records in order of block sequence are
 * those of each thread in order. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/launch_values.h"
#include "trace/trace_reader.h"

static void print_text(const char *text, uint32_t bytes)
{
    putchar('"');
    for (uint32_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 32 || c > 126)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_list(const char *name, const int64_t *value, int count)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        printf("%s%" PRId64, i ? "," : "", value[i]);
    printf("]");
}

static void print_list32(const char *name, const int32_t *value, int count)
{
    int64_t wide[8];
    for (int i = 0; i < count && i < 8; i++)
        wide[i] = value[i];
    print_list(name, wide, count);
}

static void print_signature(const struct trace_signature *s)
{
    printf(",\"signature\":%" PRIu64 ",\"entry\":%u,\"kind\":%u,\"library\":%u,\"provenance\":%u,\"batch_mode\":%u,"
           "\"flags\":%u,\"trans_a\":%u,\"trans_b\":%u,\"alpha\":%u,\"beta\":%u,\"m\":%" PRId64 ",\"n\":%" PRId64
           ",\"k\":%" PRId64 ",\"batch\":%" PRId64,
           s->id, s->entry, s->kind, s->library, s->provenance, s->batch_mode, s->flags, s->trans_a, s->trans_b,
           s->alpha, s->beta, s->m, s->n, s->k, s->batch);
    print_list("ld", s->ld, 4);
    print_list("batch_stride", s->batch_stride, 4);
    print_list32("type", s->type, 4);
    print_list32("order", s->order, 4);
    print_list32("scale_mode", s->scale_mode, 4);
    printf(",\"type_compute\":%d,\"type_scale\":%d,\"math_mode\":%d,\"epilogue\":%d,\"type_bias\":%d,\"type_aux\":%d,"
           "\"pointer_mode\":%u,\"aux_ld\":%" PRId64
           ",\"side\":%u,\"fill_mode\":%u,\"diagonal\":%u,\"groups\":%" PRIu64,
           s->type_compute, s->type_scale, s->math_mode, s->epilogue, s->type_bias, s->type_aux, s->pointer_mode,
           s->aux_ld, s->side, s->fill_mode, s->diagonal, s->groups_id);
    print_list("plane_offset", s->plane_offset, 4);
}

static void print_groups(const struct trace_item *item)
{
    const struct trace_groups *groups = (const void *)item->record;
    printf("{\"record\":\"groups\",\"block\":%" PRIu64 ",\"id\":%" PRIu64 ",\"group\":[", item->block->sequence,
           groups->id);
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct trace_group *g = &groups->group[i];
        const int64_t size[] = {g->m, g->n, g->k, g->batch};
        printf("%s{\"trans_a\":%u,\"trans_b\":%u,\"alpha\":%u,\"beta\":%u", i ? "," : "", g->trans_a, g->trans_b,
               g->alpha, g->beta);
        print_list("size", size, 4);
        print_list("ld", g->ld, 3);
        printf("}");
    }
    printf("]}\n");
}

static void print_call(const struct trace_item *item)
{
    const struct trace_call *c = (const void *)item->record;
    printf("{\"record\":\"call\",\"block\":%" PRIu64 ",\"tid\":%u,\"stream\":%" PRIu64 ",\"operand\":[%" PRIu64
           ",%" PRIu64 ",%" PRIu64 "],\"call_id\":%" PRIu64,
           item->block->sequence, item->block->tid, c->stream, c->operand[0], c->operand[1], c->operand[2], c->call_id);
    print_signature(item->signature);
    printf("}\n");
}

static void print_failed(const struct trace_item *item)
{
    const struct trace_call_failed *c = (const void *)item->record;
    printf("{\"record\":\"failed\",\"tid\":%u,\"status\":%d,\"call_id\":%" PRIu64, item->block->tid, c->status,
           c->call_id);
    print_signature(item->signature);
    printf("}\n");
}

static void print_hex(const char *name, const unsigned char *bytes, unsigned count)
{
    printf(",\"%s\":\"", name);
    for (unsigned i = 0; i < count; i++)
        printf("%02x", bytes[i]);
    putchar('"');
}

/* Unpacked, as one value: what of it is which parameter's, the kernel's plan tells. */
static void print_values(const struct trace_item *item)
{
    static struct {
        struct trace_parameter_plan head;
        struct trace_parameter whole;
    } plan = {.head.count = 1, .whole.kind = TRACE_PARAMETER_VALUE};
    const struct trace_launch_values *values = launch_shape_values(item->shape);
    bool is_launch = item->record->type == TRACE_RECORD_LAUNCH;
    const struct trace_launch_pointers *pointers = is_launch ? launch_pointers((const void *)item->record) : NULL;
    struct launch_parameters parameters;
    if (!values)
        return;
    plan.whole.kept = values->value_bytes;
    if (!launch_parameters_read(&plan.head, values, pointers, &parameters))
        return;
    printf(",\"nulls\":%u,\"shape_bytes\":%u", values->null_pointers, item->shape->record.size);
    print_hex("values", parameters.values, parameters.value_bytes);
    if (pointers)
        printf(",\"pointers\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", parameters.pointer[0],
               parameters.pointer[1], parameters.pointer[2], parameters.pointer[3]);
}

static void print_plan(const struct trace_parameter_plan *plan)
{
    printf("{\"record\":\"plan\",\"name\":%" PRIu64 ",\"source\":%u,\"parameters\":[", plan->name_id, plan->source);
    for (uint32_t i = 0; i < plan->count; i++)
        printf("%s[%u,%u,%u,%u]", i ? "," : "", plan->parameter[i].kind, plan->parameter[i].bytes,
               plan->parameter[i].kept, plan->parameter[i].addresses);
    printf("]}\n");
}

static void print_launch(const struct trace_item *item)
{
    const struct trace_launch *l = (const void *)item->record;
    const struct trace_launch_shape *s = item->shape;
    printf("{\"record\":\"launch\",\"tid\":%u,\"stream\":%" PRIu64 ",\"call_id\":%" PRIu64 ",\"parent\":%" PRIu64
           ",\"name\":%" PRIu64
           ",\"entry\":%u,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%u,\"shape\":%" PRIu64,
           item->block->tid, l->stream, l->call_id, l->parent_call_id, s->name_id, s->entry, s->grid[0], s->grid[1],
           s->grid[2], s->block[0], s->block[1], s->block[2], s->shared_bytes, s->id);
    print_values(item);
    printf("}\n");
}

/* Those with values, which nodes may have that were never launched. */
static void print_shape(const struct trace_item *item)
{
    struct trace_item shape = *item;
    shape.shape = (const void *)item->record;
    if (!launch_shape_values(shape.shape))
        return;
    printf("{\"record\":\"shape\",\"id\":%" PRIu64 ",\"name\":%" PRIu64, shape.shape->id, shape.shape->name_id);
    print_values(&shape);
    printf("}\n");
}

static void print_node(const struct trace_graph_node *n)
{
    printf("{\"record\":\"node\",\"node\":%" PRIu64 ",\"graph\":%u,\"call_id\":%" PRIu64
           ",\"owner\":%u,\"owner_id\":%" PRIu64 "}\n",
           n->graph_node_id, n->graph_id, trace_call_without_copy(n->call_id), n->owner, n->owner_id);
}

static void print_kernel(const struct trace_item *item)
{
    const struct trace_kernel *k = (const void *)item->record;
    printf("{\"record\":\"kernel\",\"name\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"call_id\":%" PRIu64 ",\"owner\":%u,"
           "\"owner_id\":%" PRIu64 ",\"join\":%u,\"correlation\":%u,\"graph\":%u,\"node\":%" PRIu64
           ",\"grid\":[%u,%u,%u],\"device\":%u,\"context\":%u,\"stream\":%u,\"start_ns\":%" PRIu64
           ",\"end_ns\":%" PRIu64 "}\n",
           k->name_id, k->end_ns - k->start_ns, trace_call_without_copy(k->call_id), k->owner, k->owner_id, k->join,
           k->correlation_id, k->graph_id, k->graph_node_id, k->grid[0], k->grid[1], k->grid[2], k->device, k->context,
           k->stream, k->start_ns, k->end_ns);
}

static void print_copy(const struct trace_item *item)
{
    const struct trace_copy *c = (const void *)item->record;
    printf("{\"record\":\"copy\",\"kind\":%u,\"direction\":%u,\"bytes\":%" PRIu64 ",\"start_ns\":%" PRIu64
           ",\"end_ns\":%" PRIu64 ",\"device\":%u,\"context\":%u,\"stream\":%u,\"is_peer\":%u,\"from_device\":%u"
           ",\"to_device\":%u}\n",
           c->kind, c->direction, c->bytes, c->start_ns, c->end_ns, c->device, c->context, c->stream, c->is_peer,
           c->from_device, c->to_device);
}

static void print_graph_run(const struct trace_item *item)
{
    const struct trace_graph_run *r = (const void *)item->record;
    printf("{\"record\":\"graph_run\",\"graph\":%u,\"ns\":%" PRIu64 ",\"start_ns\":%" PRIu64 ",\"device\":%u,"
           "\"correlation\":%u}\n",
           r->graph_id, r->end_ns - r->start_ns, r->start_ns, r->device, r->correlation_id);
}

static void print_lengths(const struct trace_item *item)
{
    const struct trace_lengths *l = (const void *)item->record;
    printf("{\"record\":\"lengths\",\"ticks\":%" PRIu64 ",\"call_id\":%" PRIu64 ",\"address\":%" PRIu64 ",\"how\":%u,"
           "\"graph\":%u,\"count\":%u,\"cumulative\":%u,\"least\":%" PRId64 ",\"most\":%" PRId64 ",\"sum\":%" PRId64
           ",\"launches\":%" PRIu64 "}\n",
           l->ticks, l->call_id, l->address, l->how, l->graph_id, l->count, l->cumulative, l->least, l->most, l->sum,
           l->launches);
}

static void print_device(const struct trace_item *item)
{
    const struct trace_device *d = (const void *)item->record;
    printf("{\"record\":\"device\",\"ordinal\":%u,\"pci_bus\":%u,\"uuid\":\"", d->ordinal, d->pci_bus);
    for (size_t i = 0; i < sizeof d->uuid; i++)
        printf("%02x", d->uuid[i]);
    printf("\"}\n");
}

static void print_texts(const struct trace_item *item, const char *kind, uint64_t id, int64_t value)
{
    printf("{\"record\":\"%s\",\"id\":%" PRIu64 ",\"value\":%" PRId64 ",\"text\":", kind, id, value);
    print_text(item->text, item->text_bytes);
    printf("}\n");
}

static void print_overhead(const struct trace_overhead *o)
{
    printf("{\"record\":\"overhead\",\"ticks\":%" PRIu64 ",\"wall_ns\":%" PRIu64 ",\"calls\":%" PRIu64
           ",\"calls_ns\":%" PRIu64 ",\"callbacks\":%" PRIu64 ",\"callbacks_ns\":%" PRIu64 ",\"records\":%" PRIu64
           ",\"records_ns\":%" PRIu64 ",\"calls_all\":%" PRIu64 ",\"callbacks_all\":%" PRIu64 ",\"buffers\":%" PRIu64
           ",\"buffer_bytes\":%" PRIu64 ",\"helper_cpu_ns\":%" PRIu64 ",\"timing_cpu_ns\":%" PRIu64
           ",\"level\":%" PRIu64 "}\n",
           o->ticks, o->wall_ns, o->calls, o->calls_ns, o->callbacks, o->callbacks_ns, o->records, o->records_ns,
           o->calls_all, o->callbacks_all, o->buffers, o->buffer_bytes, o->helper_cpu_ns, o->timing_cpu_ns, o->level);
}

static void print_window(const struct trace_item *item)
{
    const struct trace_window *w = (const void *)item->record;
    printf("{\"record\":\"window\",\"ticks\":%" PRIu64 ",\"what\":%u,\"why\":%u,\"number\":%u,\"realtime_ns\":%" PRIu64
           ",\"text\":",
           w->ticks, w->what, w->why, w->number, w->realtime_ns);
    print_text(item->text, item->text_bytes);
    printf("}\n");
}

static void print_timing(const struct trace_item *item)
{
    const struct trace_timing *t = (const void *)item->record;
    printf("{\"record\":\"timing\",\"ticks\":%" PRIu64 ",\"asked\":%u,\"mode\":%u,\"cupti\":%u,\"window\":%" PRIu64
           ",\"period\":%" PRIu64 ",\"most\":%" PRIu64 ",\"text\":",
           t->ticks, t->asked, t->mode, t->cupti_version, t->window_ns, t->period_ns, t->graph_records_most);
    print_text(item->text, item->text_bytes);
    printf("}\n");
}

static void print_item(const struct trace_item *item)
{
    switch (item->record->type) {
    case TRACE_RECORD_PROCESS:
        printf("{\"record\":\"process\",\"pid\":%u,\"parent\":%u}\n", ((const struct trace_process *)item->record)->pid,
               ((const struct trace_process *)item->record)->parent_pid);
        break;
    case TRACE_RECORD_ENTRY:
        print_texts(item, "entry", ((const struct trace_entry *)item->record)->id, 0);
        break;
    case TRACE_RECORD_NAME:
        print_texts(item, "name", ((const struct trace_name *)item->record)->id, 0);
        break;
    case TRACE_RECORD_NOTE:
        print_texts(item, "note", ((const struct trace_note *)item->record)->code,
                    ((const struct trace_note *)item->record)->value);
        break;
    case TRACE_RECORD_GROUPS:
        print_groups(item);
        break;
    case TRACE_RECORD_CALL:
        print_call(item);
        break;
    case TRACE_RECORD_CALL_FAILED:
        print_failed(item);
        break;
    case TRACE_RECORD_LAUNCH:
        print_launch(item);
        break;
    case TRACE_RECORD_LAUNCH_SHAPE:
        print_shape(item);
        break;
    case TRACE_RECORD_PARAMETER_PLAN:
        print_plan((const void *)item->record);
        break;
    case TRACE_RECORD_GRAPH_NODE:
        print_node((const void *)item->record);
        break;
    case TRACE_RECORD_KERNEL:
        print_kernel(item);
        break;
    case TRACE_RECORD_GRAPH_RUN:
        print_graph_run(item);
        break;
    case TRACE_RECORD_LENGTHS:
        print_lengths(item);
        break;
    case TRACE_RECORD_COPY:
        print_copy(item);
        break;
    case TRACE_RECORD_DEVICE:
        print_device(item);
        break;
    case TRACE_RECORD_WINDOW:
        print_window(item);
        break;
    case TRACE_RECORD_TIMING:
        print_timing(item);
        break;
    case TRACE_RECORD_OVERHEAD:
        print_overhead((const void *)item->record);
        break;
    case TRACE_RECORD_END:
        printf("{\"record\":\"end\"}\n");
        break;
    default:
        break;
    }
}

static void print_slots(const struct trace_reader *reader)
{
    for (size_t i = 0; i < trace_reader_slot_count(reader); i++) {
        const struct trace_slot *s = trace_reader_slot(reader, i);
        printf("{\"record\":\"slot\",\"tid\":%u,\"entry\":%u,\"calls_begun\":%" PRIu64 ",\"calls_recorded\":%" PRIu64
               ",\"calls_failed\":%" PRIu64 ",\"launches_begun\":%" PRIu64 ",\"launches_recorded\":%" PRIu64
               ",\"launches_failed\":%" PRIu64 ",\"dropped\":%" PRIu64,
               s->tid, s->entry, s->calls_begun, s->calls_recorded, s->calls_failed, s->launches_begun,
               s->launches_recorded, s->launches_failed, s->records_dropped);
        print_list("argument", s->argument, 7);
        printf("}\n");
    }
}

static int dump(const char *path)
{
    struct trace_error error;
    struct trace_item item;
    struct trace_reader *reader = trace_reader_open(path, &error);
    if (!reader) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    while (trace_reader_next(reader, &item))
        print_item(&item);
    print_slots(reader);
    const struct trace_reader_stats *stats = trace_reader_stats(reader);
    printf("{\"record\":\"stats\",\"damaged\":%" PRIu64 ",\"blocks_damaged\":%" PRIu64 ",\"ended\":%d}\n",
           stats->records_damaged, stats->blocks_damaged, stats->ended);
    trace_reader_close(reader);
    return 0;
}

int main(int count, char **arguments)
{
    char path[4096];
    struct dirent *entry;
    int failed = 0;
    DIR *folder = count == 2 ? opendir(arguments[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "trace_dump: expected one argument, a folder with traces\n");
        return 2;
    }
    while ((entry = readdir(folder)))
        if (strstr(entry->d_name, TRACE_FILE_SUFFIX)) {
            snprintf(path, sizeof path, "%s/%s", arguments[1], entry->d_name);
            failed |= dump(path);
        }
    closedir(folder);
    return failed;
}
