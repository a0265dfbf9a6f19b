// The target has only its header; a C target needs a source file.
#include "CHeadway.h"
