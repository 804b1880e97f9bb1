/* SPDX-License-Identifier: Apache-2.0 */
/* The page is made in memory: a file is begun only when there is something to put into it. */
#include "cli/report_page.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/message.h"
#include "cli/open_page.h"
#include "cli/options.h"
#include "cli/page_file.h"
#include "report/format.h"
#include "report/safe_text.h"

bool page_request_any(const struct page_request *request)
{
    return request->file || request->open;
}

/* In the session's folder, of one trace file beside it. False: there is no such session, which the report complains of. */
static bool default_name(const char *session, char *name, size_t bytes)
{
    struct stat status;
    if (stat(session, &status) != 0)
        return false;
    bool folder = S_ISDIR(status.st_mode), slash = *session && session[strlen(session) - 1] == '/';
    return snprintf(name, bytes, "%s%s", session,
                    !folder ? ".html"
                    : slash ? "report.html"
                            : "/report.html") < (int)bytes;
}

/* Two things can't both be all of standard output, and what went there can't be opened. */
static bool can_take_page(const struct page_request *request, const struct page_file *file, bool json,
                          const char *command)
{
    if (file->standard_output && json)
        message_error(command, "--json and the page can't both go to standard output; name a file with --html FILE");
    else if (file->descriptor >= 0 && request->open)
        message_error(command, "--open needs a page in a file, and '%s' is none; name one with --html FILE",
                      file->shown);
    else
        return true;
    return false;
}

/* WHOLE_PATH: to be copied from the terminal. */
static void print_what(const struct page_file *file, const struct report_page *page, bool whole_path, FILE *out)
{
    char bytes[FORMAT_BYTES], shown[FORMAT_BYTES], of[FORMAT_BYTES], absolute[PATH_MAX];
    bool resolved = whole_path && realpath(file->path, absolute);
    safe_text_print(out, resolved ? absolute : file->shown, PATH_MAX);
    fprintf(out, ": %s", format_bytes(bytes, (double)page->bytes));
    if (page->operators < page->of)
        fprintf(out, ", %s of %s operators and the sums of the others", format_count(shown, page->operators),
                format_count(of, page->of));
}

/* Of --open: who shows it, or why nobody does. */
static void show(const struct page_file *file, const struct report_page *page, FILE *out)
{
    char path[PATH_MAX];
    const char *program = open_page_program();
    bool opened = program && realpath(file->path, path) && open_page(program, path);
    int error = errno;
    print_what(file, page, true, out);
    if (opened)
        fprintf(out, "; given to %s\n", program);
    else if (program)
        fprintf(out, "; %s can't be started (%s): open it in a browser\n", program, strerror(error));
    else
        fprintf(out, "; %s\n", open_page_why_not());
}

static void tell(const struct page_request *request, const struct page_file *file, const struct report_page *page,
                 FILE *out)
{
    if (request->open) {
        show(file, page, out);
    } else {
        print_what(file, page, false, out);
        fputs("; open it in a browser\n", out);
    }
    fflush(out);
}

int report_page_command(const struct page_request *request, struct report_options *options, const char *command)
{
    char name[PATH_MAX + sizeof "/report.html"];
    struct page_file file = {.descriptor = -1};
    struct report_page page = {0};
    if (!request->file && !default_name(options->session_folder, name, sizeof name))
        return report_command(options, stdout, stderr);
    if (!page_file_open(&file, request->file ? request->file : name, command))
        return EXIT_USAGE;
    if (!can_take_page(request, &file, options->json, command)) {
        page_file_close(&file);
        return EXIT_USAGE;
    }
    options->page = &page;
    int status = report_command(options, stdout, stderr);
    bool worth_it = page.text && !(page.unreadable && file.old_bytes); /* the old page may be of a good recording */
    if (!worth_it)
        page_file_close(&file);
    else if (!page_file_write(&file, page.text, page.bytes, command))
        status = EXIT_USAGE;
    else if (!file.standard_output)
        tell(request, &file, &page,
             options->json ? stderr : stdout); /* then standard output is JSON, and nothing else */
    free(page.text);
    return status;
}
