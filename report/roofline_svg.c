/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of scales, and words; numbers are printed in the C locale, which this program never leaves. What is a stranger's,
 * the names of devices, goes through html_text. */
#include "report/roofline_svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/format.h"
#include "report/html_text.h"
#include "report/roofline_picture.h"

enum { DEVICES_MOST = 4, POINTS_MOST = 100, NAME_BYTES = 44, LABELS_MOST = 4 * GPU_PATH_COUNT };

/* ---- axes ---- */

static void widen(double *least, double *most, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    *least = *least > 0 ? fmin(*least, value) : value;
    *most = fmax(*most, value);
}

/* What shows all points, each ridge, and enough on either side of it to see both parts of the roof. */
static void choose_axes(struct picture *picture)
{
    double x_least = 0, x_most = 0, y_least = 0, y_most = 0;
    for (size_t i = 0; i < picture->point_count; i++) {
        widen(&x_least, &x_most, picture->points[i].x);
        widen(&y_least, &y_most, picture->points[i].y);
    }
    for (size_t i = 0; i < picture->roof_count; i++) {
        const struct roof *roof = &picture->roofs[i].kinds[ROOF_SPECIFICATION];
        double ridge = roof->flops_per_second / roof->bytes_per_second;
        widen(&x_least, &x_most, ridge / 30);
        widen(&x_least, &x_most, ridge * 10);
        widen(&y_least, &y_most, roof->flops_per_second);
        widen(&y_least, &y_most, roof->flops_per_second / 30);
        for (size_t p = 0; p < picture->point_count; p++)
            if (!(picture->points[p].x >= ridge))
                widen(&y_least, &y_most, roof->bytes_per_second * picture->points[p].x);
    }
    if (!x_most)
        widen(&x_least, &x_most, 0.1), widen(&x_least, &x_most, 1000);
    if (!y_most)
        widen(&y_least, &y_most, 1e9), widen(&y_least, &y_most, 1e15);
    picture->x = log_axis_of(x_least / 2, x_most * 2, PICTURE_LEFT, PICTURE_RIGHT);
    picture->y = log_axis_of(y_least / 2, y_most * 2.5, PICTURE_BOTTOM, PICTURE_TOP);
}

static void print_line(FILE *out, const char *attributes, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<path %s d=\"M%.1f %.1fL%.1f %.1f\"/>\n", attributes, x1, y1, x2, y2);
}

