// libpq, the C library of PostgreSQL. Only its pipeline mode is used.
#include <libpq-fe.h>

// The fields of errors are macros with characters, which Swift does not import.
static inline char *headway_sqlstate(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_SQLSTATE); }
static inline char *headway_message(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}
static inline char *headway_detail(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
}
static inline char *headway_constraint(const PGresult *result) {
  return PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
}
static inline char *headway_table(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_TABLE_NAME); }
static inline char *headway_column(const PGresult *result) { return PQresultErrorField(result, PG_DIAG_COLUMN_NAME); }
