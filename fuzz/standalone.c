/* Runs a harness over the named files, for compilers without a fuzzer. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return 0;
    }
    size_t size = (size_t)ftell(file);
    uint8_t *data = malloc(size ? size : 1);
    rewind(file);
    int read = data && fread(data, 1, size, file) == size;
    if (read)
        LLVMFuzzerTestOneInput(data, size);
    else
        perror(path);
    free(data);
    fclose(file);
    return read;
}

int main(int count, char **paths)
{
    int failed = 0;
    for (int i = 1; i < count; i++)
        failed += !run_file(paths[i]);
    printf("%d inputs, no failure found\n", count - 1 - failed);
    return failed > 0;
}
