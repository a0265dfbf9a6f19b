// zlib, which decompresses content, and the functions for extended attributes of files, which Glibc's module lacks.
#include <sys/types.h>
#include <sys/xattr.h>
#include <zlib.h>
