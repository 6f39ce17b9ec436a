/* Numbers that NVTX's attributes give an event, beside colour, payload and message: FIELD(NAME, name, type). From here come the members of the
 * ring's record and of what agent and recorder keep of an event, and the values of the columns COLUMN_SLICE_NAME and COLUMN_INSTANT_NAME,
 * null where the number is 0. */
#ifndef SONDE_FMT_NVTX_FIELDS_H
#define SONDE_FMT_NVTX_FIELDS_H

#define NVTX_FIELDS(FIELD) FIELD(CATEGORY, category, uint32_t)

#define NVTX_FIELD_MEMBER(NAME, name, type) type name;

#endif