/* "100 GFLOP/s" of 11. */
static void print_rate(FILE *out, int power)
{
    static const char *const units[] = {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s", "EFLOP/s"};
    const int last = sizeof units / sizeof units[0] - 1;
    const int unit = power < 0 ? 0 : power / 3 > last ? last : power / 3;
    fprintf(out, "%g %s", pow(10, power - 3 * unit), units[unit]);
}

static void print_ticks(const struct picture *picture)
{
    FILE *out = picture->out;
    int first, count = log_axis_decades(&picture->x, &first);
    fputs("<g class=\"grid\" stroke=\"#d3d9df\" fill=\"none\">\n", out);
    for (int i = 0; i < count; i++) {
        double x = log_axis_at(&picture->x, pow(10, first + i));
        print_line(out, "", x, PICTURE_TOP, x, PICTURE_BOTTOM);
    }
    int first_y, count_y = log_axis_decades(&picture->y, &first_y);
    for (int i = 0; i < count_y; i++) {
        double y = log_axis_at(&picture->y, pow(10, first_y + i));
        print_line(out, "", PICTURE_LEFT, y, PICTURE_RIGHT, y);
    }
    fprintf(out, "<path class=\"edge\" stroke=\"#1b1f24\" d=\"M%d %dV%dH%d\"/>\n</g>\n", PICTURE_LEFT, PICTURE_TOP,
            PICTURE_BOTTOM, PICTURE_RIGHT);
    fputs("<g class=\"faint\" fill=\"#57606a\">\n", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%g</text>\n",
                log_axis_at(&picture->x, pow(10, first + i)), PICTURE_BOTTOM + 16, pow(10, first + i));
    for (int i = 0; i < count_y; i++) {
        fprintf(out, "<text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">", PICTURE_LEFT - 6,
                log_axis_at(&picture->y, pow(10, first_y + i)) + 4);
        print_rate(out, first_y + i);
        fputs("</text>\n", out);
    }
    fputs("</g>\n", out);
}

static void print_axes(const struct picture *picture)
{
    const bool simulated = picture->source->session->simulated;
    print_ticks(picture);
    fprintf(picture->out,
            "<text class=\"ink\" fill=\"#1b1f24\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">arithmetic "
            "intensity, FLOP/byte</text>\n",
            (PICTURE_LEFT + PICTURE_RIGHT) / 2, PICTURE_BOTTOM + 34);
    fprintf(picture->out,
            "<text class=\"ink\" fill=\"#1b1f24\" text-anchor=\"middle\" transform=\"translate(12 %d)rotate(-90)\">%s "
            "FLOP/s%s"
            "</text>\n",
            (PICTURE_TOP + PICTURE_BOTTOM) / 2, picture->by_roof ? "possible" : "achieved",
            simulated ? ", simulated" : "");
}

/* ---- roofs ---- */

/* Where words stand already. */
struct taken {
    double left[LABELS_MOST], top[LABELS_MOST];
    int count;
};

/* The right end of words at TOP such that they lie over no others. */
static double free_right_end(struct taken *taken, double top)
{
    enum { WORDS = 176, LINE = 13 };
    double left = PICTURE_RIGHT - 4;
    for (int i = 0; i < taken->count; i++)
        if (fabs(taken->top[i] - top) < LINE && fabs(taken->left[i] - left) < WORDS) {
            left = taken->left[i] - WORDS;
            i = -1;
        }
    if (taken->count < LABELS_MOST) {
        taken->left[taken->count] = left;
        taken->top[taken->count++] = top;
    }
    return left;
}

/* "" where a kind has no figure of its own. */
static const char *const kind_words[ROOF_KIND_COUNT] = {
    [ROOF_SPECIFICATION] = "", [ROOF_ACHIEVABLE] = "achievable ", [ROOF_HELD_CLOCK] = "at the clock held "};
static const char *const kind_dashes[ROOF_KIND_COUNT] = {
    [ROOF_SPECIFICATION] = "stroke-width=\"2\"",
    [ROOF_ACHIEVABLE] = "stroke-width=\"1.3\" stroke-dasharray=\"7 4\"",
    [ROOF_HELD_CLOCK] = "stroke-width=\"1.3\" stroke-dasharray=\"2 3\""};

/* Where a roof is flat: from where it leaves the slope, or from the left edge where no bandwidth is known. */
static bool flat_begins(const struct picture *picture, const struct path_roof *path, int kind, double *from)
{
    const struct roof *roof = &path->kinds[kind], *specified = &path->kinds[ROOF_SPECIFICATION];
    double bytes = isnan(roof->bytes_per_second) ? specified->bytes_per_second : roof->bytes_per_second;
    *from = isnan(bytes) ? picture->x.least : fmax(picture->x.least, roof->flops_per_second / bytes);
    bool own = kind != ROOF_HELD_CLOCK || roof->flops_per_second < specified->flops_per_second;
    return own && !isnan(roof->flops_per_second) && *from < picture->x.most;
}

static void print_flat(const struct picture *picture, const struct path_roof *path, int kind)
{
    double from, y = log_axis_at(&picture->y, path->kinds[kind].flops_per_second);
    if (flat_begins(picture, path, kind, &from))
        print_line(picture->out, kind_dashes[kind], log_axis_at(&picture->x, from), y, PICTURE_RIGHT, y);
}

static void print_flat_words(const struct picture *picture, const struct path_roof *path, int kind, struct taken *taken)
{
    char number[FORMAT_BYTES];
    double from, y = log_axis_at(&picture->y, path->kinds[kind].flops_per_second);
    if (!flat_begins(picture, path, kind, &from))
        return;
    double top = kind == ROOF_SPECIFICATION ? y - 5 : y + 12;
    bool plain = kind != ROOF_SPECIFICATION && picture->roof_count == 1;
    fprintf(picture->out, "<text text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%s%s%s%s TFLOP/s</text>\n",
            free_right_end(taken, top), top, kind_words[kind], plain ? "" : path->name, plain ? "" : " ",
            format_tera(number, path->kinds[kind].flops_per_second));
}

/* Where it is steep: up to the ridge of the highest peak, or out of the picture where none is known. */
struct slope {
    double bytes, from, to;
};

static bool slope_of(const struct picture *picture, int kind, double peak, struct slope *slope)
{
    double bytes = picture->roof_count ? picture->roofs[0].kinds[kind].bytes_per_second : NAN;
    slope->bytes = bytes;
    slope->from = fmax(picture->x.least, picture->y.least / bytes);
    slope->to = fmin(picture->x.most, fmin(peak > 0 ? peak : INFINITY, picture->y.most) / bytes);
    return !isnan(bytes) && slope->from < slope->to;
}

static void print_slope(const struct picture *picture, int kind, double peak)
{
    struct slope slope;
    if (slope_of(picture, kind, peak, &slope))
        print_line(picture->out, kind_dashes[kind], log_axis_at(&picture->x, slope.from),
                   log_axis_at(&picture->y, slope.from * slope.bytes), log_axis_at(&picture->x, slope.to),
                   log_axis_at(&picture->y, slope.to * slope.bytes));
}

static void print_slope_words(const struct picture *picture, int kind, double peak)
{
    char number[FORMAT_BYTES];
    struct slope slope;
    if (!slope_of(picture, kind, peak, &slope))
        return;
    double x = log_axis_at(&picture->x, slope.from), y = log_axis_at(&picture->y, slope.from * slope.bytes);
    double end = log_axis_at(&picture->x, slope.to), end_y = log_axis_at(&picture->y, slope.to * slope.bytes);
    fprintf(picture->out, "<text transform=\"translate(%.1f %.1f)rotate(%.1f)\" x=\"14\" y=\"%d\">%s%s GB/s</text>\n",
            x, y, atan2(end_y - y, end - x) * 180 / acos(-1), kind == ROOF_SPECIFICATION ? -6 : 14, kind_words[kind],
            format_giga(number, slope.bytes));
}

static bool ridge_of(const struct picture *picture, const struct roof *roof, double *ridge)
{
    *ridge = roof->flops_per_second / roof->bytes_per_second;
    return isfinite(*ridge) && *ridge >= picture->x.least && *ridge <= picture->x.most;
}

static void print_ridge(const struct picture *picture, const struct roof *roof)
{
    double ridge, y = log_axis_at(&picture->y, roof->flops_per_second);
    if (!ridge_of(picture, roof, &ridge))
        return;
    double x = log_axis_at(&picture->x, ridge);
    print_line(picture->out, "stroke-dasharray=\"1 3\"", x, y, x, PICTURE_BOTTOM);
    fprintf(picture->out, "<circle class=\"ink\" fill=\"#1b1f24\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", x, y);
}

static void print_ridge_words(const struct picture *picture, const struct roof *roof, int line)
{
    char number[FORMAT_BYTES];
    double ridge;
    if (ridge_of(picture, roof, &ridge))
        fprintf(picture->out, "<text x=\"%.1f\" y=\"%d\">ridge %s</text>\n", log_axis_at(&picture->x, ridge) + 4,
                PICTURE_BOTTOM - 6 - 13 * line, format_intensity(number, ridge));
}

static double highest_peak(const struct picture *picture, int kind)
{
    double highest = 0;
    for (size_t i = 0; i < picture->roof_count; i++)
        highest = fmax(highest, picture->roofs[i].kinds[kind].flops_per_second);
    return highest;
}

/* A bandwidth is one for all paths; where only it was measured, it ends at the specification's peak. */
static double slope_end(const struct picture *picture, int kind)
{
    double peak = highest_peak(picture, kind);
    return peak > 0 ? peak : highest_peak(picture, ROOF_SPECIFICATION);
}

static void print_roofs(const struct picture *picture)
{
    fputs("<g class=\"edge\" stroke=\"#1b1f24\" fill=\"none\">\n", picture->out);
    for (int kind = 0; kind < ROOF_KIND_COUNT; kind++) {
        if (kind != ROOF_HELD_CLOCK) /* which leaves the bandwidth as it is */
            print_slope(picture, kind, slope_end(picture, kind));
        for (size_t i = 0; i < picture->roof_count; i++)
            print_flat(picture, &picture->roofs[i], kind);
    }
    for (size_t i = 0; i < picture->roof_count; i++)
        print_ridge(picture, &picture->roofs[i].kinds[ROOF_SPECIFICATION]);
    fputs("</g>\n", picture->out);
}

/* Above the bubbles. */
static void print_roof_words(const struct picture *picture)
{
    struct taken taken = {.count = 0};
    fputs("<g class=\"ink halo\" fill=\"#1b1f24\" stroke=\"#ffffff\" paint-order=\"stroke\" stroke-width=\"3\" "
          "font-size=\"11\">\n",
          picture->out);
    for (int kind = 0; kind < ROOF_KIND_COUNT; kind++) {
        if (kind != ROOF_HELD_CLOCK)
            print_slope_words(picture, kind, slope_end(picture, kind));
        for (size_t i = 0; i < picture->roof_count; i++)
            print_flat_words(picture, &picture->roofs[i], kind, &taken);
    }
    for (size_t i = 0; i < picture->roof_count; i++)
        print_ridge_words(picture, &picture->roofs[i].kinds[ROOF_SPECIFICATION], (int)i);
    fputs("</g>\n", picture->out);
}

/* ---- words ---- */

static void print_name(const struct picture *picture)
{
    const struct session *session = picture->source->session;
    fprintf(picture->out, "Roofline of GPU %d: ", picture->device);
    if (session->devices[picture->device].described)
        html_text_print_cut(picture->out, session->devices[picture->device].facts.name, NAME_BYTES);
    else
        fputs("not described by the traces", picture->out);
    if (session->simulated && strncmp(session->devices[picture->device].facts.name, "Simulated ", 10))
        fputs(" (simulated)", picture->out);
}

static void print_left_out(FILE *out, const char *separator, size_t count, double share, const char *why)
{
    char number[FORMAT_BYTES];
    if (!count)
        return;
    fprintf(out, "%s%s %s", separator, format_count(number, count), format_plural(count, "operator", "operators"));
    if (!isnan(share))
        fprintf(out, " (%s %% of the time)", format_share(number, share));
    fprintf(out, " %s", why);
}

static void print_notes(const struct picture *picture)
{
    FILE *out = picture->out;
    fprintf(out, "<text class=\"faint\" fill=\"#57606a\" font-size=\"11\" x=\"%d\" y=\"%d\">", PICTURE_LEFT,
            PICTURE_BOTTOM + 54);
    if (!picture->point_count)
        fputs("No operator has a place: none of known work was timed, or has a roof.", out);
    else if (picture->by_roof)
        fputs("Nothing was timed: operators lie at their roof, which they can't be above.", out);
    fprintf(out, "</text>\n<text class=\"faint\" fill=\"#57606a\" font-size=\"11\" x=\"%d\" y=\"%d\">", PICTURE_LEFT,
            PICTURE_BOTTOM + 70);
    print_left_out(out, "Not drawn: ", picture->not_drawn, picture->not_drawn_share, "beyond the first");
    print_left_out(out, picture->not_drawn ? "; " : "Not drawn: ", picture->not_placed, picture->not_placed_share,
                   picture->by_roof ? "of no known work or roof" : "of no known work or time");
    fputs("</text>\n", out);
}

/* In place of roofs that are not known. */
static void print_unknown_roofs(const struct picture *picture)
{
    const struct session_device *device = &picture->source->session->devices[picture->device];
    const char *words = NULL;
    if (!device->roofs.spec)
        words = "roof not known: no row in the GPU table (--peak takes its figures)";
    else if (picture->roof_count && isnan(device_roofs_bytes_per_second(&device->roofs)))
        words = "bandwidth not known (--peak takes it)";
    else if (picture->roof_count && !(highest_peak(picture, ROOF_SPECIFICATION) > 0))
        words = "peak not known of the types in use (--peak takes it)";
    if (words)
        fprintf(picture->out,
                "<text class=\"ink\" fill=\"#1b1f24\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">%s</text>\n",
                (PICTURE_LEFT + PICTURE_RIGHT) / 2, PICTURE_TOP + 20, words);
}

/* What the picture shows, for those who can't see it. */
static void print_description(const struct picture *picture)
{
    FILE *out = picture->out;
    char peak[FORMAT_BYTES], ridge[FORMAT_BYTES], bytes[FORMAT_BYTES];
    fputs("FLOP/s against FLOP/byte, both axes logarithmic.", out);
    for (size_t i = 0; i < picture->roof_count; i++) {
        const struct roof *roof = &picture->roofs[i].kinds[ROOF_SPECIFICATION];
        fprintf(out, " Roof of %s: %s TFLOP/s, %s GB/s, ridge %s FLOP/byte.", picture->roofs[i].name,
                format_tera(peak, roof->flops_per_second), format_giga(bytes, roof->bytes_per_second),
                format_intensity(ridge, roof->flops_per_second / roof->bytes_per_second));
    }
    for (int bound = 0; bound <= BOUND_OVERHEAD; bound++) {
        size_t count = 0;
        for (size_t i = 0; i < picture->point_count; i++)
            count += picture->points[i].op->roofline.bound == (enum bound)bound;
        if (count)
            fprintf(out, " %zu of class %s.", count, bound_name(bound));
    }
}

static void print_head(const struct picture *picture)
{
    FILE *out = picture->out;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"roofline-picture\" role=\"img\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" aria-labelledby=\"roofline-%d-title roofline-%d-words\" font-family=\"system-ui, "
        "sans-serif\" "
        "font-size=\"12\">\n",
        PICTURE_WIDTH, PICTURE_HEIGHT, PICTURE_WIDTH, PICTURE_HEIGHT, picture->device, picture->device);
    fprintf(out, "<title id=\"roofline-%d-title\">", picture->device);
    print_name(picture);
    fprintf(out, "</title>\n<desc id=\"roofline-%d-words\">", picture->device);
    print_description(picture);
    fprintf(out, "</desc>\n<rect class=\"paper\" fill=\"#ffffff\" width=\"%d\" height=\"%d\"/>\n", PICTURE_WIDTH,
            PICTURE_HEIGHT);
    fprintf(out, "<text class=\"ink\" fill=\"#1b1f24\" font-size=\"15\" font-weight=\"bold\" x=\"%d\" y=\"26\">",
            PICTURE_LEFT);
    print_name(picture);
    fputs("</text>\n", out);
}

