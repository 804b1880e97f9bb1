/* SPDX-License-Identifier: Apache-2.0 */
/* Each option makes a row of its own for each device that it is for. */
#include "classify/session_peaks.h"

#include <stdio.h>
#include <stdlib.h>

#include "classify/allocate.h"

static void replace_roofs(struct session_device *device, const struct peak_option *option)
{
    struct gpu_spec *row = peak_option_row(option, &device->roofs);
    free(device->peak_row); /* of an earlier option; the new row has copied what it needs */
    device->peak_row = row;
    device->roofs = (struct device_roofs){row, 1, 1};
}

static bool apply_to_device(struct session *session, const struct peak_option *option, struct session_error *error)
{
    if ((size_t)option->device < session->device_count) {
        replace_roofs(&session->devices[option->device], option);
        return true;
    }
    snprintf(error->text, sizeof error->text,
             "--peak %d:... names a GPU that '%s' does not have; its GPUs are 0 to %zu", option->device, session->path,
             session->device_count - 1);
    return false;
}

static bool apply_without_row(struct session *session, const struct peak_option *option, const bool *row_known,
                              struct session_error *error)
{
    size_t applied = 0;
    for (size_t i = 0; i < session->device_count; i++) {
        if (row_known[i])
            continue;
        replace_roofs(&session->devices[i], option);
        applied++;
    }
    if (applied)
        return true;
    snprintf(error->text, sizeof error->text,
             "--peak is for GPUs without a row in the GPU table, and every GPU of '%s' has one; to replace its figures "
             "name it by its number in the report, as in --peak 0:bf16=165.2,bw=1008",
             session->path);
    return false;
}

bool session_peaks_apply(struct session *session, const struct peak_options *peaks, struct session_error *error)
{
    if (!peaks || session->device_count == 0)
        return true;
    bool *row_known = allocate(session->device_count, sizeof *row_known);
    bool good = true;
    for (size_t i = 0; i < session->device_count; i++)
        row_known[i] = session->devices[i].roofs.spec != NULL;
    for (size_t i = 0; good && i < peaks->count; i++) {
        const struct peak_option *option = &peaks->options[i];
        good = option->device == PEAK_OPTION_WITHOUT_ROW ? apply_without_row(session, option, row_known, error)
                                                         : apply_to_device(session, option, error);
    }
    free(row_known);
    return good;
}

void session_peaks_free(struct session *session)
{
    for (size_t i = 0; i < session->device_count; i++)
        free(session->devices[i].peak_row);
}
