/* Counts line ends as a reader in C would look for them, with memchr: a part of what any reader of lines costs. */

#include <stddef.h>
#include <string.h>

size_t newlines(const char *text, size_t size)
{
    const char *end = text + size;
    size_t number = 0;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text)))) {
        number++;
        text++;
    }
    return number;
}
