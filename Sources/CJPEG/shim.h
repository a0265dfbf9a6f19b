// libjpeg-turbo. `jpeglib.h` needs `stdio.h` before it.
#include <stdio.h>

#include <jpeglib.h>
