/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which operators are placed are those of report/page/roofs.js; here each class has a shape besides its colour,
 * of the same area as the circle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/format.h"
#include "report/html_text.h"
#include "report/roofline_picture.h"

enum { NUMBERED_MOST = 12, KEY_TOP = 172, KEY_STEP = 31, CLASSES = 4, SIDES = 16 };

static const double most_radius = 30, least_radius = 3, least_largest_share = 0.05;

/* clang-format off */
static const struct class {
    const char *name, *colour, *words;
} classes[CLASSES] = {
    [BOUND_UNKNOWN]  = {"unknown", "#686d73", "class not known"},
    [BOUND_MEMORY]   = {"memory", "#0072b2", "memory-bound"},
    [BOUND_COMPUTE]  = {"compute", "#b84e00", "compute-bound"},
    [BOUND_OVERHEAD] = {"overhead", "#801873", "overhead: kernel start-up"},
};
/* clang-format on */

/* ---- which, and where ---- */

static bool has_rate(const struct operator_row *op)
{
    return op->roofline.flops_per_second > 0 && isfinite(op->roofline.flops_per_second);
}

static bool has_roof(const struct operator_row *op)
{
    return op->flops > 0 && op->t_roof_ns > 0;
}

static bool has_intensity(const struct operator_row *op)
{
    return operator_row_has_work(op) && op->roofline.intensity > 0 && isfinite(op->roofline.intensity);
}

static bool has_place(const struct picture *picture, const struct operator_row *op)
{
    return has_intensity(op) && (picture->by_roof ? has_roof(op) : has_rate(op));
}

static double share_of(const struct picture *picture, const struct operator_row *op, double roof_ns)
{
    if (picture->by_roof)
        return op->t_roof_ns / roof_ns;
    return op->timed && op->kernels ? op->share : NAN;
}

/* The time at the roof of all that have a place there, and whether it is to be used. */
static double judge(struct picture *picture)
{
    const struct session *session = picture->source->session;
    double roof_ns = 0;
    picture->by_roof = true;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (op->device != picture->device || !has_intensity(op))
            continue;
        picture->by_roof &= !has_rate(op);
        roof_ns += has_roof(op) ? op->t_roof_ns : 0;
    }
    return roof_ns;
}

static void leave_out(size_t *count, double *sum, double share)
{
    ++*count;
    if (!isnan(share))
        *sum = isnan(*sum) ? share : *sum + share;
}

void roofline_points_find(struct picture *picture, size_t most)
{
    const struct session *session = picture->source->session;
    const double roof_ns = judge(picture);
    picture->points = allocate(most + 1, sizeof *picture->points);
    picture->not_drawn_share = picture->not_placed_share = NAN;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (op->device != picture->device)
            continue;
        if (!has_place(picture, op)) {
            leave_out(&picture->not_placed, &picture->not_placed_share, picture->by_roof ? NAN : op->share);
            continue;
        }
        double share = share_of(picture, op, roof_ns);
        double rate = picture->by_roof ? op->flops / op->t_roof_ns * 1e9 : op->roofline.flops_per_second;
        if (picture->point_count < most)
            picture->points[picture->point_count++] =
                (struct picture_point){.op = op, .place = i, .x = op->roofline.intensity, .y = rate, .share = share};
        else
            leave_out(&picture->not_drawn, &picture->not_drawn_share, share);
    }
}

void roofline_points_place(struct picture *picture)
{
    double largest = least_largest_share;
    for (size_t i = 0; i < picture->point_count; i++)
        if (picture->points[i].share > largest)
            largest = picture->points[i].share;
    for (size_t i = 0; i < picture->point_count; i++) {
        struct picture_point *point = &picture->points[i];
        point->left = log_axis_at(&picture->x, point->x);
        point->top = log_axis_at(&picture->y, point->y);
        point->radius =
            point->share > 0 ? fmax(least_radius, most_radius * sqrt(point->share / largest)) : least_radius;
    }
}

/* ---- marks ---- */

/* Of starved and near_ridge one is drawn: what can be mended. */
static const char *outline_of(unsigned flags)
{
    if (flags & ROOFLINE_STARVED)
        return " stroke=\"#1b1f24\" stroke-width=\"2.5\" stroke-dasharray=\"4 3\"";
    if (flags & ROOFLINE_NEAR_RIDGE)
        return " stroke=\"#1b1f24\" stroke-width=\"2.5\"";
    return "";
}

