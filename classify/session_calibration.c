/* SPDX-License-Identifier: Apache-2.0 */
/* A calibration changes no class but overhead, whose floor it sets, and no flag but starved, by its bandwidth against blocks;
 * beside those it has the figures that stand next to the specification's. */
#include "classify/session_calibration.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "classify/allocate.h"

static double known_or_zero(double value)
{
    return isfinite(value) && value > 0 ? value : 0;
}

static void describe_source(const struct calibration *calibration, char *text, size_t size)
{
    time_t seconds = (time_t)(calibration->measured_realtime_ns / 1000000000);
    struct tm utc;
    char day[32] = "";
    if (calibration->measured_realtime_ns >= 0 && gmtime_r(&seconds, &utc))
        strftime(day, sizeof day, " on %Y-%m-%d", &utc);
    snprintf(text, size, "%s by rooftap calibrate%s, cuBLAS %s",
             calibration->device.simulated == 1 ? "SIMULATED" : "measured", day,
             calibration->cublas[0] ? calibration->cublas : "of an unknown version");
}

static void attach(struct session_device *device, const struct calibration *calibration, const char *file)
{
    device->calibration = allocate(1, sizeof *device->calibration);
    *device->calibration = *calibration;
    device->calibration_file = allocate_text(file);
    for (int path = 0; path < GPU_PATH_COUNT; path++)
        device->measured.flops_per_second[path] =
            known_or_zero(calibration_flops_per_second(calibration, (enum gpu_path)path));
    device->measured.bytes_per_second = known_or_zero(calibration_bytes_per_second(calibration));
    describe_source(calibration, device->calibration_source, sizeof device->calibration_source);
    device->measured.source = device->calibration_source;
    if (isfinite(calibration->empty_kernel_ns))
        device->floor_ns = calibration->empty_kernel_ns;
}

static void add_problem(struct session *session, const char *text)
{
    session->bad_files = allocate_grow(session->bad_files, session->bad_file_count, &session->bad_file_capacity,
                                       sizeof *session->bad_files);
    session->bad_files[session->bad_file_count++] = (struct session_bad_file){allocate_text(text), false};
}

static void apply_kept(struct session *session, struct session_device *device)
{
    static struct calibration calibration; /* large, and one is read at a time */
    struct calibration_error error;
    char *path = calibration_path(&device->facts);
    if (path && (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != EACCES))) {
        bool read = calibration_read(&calibration, path, &error);
        if (read && !calibration_is_of(&calibration, &device->facts)) {
            read = false;
            snprintf(error.text, sizeof error.text,
                     "%s is the calibration of another GPU ('%s'); measure this one with 'rooftap calibrate'", path,
                     calibration.device.name);
        }
        if (read)
            attach(device, &calibration, path);
        else
            add_problem(session, error.text);
    }
    free(path);
}

static bool refuse(const struct session *session, const struct calibration *calibration, const char *file,
                   struct session_error *error)
{
    const struct session_device *only = session->device_count == 1 ? &session->devices[0] : NULL;
    char whose[TRACE_DEVICE_NAME_BYTES + 16] = "none of the GPUs of this session";
    if (only && only->described)
        snprintf(whose, sizeof whose, "not of '%s'", only->facts.name);
    snprintf(error->text, sizeof error->text,
             "%s is the calibration of '%s'%s, %s; a calibration holds for its very GPU only: measure with 'rooftap "
             "calibrate' there",
             file, calibration->device.name, calibration->device.simulated == 1 ? ", a simulated GPU" : "", whose);
    return false;
}

static bool apply_named(struct session *session, const char *file, struct session_error *error)
{
    static struct calibration calibration;
    struct calibration_error why;
    bool used = false;
    if (!calibration_read(&calibration, file, &why)) {
        snprintf(error->text, sizeof error->text, "%s", why.text);
        return false;
    }
    for (size_t i = 0; i < session->device_count; i++) {
        struct session_device *device = &session->devices[i];
        if (!device->described || !calibration_is_of(&calibration, &device->facts))
            continue;
        attach(device, &calibration, file);
        used = true;
    }
    return used || session->device_count == 0 || refuse(session, &calibration, file, error);
}

bool session_calibrations_apply(struct session *session, const char *file, struct session_error *error)
{
    if (file)
        return apply_named(session, file, error);
    for (size_t i = 0; i < session->device_count; i++)
        if (session->devices[i].described)
            apply_kept(session, &session->devices[i]);
    return true;
}

void session_calibration_free(struct session_device *device)
{
    free(device->calibration);
    free(device->calibration_file);
}
