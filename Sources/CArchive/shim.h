// libarchive and zlib. Only the functions that read are used.
#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>