static const char *tag_of(enum bound bound)
{
    return bound == BOUND_MEMORY ? "circle" : bound == BOUND_COMPUTE ? "rect" : "path";
}

/* The tag is left open. */
static void print_shape(FILE *out, enum bound bound, double x, double y, double radius, const char *outline)
{
    const double pi = acos(-1), side = radius * sqrt(pi), triangle = radius * sqrt(4 * pi / sqrt(3));
    const double height = triangle * sqrt(3) / 2, diamond = radius * sqrt(pi / 2);
    fprintf(out, "<%s class=\"%s%s\" fill=\"%s\"%s ", tag_of(bound), classes[bound].name, *outline ? " outlined" : "",
            classes[bound].colour, outline);
    switch (bound) {
    case BOUND_MEMORY:
        fprintf(out, "cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", x, y, radius);
        break;
    case BOUND_COMPUTE:
        fprintf(out, "x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"", x - side / 2, y - side / 2, side, side);
        break;
    case BOUND_OVERHEAD: /* about its centroid */
        fprintf(out, "d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"", x, y - height * 2 / 3, triangle / 2, height, -triangle);
        break;
    default:
        fprintf(out, "d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\"", x, y - diamond, diamond, diamond, -diamond,
                diamond, -diamond, -diamond);
    }
}

/* "gemm M 1  N 4096  K 4096 bf16". */
static void print_what(const struct picture *picture, const struct operator_row *op)
{
    char kind[COLUMN_CELL_BYTES], shape[COLUMN_SHAPE_BYTES];
    columns_by_key(COLUMNS_OF_SHAPE, "kind")->print(picture->source, op, kind);
    columns_shape(op, shape);
    html_text_print(picture->out, kind);
    fputc(' ', picture->out);
    html_text_print(picture->out, shape);
}

static void print_figures(const struct picture *picture, const struct picture_point *point)
{
    char types[COLUMN_CELL_BYTES], number[FORMAT_BYTES];
    columns_types(point->op, types);
    html_text_print(picture->out, types);
    fprintf(picture->out, ", %s, %s %% %s", bound_name(point->op->roofline.bound), format_share(number, point->share),
            picture->by_roof ? "time at the roof" : "time");
    if (!isnan(point->op->roofline.roof_fraction))
        fprintf(picture->out, ", %s %% roof", format_share(number, point->op->roofline.roof_fraction));
}

static void print_bubble(const struct picture *picture, const struct picture_point *point)
{
    const struct roofline *roofline = &point->op->roofline;
    print_shape(picture->out, roofline->bound, point->left, point->top, point->radius, outline_of(roofline->flags));
    fprintf(picture->out, "><title>%zu: ", point->place + 1);
    print_what(picture, point->op);
    fputs(", ", picture->out);
    print_figures(picture, point);
    fprintf(picture->out, "</title></%s>\n", tag_of(roofline->bound));
}

/* ---- numbers ---- */

struct label {
    double left, top;
};

static bool is_free(const struct label *labels, size_t count, double left, double top)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(labels[i].left - left) < 17 && fabs(labels[i].top - top) < 13)
            return false;
    return left > PICTURE_LEFT + 8 && left < PICTURE_RIGHT - 8 && top > PICTURE_TOP + 8 && top < PICTURE_BOTTOM - 4;
}

/* In the bubble if it is large enough, else around it, further away the more of them are close together. */
static struct label label_of(const struct picture_point *point, const struct label *labels, size_t count)
{
    if (point->radius >= 9 && is_free(labels, count, point->left, point->top))
        return (struct label){point->left, point->top};
    for (double distance = point->radius + 9; distance < point->radius + 80; distance += 12)
        for (int side = 0; side < SIDES; side++) {
            double angle = 2 * acos(-1) * side / SIDES;
            struct label label = {point->left + distance * cos(angle), point->top - distance * sin(angle)};
            if (is_free(labels, count, label.left, label.top))
                return label;
        }
    return (struct label){point->left, point->top};
}

