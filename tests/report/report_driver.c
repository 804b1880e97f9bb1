/* SPDX-License-Identifier: Apache-2.0 */
/* report_command() with its options, as the command would call it, and the fold that it does on a terminal:
 *
 *   report_driver [--json] [--all] [--rows N] [--width N] SESSION */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/report_text.h"

static int print_folded(const char *path, size_t rows, size_t width)
{
    struct session_error error;
    struct session *session = session_open(path, &error);
    if (!session)
        return 2;
    bool written = report_text(session, rows, width, stdout);
    session_close(session);
    return written ? 0 : 2;
}

int main(int argc, char **argv)
{
    struct report_options options = {0};
    size_t rows = 0, width = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            options.json = true;
        else if (!strcmp(argv[i], "--all"))
            options.all = true;
        else if (!strcmp(argv[i], "--rows") && i + 1 < argc)
            rows = strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--width") && i + 1 < argc)
            width = strtoul(argv[++i], NULL, 10);
        else
            options.session_folder = argv[i];
    }
    if (!options.session_folder)
        return 2;
    if (rows || width)
        return print_folded(options.session_folder, rows ? rows : SIZE_MAX - 1, width ? width : REPORT_TEXT_WIDTH);
    return report_command(&options, stdout, stderr);
}
