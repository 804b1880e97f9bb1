/* SPDX-License-Identifier: Apache-2.0 */
/* report_command() with its options, as the command would call it: report_driver [--json] [--all] SESSION */
#include <string.h>

#include "report/report.h"

int main(int argc, char **argv)
{
    struct report_options options = {0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            options.json = true;
        else if (!strcmp(argv[i], "--all"))
            options.all = true;
        else
            options.session_folder = argv[i];
    }
    return options.session_folder ? report_command(&options, stdout, stderr) : 2;
}
