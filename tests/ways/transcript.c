/* SPDX-License-Identifier: Apache-2.0 */
/* `transcript CUBLAS PLUGIN`: every kind of look-up in every state of the process, three times each; prints the library that
 * the answer is in, or dlerror()'s text, and what dlerror() says after that. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *ask_function(void *handle, const char *name, const char *version);

static void *ask_here(void *handle, const char *name, const char *version)
{
    void *volatile symbol = version ? dlvsym(handle, name, version) : dlsym(handle, name);
    return symbol;
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void show(const char *who, ask_function *ask, const char *label, void *handle, const char *name,
                 const char *version)
{
    for (int i = 0; i < 3; i++) {
        Dl_info info;
        errno = 77;
        void *symbol = ask(handle, name, version);
        int after = errno;
        const char *error = dlerror();
        printf("%s %s %s%s%s: ", who, label, name, version ? "@" : "", version ? version : "");
        if (symbol && dladdr(symbol, &info))
            printf("in %s", base(info.dli_fname));
        else
            printf("%s", symbol ? "somewhere" : "NULL");
        printf("; error: %s", error ? error : "none");
        printf("; then: %s; errno %s\n", dlerror() ? "another" : "none", !symbol || after == 77 ? "kept" : "changed");
    }
}

static const char *const names[] = {"puts",
                                    "no_such_function",
                                    "curl_easy_init",
                                    "cudnnCreate",
                                    "cu",
                                    "",
                                    "_",
                                    "__cuda",
                                    "c",
                                    "cublasGemmEx",
                                    "cublasCreate_v2",
                                    "cuLaunchKernel",
                                    "cudaLaunchKernel",
                                    "cuGetProcAddress_v2",
                                    "cublasGemmEx_",
                                    "cublasGemmE",
                                    "dlsym"};

static void show_all(const char *who, ask_function *ask, const char *label, void *handle)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        show(who, ask, label, handle, names[i], NULL);
    show(who, ask, label, handle, "cublasGemmEx", "libcublas.so.13");
    show(who, ask, label, handle, "cublasGemmEx", "libcublas.so.99");
    show(who, ask, label, handle, "puts", "GLIBC_2.2.5");
    show(who, ask, label, handle, "puts", "GLIBC_9");
}

static void state(const char *title, ask_function *plugin, void *cublas)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    printf("---- %s\n", title);
    show_all("program", ask_here, "default", RTLD_DEFAULT);
    show_all("program", ask_here, "next", RTLD_NEXT);
    show_all("program", ask_here, "itself", program);
    if (cublas)
        show_all("program", ask_here, "cublas", cublas);
    if (!plugin)
        return;
    show_all("plugin", plugin, "default", RTLD_DEFAULT);
    show_all("plugin", plugin, "next", RTLD_NEXT);
    show_all("plugin", plugin, "itself", program);
}

/* dlerror() is a thread's own. */
static void *in_thread(void *cublas)
{
    state("a second thread", NULL, cublas);
    return NULL;
}

static void *opened(const char *path, int mode)
{
    void *handle = dlopen(path, mode);
    if (!handle) {
        printf("%s\n", dlerror());
        exit(2);
    }
    return handle;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    state("nothing is loaded", NULL, NULL);
    void *library = opened(arguments[2], RTLD_NOW | RTLD_LOCAL);
    ask_function *plugin;
    *(void **)&plugin = dlsym(library, "plugin_ask");
    state("a plug-in that has cuBLAS", plugin, NULL);
    void *cublas = opened(arguments[1], RTLD_NOW | RTLD_LOCAL);
    state("cuBLAS opened RTLD_LOCAL", plugin, cublas);
    opened(arguments[1], RTLD_NOW | RTLD_GLOBAL);
    state("cuBLAS opened RTLD_GLOBAL", plugin, cublas);
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, cublas) || pthread_join(thread, NULL))
        return 3;
    /* An error that was there before is the C library's to keep or to forget. */
    dlsym(cublas, "no_such_function");
    dlsym(cublas, "cublasGemmEx");
    printf("after a success: %s\n", dlerror() ? "an error" : "no error");
    return 0;
}
