#define VERSION avx2
#define VERSION_NAME "avx2"
#define VECTOR_BYTES 32
#include "loops.inc"
