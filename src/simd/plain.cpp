#define VERSION plain
#define VERSION_NAME "plain"
#define VECTOR_BYTES 8
#include "loops.inc"
