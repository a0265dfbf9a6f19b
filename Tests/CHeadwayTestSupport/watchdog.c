#include "CHeadwayTestSupport.h"

/* An exit test begins in the midst of a new process, which has not called any of our code before. This is called when
   the program is loaded. */
__attribute__((constructor)) static void watch_exit_test(void) { headway_watch_exit_test(); }