/* WITH_LINE: a thin one from the number to its bubble, where it is not in or at it. */
static void print_label(const struct picture *picture, const struct picture_point *point, struct label label)
{
    double distance = hypot(label.left - point->left, label.top - point->top);
    if (distance > point->radius + 12)
        fprintf(picture->out,
                "<path class=\"edge\" stroke=\"#1b1f24\" stroke-width=\"0.7\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                point->left, point->top, label.left, label.top);
    fprintf(
        picture->out,
        "<text class=\"ink halo\" fill=\"#1b1f24\" stroke=\"#ffffff\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%zu"
        "</text>\n",
        label.left, label.top + 4, point->place + 1);
}

static void print_key(const struct picture *picture, const struct picture_point *point, int line)
{
    fprintf(picture->out,
            "<text class=\"ink\" fill=\"#1b1f24\" x=\"%d\" y=\"%d\"><tspan font-weight=\"bold\">%zu</tspan> ",
            PICTURE_SIDE, KEY_TOP + line * KEY_STEP, point->place + 1);
    print_what(picture, point->op);
    fprintf(picture->out, "<tspan class=\"faint\" fill=\"#57606a\" x=\"%d\" dy=\"14\">", PICTURE_SIDE);
    print_figures(picture, point);
    fputs("</tspan></text>\n", picture->out);
}

/* ---- the legend ---- */

static void print_legend_words(const struct picture *picture, int line, const char *words)
{
    fprintf(picture->out, "<text class=\"ink\" fill=\"#1b1f24\" x=\"%d\" y=\"%d\">%s</text>\n", PICTURE_SIDE + 22,
            PICTURE_TOP + 12 + 17 * line, words);
}

static int print_classes(const struct picture *picture)
{
    static const enum bound order[CLASSES] = {BOUND_MEMORY, BOUND_COMPUTE, BOUND_OVERHEAD, BOUND_UNKNOWN};
    int line = 0;
    for (int i = 0; i < CLASSES; i++) {
        bool any = false;
        for (size_t p = 0; p < picture->point_count; p++)
            any |= picture->points[p].op->roofline.bound == order[i];
        if (!any)
            continue;
        print_shape(picture->out, order[i], PICTURE_SIDE + 8, PICTURE_TOP + 8 + 17 * line, 6, "");
        fputs("/>\n", picture->out);
        print_legend_words(picture, line++, classes[order[i]].words);
    }
    return line;
}

static void print_legend(const struct picture *picture)
{
    static const struct {
        enum roofline_flag flag;
        const char *words;
    } outlines[] = {{ROOFLINE_STARVED, "starved: fewer blocks than SMs"}, {ROOFLINE_NEAR_RIDGE, "near the ridge"}};
    int line = print_classes(picture);
    for (size_t i = 0; i < sizeof outlines / sizeof outlines[0]; i++) {
        bool any = false;
        for (size_t p = 0; p < picture->point_count; p++)
            any |= (picture->points[p].op->roofline.flags & outlines[i].flag) != 0;
        if (!any)
            continue;
        fprintf(picture->out, "<circle class=\"outlined\" fill=\"none\" cx=\"%d\" cy=\"%d\" r=\"6\"%s/>\n",
                PICTURE_SIDE + 8, PICTURE_TOP + 8 + 17 * line, outline_of(outlines[i].flag));
        print_legend_words(picture, line++, outlines[i].words);
    }
    if (picture->point_count)
        print_legend_words(picture, line, picture->by_roof ? "area: time at the roof" : "area: share of time");
}

void roofline_points_print(const struct picture *picture, size_t rows)
{
    struct label labels[NUMBERED_MOST];
    int numbered = 0;
    fprintf(picture->out, "<g fill-opacity=\"0.7\"%s>\n", picture->by_roof ? " class=\"at-roof\"" : "");
    for (size_t i = 0; i < picture->point_count; i++)
        print_bubble(picture, &picture->points[i]);
    fputs("</g>\n<g stroke-width=\"3\" paint-order=\"stroke\" font-weight=\"bold\">\n", picture->out);
    for (size_t i = 0; i < picture->point_count && numbered < NUMBERED_MOST && picture->points[i].place < rows; i++) {
        labels[numbered] = label_of(&picture->points[i], labels, (size_t)numbered);
        print_label(picture, &picture->points[i], labels[numbered++]);
    }
    fputs("</g>\n<g font-size=\"11\">\n", picture->out);
    print_legend(picture);
    for (int i = 0; i < numbered; i++)
        print_key(picture, &picture->points[i], i);
    fputs("</g>\n", picture->out);
}
