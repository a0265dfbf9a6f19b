// cairo draws, pango lays out text, pangocairo draws it.
#include <pango/pangocairo.h>
