#define VERSION avx512
#define VERSION_NAME "avx512"
#define VECTOR_BYTES 64
#include "loops.inc"
