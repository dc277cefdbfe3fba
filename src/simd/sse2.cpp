#define VERSION sse2
#define VERSION_NAME "sse2"
#define VECTOR_BYTES 16
#include "loops.inc"
