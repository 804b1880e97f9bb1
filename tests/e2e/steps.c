/* SPDX-License-Identifier: Apache-2.0 */
/* Works on the GPU as its standard input says, line by line, and answers each line: `capture` makes a graph of ten GEMMs, of
 * m = 16, 32 ... 160, and its executable; `replay N` launches that; `eager N` makes the ten calls N times; `fork` does one call in
 * a child. Ends at the end of its input. */
#include "gemms.h"
#include "program.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GEMMS = 10 };

static struct gemms gemms;
static cudaGraphExec_t executable;

static void ten_calls(void)
{
    for (int i = 1; i <= GEMMS; i++)
        MUST(gemms_ex(&gemms, 16 * i, 64, 32));
}

static void capture(int unused)
{
    cudaGraph_t graph;
    (void)unused;
    MUST(cudaStreamBeginCapture(gemms.stream, cudaStreamCaptureModeGlobal));
    ten_calls();
    MUST(cudaStreamEndCapture(gemms.stream, &graph));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphDestroy(graph));
}

static void replay(int times)
{
    for (int i = 0; i < times; i++)
        MUST(cudaGraphLaunch(executable, gemms.stream));
    MUST(cudaStreamSynchronize(gemms.stream));
}

static void eager(int times)
{
    for (int i = 0; i < times; i++)
        ten_calls();
    MUST(cudaStreamSynchronize(gemms.stream));
}

static void fork_here(int unused)
{
    (void)unused;
    pid_t child = fork();
    if (child == 0) {
        gemms_ex(&gemms, 16, 64, 32); /* CUDA is of no use here; the call is made all the same */
        _exit(0);
    }
    int status = 0;
    MUST(child < 0 || waitpid(child, &status, 0) != child);
}

static const struct {
    const char *word;
    void (*run)(int number);
} steps[] = {{"capture", capture}, {"replay", replay}, {"eager", eager}, {"fork", fork_here}};

int main(void)
{
    char line[64], word[32];
    if (!gemms_open(&gemms)) {
        fprintf(stderr, "no GPU\n");
        return 3;
    }
    while (fgets(line, sizeof line, stdin)) {
        int number = 0;
        bool known = false;
        if (sscanf(line, "%31s %d", word, &number) < 1)
            continue;
        for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !known; i++)
            if ((known = !strcmp(word, steps[i].word)))
                steps[i].run(number);
        printf("%s\n", known ? "done" : "what?");
        fflush(stdout);
    }
    return 0;
}
