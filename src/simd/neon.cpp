#define VERSION neon
#define VERSION_NAME "neon"
#define VECTOR_BYTES 16
#include "loops.inc"
