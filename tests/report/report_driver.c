/* SPDX-License-Identifier: Apache-2.0 */
/* report_command() with its options, as the command would call it, and what it does on a terminal:
 *
 *   report_driver [--json | --html] [--all] [--skinny] [--top N] [--sort KEY] [--by WHAT] [--rows N] [--width N] [--colours] SESSION */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/report_text.h"

static int print_folded(const char *path, const struct view *view)
{
    struct session_error error;
    struct session *session = session_open(path, &error);
    if (!session)
        return 2;
    bool written = report_text(session, view, stdout);
    session_close(session);
    return written ? 0 : 2;
}

/* Nothing but the page on standard output. */
static int print_page(struct report_options *options)
{
    struct report_page page = {0};
    options->page = &page;
    int status = report_command(options, stdout, stderr);
    if (page.text && fwrite(page.text, 1, page.bytes, stdout) < page.bytes)
        status = REPORT_EXIT_BAD;
    free(page.text);
    return status;
}

int main(int argc, char **argv)
{
    struct report_options options = {0};
    struct view view = {.rows = SIZE_MAX, .width = REPORT_TEXT_WIDTH};
    bool folded = false, html = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--json"))
            options.json = true;
        else if (!strcmp(argv[i], "--html"))
            html = true;
        else if (!strcmp(argv[i], "--all"))
            options.all = true;
        else if (!strcmp(argv[i], "--skinny"))
            options.skinny = view.skinny = true;
        else if (!strcmp(argv[i], "--colours"))
            folded = view.colours = true;
        else if (!strncmp(argv[i], "--", 2) && ++i == argc)
            return 2;
        else if (!strcmp(argv[i - 1], "--top"))
            options.top = strtoul(value, NULL, 10);
        else if (!strcmp(argv[i - 1], "--sort"))
            options.sort = value;
        else if (!strcmp(argv[i - 1], "--by"))
            options.by = value, view.by = !strcmp(value, "weight")   ? COLUMNS_OF_WEIGHT
                                          : !strcmp(value, "kernel") ? COLUMNS_OF_KERNEL
                                                                     : COLUMNS_OF_SHAPE;
        else if (!strcmp(argv[i - 1], "--rows"))
            view.rows = strtoul(value, NULL, 10), folded = true;
        else if (!strcmp(argv[i - 1], "--width"))
            view.width = strtoul(value, NULL, 10), view.fit = folded = true;
        else
            options.session_folder = argv[i];
    }
    if (!options.session_folder || !report_sort_key_known(&options))
        return 2;
    if (folded)
        return print_folded(options.session_folder, &view);
    return html ? print_page(&options) : report_command(&options, stdout, stderr);
}
