// uchardet, Mozilla's detector of encodings.
#include <uchardet/uchardet.h>
