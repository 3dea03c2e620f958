// The GNU C library keeps large blocks that were freed once, so that one burst of large messages stays with the process for good.
// With a fixed limit they go back to the system.
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>

#define LARGE_BYTES (1 << 20)

__attribute__((constructor)) static void give_back_large_blocks(void) {
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}
#endif