/* ---- the whole ---- */

static void print_picture(const struct column_source *source, int device, size_t rows, size_t points, FILE *out)
{
    struct picture picture = {.source = source, .device = device, .out = out};
    picture.roof_count = path_roofs(source->session, device, picture.roofs);
    roofline_points_find(&picture, points);
    choose_axes(&picture);
    roofline_points_place(&picture);
    print_head(&picture);
    print_axes(&picture);
    print_roofs(&picture);
    roofline_points_print(&picture, rows < POINTS_MOST ? rows : POINTS_MOST);
    print_roof_words(&picture);
    print_unknown_roofs(&picture);
    print_notes(&picture);
    fputs("</svg>\n", out);
    free(picture.points);
}

struct used_device {
    int device;
    bool used;
    double time_ns;
};

static int by_time(const void *left, const void *right)
{
    const struct used_device *a = left, *b = right;
    if (a->used != b->used)
        return a->used ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? 1 : -1;
    return a->device - b->device;
}

/* Those that some operator ran on, most time first; the caller frees. */
static struct used_device *used_devices(const struct session *session, size_t *count, size_t *nowhere)
{
    struct used_device *devices = allocate(session->device_count + 1, sizeof *devices);
    for (size_t i = 0; i < session->device_count; i++)
        devices[i].device = (int)i;
    *nowhere = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (op->device < 0) {
            ++*nowhere;
            continue;
        }
        devices[op->device].used = true;
        devices[op->device].time_ns += op->timed ? (double)op->time_ns : 0;
    }
    if (session->device_count)
        qsort(devices, session->device_count, sizeof *devices, by_time);
    for (*count = 0; *count < session->device_count && devices[*count].used;)
        ++*count;
    return devices;
}

void roofline_svg_print(const struct session *session, size_t rows, FILE *out)
{
    size_t count, nowhere;
    char number[FORMAT_BYTES];
    struct used_device *devices = used_devices(session, &count, &nowhere);
    struct column_source source = column_source_of(session);
    size_t shown = count < DEVICES_MOST ? count : DEVICES_MOST;
    for (size_t i = 0; i < shown; i++)
        print_picture(&source, devices[i].device, rows, POINTS_MOST / shown, out);
    if (!count)
        fputs("<p class=\"note\">No operator ran on a GPU that is known, so there is no roofline.</p>\n", out);
    if (shown < count)
        fprintf(out, "<p class=\"note\">%s more GPUs were used for less time and have no picture.</p>\n",
                format_count(number, count - shown));
    if (nowhere)
        fprintf(out, "<p class=\"note\">Of %s %s it is not known on which GPU, so they are in no picture.</p>\n",
                format_count(number, nowhere), format_plural(nowhere, "operator", "operators"));
    column_source_free(&source);
    free(devices);
}
