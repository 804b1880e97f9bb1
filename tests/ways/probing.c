/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose constructor looks up a thousand names from four threads, as run-time libraries do that probe for others,
 * and keeps a transcript. Its constructor runs before that of a preload. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, LOOKUPS = 1000 };
static const char *const names[] = {"malloc",         "no_such_function", "cublasGemmEx",    "cuLaunchKernel",
                                    "curl_easy_init", "cuda_no_such",     "ompt_start_tool", "__cudaRegisterFunction"};

static unsigned hashes[THREADS];
__attribute__((visibility("default"))) unsigned probing_hash(void);

static void add(unsigned *hash, const char *text)
{
    for (; *text; text++)
        *hash = (*hash ^ (unsigned char)*text) * 16777619u;
}

static void *probe(void *argument)
{
    unsigned *hash = argument;
    for (int i = 0; i < LOOKUPS; i++) {
        const char *name = names[i % 8], *error;
        void *symbol = i % 3 == 2 ? dlvsym(RTLD_DEFAULT, name, "GLIBC_2.2.5")
                       : i % 3    ? dlsym(RTLD_NEXT, name)
                                  : dlsym(RTLD_DEFAULT, name);
        error = dlerror();
        add(hash, symbol ? "there" : "not there");
        add(hash, error ? error : "");
    }
    return NULL;
}

__attribute__((constructor)) static void loaded(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, probe, &hashes[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

unsigned probing_hash(void)
{
    unsigned hash = 0;
    for (int i = 0; i < THREADS; i++)
        hash = hash * 31 + hashes[i];
    return hash;
}
