/* Binary payloads as JSON. The bytes are C structures, so the compiler says where their
 * fields lie; what must come out is written beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

#define BIT(column) (1u << (column))
#define ALL(last) ((1u << ((last) + 1)) - 1)
#define PROCESS 1
#define CHILD 2
#define STATIC 1
#define DYNAMIC 2
#define UNION 3
#define UNION_SELECTED 4
#define POINTER (1 << 1)
#define FIXED (1 << 4)
#define ZERO_ENDS (2 << 4)
#define LENGTH (3 << 4)
#define LENGTH_PAYLOAD (4 << 4)
#define FIRST_SCHEMA 16777216

struct recording {
	char folder[64];
	char path[128];
	struct report_writer *writer;
	struct query *q;
	int64_t next_schema;
	int64_t next_set;
	int64_t time;
};

static int64_t string_id(struct recording *r, const char *text)
{
	return (int64_t)report_string(r->writer, text, strlen(text));
}

static void append(struct recording *r, enum table_id table, uint32_t track, const int64_t *v, uint32_t present)
{
	assert_int_equal(report_append(report_track(r->writer, table, track), v, present), 0);
}

static void add_process(struct recording *r, int64_t uid, int64_t parent, int64_t origin)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_PROCESS_UID] = uid;
	v[COLUMN_PROCESS_PID] = 1000 + uid;
	v[COLUMN_PROCESS_PARENT] = parent;
	v[COLUMN_PROCESS_ORIGIN] = origin;
	append(r, TABLE_PROCESS, 0, v,
	       BIT(COLUMN_PROCESS_UID) | BIT(COLUMN_PROCESS_PID) | BIT(COLUMN_PROCESS_PARENT) | BIT(COLUMN_PROCESS_ORIGIN));
	memset(v, 0, sizeof(v));
	v[COLUMN_TRACK_ID] = uid;
	v[COLUMN_TRACK_KIND] = TRACK_NVTX_MARK;
	v[COLUMN_TRACK_PROCESS] = uid;
	append(r, TABLE_TRACK, 0, v, ALL(COLUMN_TRACK_DEPTH));
}

static int set_up(void **state)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct error err;

	make_folder(r->folder, sizeof(r->folder));
	snprintf(r->path, sizeof(r->path), "%s/run.sonde", r->folder);
	assert_int_equal(report_writer_open(&r->writer, r->path, 0, NULL, 0, &err), 0);
	r->next_schema = FIRST_SCHEMA;
	add_process(r, PROCESS, 0, 1);
	add_process(r, CHILD, PROCESS, 2);
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	struct recording *r = *state;

	query_close(r->q);
	remove_folder(r->folder);
	free(r);
	return 0;
}

struct field {
	int64_t type;
	const char *name;
	int64_t flags;
	int64_t detail;
	int64_t offset;
};

static void add_entry(struct recording *r, int64_t schema, int64_t index, const struct field *field)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	uint32_t present = ALL(COLUMN_NVTX_SCHEMA_ENTRY_OFFSET) & ~BIT(COLUMN_NVTX_SCHEMA_ENTRY_DESCRIPTION);

	v[COLUMN_NVTX_SCHEMA_ENTRY_PROCESS] = PROCESS;
	v[COLUMN_NVTX_SCHEMA_ENTRY_SCHEMA] = schema;
	v[COLUMN_NVTX_SCHEMA_ENTRY_INDEX] = index;
	v[COLUMN_NVTX_SCHEMA_ENTRY_FLAGS] = field->flags;
	v[COLUMN_NVTX_SCHEMA_ENTRY_TYPE] = field->type;
	v[COLUMN_NVTX_SCHEMA_ENTRY_DETAIL] = field->detail;
	v[COLUMN_NVTX_SCHEMA_ENTRY_OFFSET] = field->offset;
	if (field->name)
		v[COLUMN_NVTX_SCHEMA_ENTRY_NAME] = string_id(r, field->name);
	else
		present &= ~BIT(COLUMN_NVTX_SCHEMA_ENTRY_NAME);
	append(r, TABLE_NVTX_SCHEMA_ENTRY, 0, v, present);
}

static int64_t add_schema_of(struct recording *r, int64_t type, int64_t size, int64_t align, const struct field *fields, size_t count)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 }, id = r->next_schema++;

	v[COLUMN_NVTX_SCHEMA_PROCESS] = PROCESS;
	v[COLUMN_NVTX_SCHEMA_ID] = id;
	v[COLUMN_NVTX_SCHEMA_TYPE] = type;
	v[COLUMN_NVTX_SCHEMA_ENTRIES] = (int64_t)count;
	v[COLUMN_NVTX_SCHEMA_SIZE] = size;
	v[COLUMN_NVTX_SCHEMA_ALIGN] = align;
	append(r, TABLE_NVTX_SCHEMA, 0, v, ALL(COLUMN_NVTX_SCHEMA_ALIGN) & ~BIT(COLUMN_NVTX_SCHEMA_NAME));
	for (size_t i = 0; i < count; i++)
		add_entry(r, id, (int64_t)i, &fields[i]);
	return id;
}

#define FIELDS(...) (const struct field[]){ __VA_ARGS__ }, sizeof((const struct field[]){ __VA_ARGS__ }) / sizeof(struct field)

static int64_t add_blob(struct recording *r, const void *data, size_t size)
{
	return (int64_t)report_blob(r->writer, data, size);
}

/* A mark of a process with one payload, and the arguments of a set if that is not 0. */
static void add_mark_of(struct recording *r, uint32_t process, int64_t schema, const void *data, size_t size, int64_t set)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };
	uint32_t present = BIT(COLUMN_INSTANT_TIME) | BIT(COLUMN_INSTANT_BLOB) | BIT(COLUMN_INSTANT_SCHEMA);

	v[COLUMN_INSTANT_TIME] = ++r->time;
	v[COLUMN_INSTANT_BLOB] = add_blob(r, data, size);
	v[COLUMN_INSTANT_SCHEMA] = schema;
	v[COLUMN_INSTANT_ARGS] = set;
	append(r, TABLE_INSTANT, process, v, present | (set ? BIT(COLUMN_INSTANT_ARGS) : 0));
}

static void add_mark(struct recording *r, int64_t schema, const void *data, size_t size)
{
	add_mark_of(r, PROCESS, schema, data, size, 0);
}

static void add_numbered(struct recording *r, int64_t set, int64_t number, int64_t schema, const void *data, size_t size)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_ARG_SET] = set;
	v[COLUMN_ARG_INTEGER] = number;
	v[COLUMN_ARG_BLOB] = add_blob(r, data, size);
	v[COLUMN_ARG_SCHEMA] = schema;
	append(r, TABLE_ARG, 0, v, BIT(COLUMN_ARG_SET) | BIT(COLUMN_ARG_INTEGER) | BIT(COLUMN_ARG_BLOB) | BIT(COLUMN_ARG_SCHEMA));
}

static void add_arg(struct recording *r, int64_t set, int64_t schema, const void *data, size_t size)
{
	add_numbered(r, set, 1, schema, data, size);
}

/* Finishes the report; the marks' JSON in order, one per row. What is not null must be valid. */
static const char *json_of(struct recording *r)
{
	struct error err;

	assert_int_equal(report_writer_finish(r->writer, &err), 0);
	assert_int_equal(query_open(&r->q, r->path, &err), 0);
	assert_string_equal(ask(r->q, "SELECT count(*) FROM NVTX_EVENTS WHERE jsonText IS NOT NULL AND NOT json_valid(jsonText)"), "0");
	return ask(r->q, "SELECT jsonText FROM NVTX_EVENTS ORDER BY start");
}

static void test_numbers_of_every_kind(void **state)
{
	struct {
		char c;
		unsigned char uc;
		short s;
		unsigned short us;
		int i;
		unsigned u;
		long l;
		unsigned long ul;
		long long ll;
		unsigned long long ull;
		int8_t i8;
		uint8_t u8;
		int16_t i16;
		uint16_t u16;
		int32_t i32;
		uint32_t u32;
		int64_t i64;
		uint64_t u64;
		float f;
		double d;
		size_t z;
		void *p;
		uint8_t byte;
		uint32_t color;
		uint64_t scope;
	} data = { -1,        255,
		   -2,        65535,
		   -3,        4000000000u,
		   -4,        18446744073709551615ul,
		   -5,        10,
		   -128,      200,
		   -300,      60000,
		   -70000,    70000,
		   INT64_MIN, UINT64_MAX,
		   0.1f,      0.1,
		   77,        (void *)(uintptr_t)4096,
		   17,        0xff00ff00u,
		   9 };

	/* No offsets: by the rules of C. */
	add_mark(*state,
		 add_schema_of(*state, STATIC, sizeof(data), 0,
			       FIELDS({ 1, "c" }, { 2, "uc" }, { 3, "s" }, { 4, "us" }, { 5, "i" }, { 6, "u" }, { 7, "l" }, { 8, "ul" },
				      { 9, "ll" }, { 10, "ull" }, { 11, "i8" }, { 12, "u8" }, { 13, "i16" }, { 14, "u16" }, { 15, "i32" },
				      { 16, "u32" }, { 17, "i64" }, { 18, "u64" }, { 19, "f" }, { 20, "d" }, { 22, "z" }, { 23, "p" },
				      { 32, "byte" }, { 69, "color" }, { 70, "scope" })),
		 &data, sizeof(data));
	assert_string_equal(json_of(*state),
			    "{\"c\":-1,\"uc\":255,\"s\":-2,\"us\":65535,\"i\":-3,\"u\":4000000000,\"l\":-4,"
			    "\"ul\":18446744073709551615,\"ll\":-5,\"ull\":10,\"i8\":-128,\"u8\":200,\"i16\":-300,\"u16\":60000,"
			    "\"i32\":-70000,\"u32\":70000,\"i64\":-9223372036854775808,\"u64\":18446744073709551615,\"f\":0.1,"
			    "\"d\":0.1,\"z\":77,\"p\":4096,\"byte\":17,\"color\":4278255360,\"scope\":9}");
}

static void test_numbers_of_unusual_width(void **state)
{
	struct {
		uint16_t half[4], bf16;
		uint32_t tf32;
		uint64_t quad[2];
		uint64_t least[2], most[2];
	} data = { { 0x3c00, 0xc000, 0x7c00, 0x0001 }, 0x3fc0, 0x40490000, { 0, 0xbfff800000000000 }, { 0, 0x8000000000000000 },
		   { UINT64_MAX, UINT64_MAX } };
	long double extended = 2.5L;

	add_mark(*state,
		 add_schema_of(*state, STATIC, 0, 0,
			       FIELDS({ 42, "half", FIXED, 4 }, { 50, "bf16", 0, 0, 8 }, { 52, "tf32", 0, 0, 12 }, { 45, "quad", 0, 0, 16 },
				      { 33, "least", 0, 0, 32 }, { 34, "most", 0, 0, 48 })),
		 &data, sizeof(data));
	add_mark(*state, 21, &extended, sizeof(extended));
	assert_string_equal(json_of(*state),
			    "{\"half\":[1,-2,\"Infinity\",5.9604645e-08],\"bf16\":1.5,\"tf32\":3.140625,\"quad\":-1.5,"
			    "\"least\":-170141183460469231731687303715884105728,\"most\":340282366920938463463374607431768211455};2.5");
}

static void test_numbers_that_json_has_not(void **state)
{
	double data[] = { (double)__builtin_nanf(""), (double)__builtin_inff(), -(double)__builtin_inff(), -0.0, 1e300 };

	add_mark(*state, add_schema_of(*state, STATIC, 0, 0, FIELDS({ 20, "d", FIXED, 5 })), data, sizeof(data));
	assert_string_equal(json_of(*state), "{\"d\":[\"NaN\",\"Infinity\",\"-Infinity\",-0,1e+300]}");
}

static void test_arrays(void **state)
{
	/* clang-format off */
	struct { int16_t fixed[3]; uint32_t zero_ends[4]; uint8_t bytes[3]; char text[8]; uint16_t wide[4]; } data = {
		{ -1, 0, 1 }, { 7, 8, 0, 9 }, { 0xca, 0xfe, 0x01 }, "ab\"\n", { 0x20ac, 0xd83d, 0xde00, 0 } };
	/* clang-format on */

	add_mark(*state,
		 add_schema_of(*state, STATIC, 0, 0,
			       FIELDS({ 13, "fixed", FIXED, 3 }, { 16, "until zero", ZERO_ENDS, 0, 8 }, { 32, "bytes", FIXED, 3, 24 },
				      { 1, "text", FIXED, 8, 27 }, { 26, "wide", FIXED, 4, 36 })),
		 &data, sizeof(data));
	assert_string_equal(json_of(*state), "{\"fixed\":[-1,0,1],\"until zero\":[7,8],\"bytes\":\"cafe01\","
					     "\"text\":\"ab\\\"\\n\",\"wide\":\"\xe2\x82\xac\xf0\x9f\x98\x80\"}");
}

/* Everything behind the first variable length is found by walking. */
static void test_lengths_in_the_data(void **state)
{
	/* clang-format off */
	static const uint8_t data[] = { 3, 0, 0, 0, 10, 0, 20, 0, 30, 0, 'h', 'i', 0, 0, 0, 0, /* to 4 */
					2, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 5, 'w', 'o', 'r', 'l', 'd', 9 };
	/* clang-format on */

	add_mark(*state,
		 add_schema_of(*state, DYNAMIC, 0, 0,
			       FIELDS({ 16, "n" }, { 14, "values", LENGTH, 0, 4 }, { 75, "text", ZERO_ENDS }, { 16, "shape", FIXED, 2 },
				      { 12, "matrix", LENGTH, 3 }, { 12, "length" }, { 76, "word", LENGTH, 5 }, { 12, "last" })),
		 data, sizeof(data));
	assert_string_equal(json_of(*state), "{\"n\":3,\"values\":[10,20,30],\"text\":\"hi\",\"shape\":[2,3],"
					     "\"matrix\":[[1,2,3],[4,5,6]],\"length\":5,\"word\":\"world\",\"last\":9}");
}

static void test_length_in_another_payload(void **state)
{
	uint64_t count = 2, later = 1;
	float data[] = { 1.5f, -2.5f, 99 };
	int64_t schema = add_schema_of(*state, DYNAMIC, 0, 0, FIELDS({ 19, "data", LENGTH_PAYLOAD, 0 }));
	int64_t schema_of_2 = add_schema_of(*state, DYNAMIC, 0, 0, FIELDS({ 19, "data", LENGTH_PAYLOAD, 1 }));

	add_arg(*state, 1, schema, data, sizeof(data));
	/* A second call, its first payload left out: numbers are those of the call. */
	add_numbered(*state, 1, 0, 22, &later, sizeof(later));
	add_numbered(*state, 1, 2, schema, data, sizeof(data));
	add_numbered(*state, 1, 3, schema_of_2, data, sizeof(data));
	add_mark_of(*state, PROCESS, 22, &count, sizeof(count), 1);
	assert_string_equal(json_of(*state), "[2,{\"data\":[1.5,-2.5]},1,{\"data\":[1.5]},{\"data\":null}]");
}

struct point {
	float x;
	float y;
};
struct named {
	uint8_t id;
	struct point at;
	char name[4];
};

static void test_nested_schemas(void **state)
{
	/* clang-format off */
	struct { uint8_t flag; struct named one; struct named many[2]; int32_t last; } data = {
		1, { 2, { 0.5f, 1.5f }, "one" }, { { 3, { 2, 3 }, "abcd" }, { 4, { 4, 5 }, "" } }, -7 };
	/* clang-format on */
	int64_t point = add_schema_of(*state, STATIC, 0, 0, FIELDS({ 19, "x" }, { 19, "y" }));
	int64_t named = add_schema_of(*state, STATIC, 0, 0, FIELDS({ 12, "id" }, { point, "at" }, { 75, "name", 0, 4 }));

	/* Neither sizes nor offsets given. */
	add_mark(*state,
		 add_schema_of(*state, STATIC, 0, 0, FIELDS({ 12, "flag" }, { named, "one" }, { named, "many", FIXED, 2 }, { 15, "last" })),
		 &data, sizeof(data));
	assert_string_equal(json_of(*state),
			    "{\"flag\":1,\"one\":{\"id\":2,\"at\":{\"x\":0.5,\"y\":1.5},\"name\":\"one\"},"
			    "\"many\":[{\"id\":3,\"at\":{\"x\":2,\"y\":3},\"name\":\"abcd\"},{\"id\":4,\"at\":{\"x\":4,\"y\":5},"
			    "\"name\":\"\"}],\"last\":-7}");
}

static void test_packed_structures(void **state)
{
	struct __attribute__((packed)) {
		uint8_t a;
		uint32_t b;
		uint64_t c;
	} data = { 1, 2, 3 };

	add_mark(*state, add_schema_of(*state, STATIC, 0, 1, FIELDS({ 12, "a" }, { 16, "b" }, { 18, "c" })), &data, sizeof(data));
	assert_string_equal(json_of(*state), "{\"a\":1,\"b\":2,\"c\":3}");
}

static void test_unions(void **state)
{
	struct {
		uint32_t which;
		union {
			uint32_t number;
			float real;
		} value;
		uint32_t after;
	} outside = { 1, { .real = 1.0f }, 6 };
	struct {
		uint8_t which;
		uint8_t pad[3];
		union {
			uint32_t number;
			float real;
		} value;
	} inside = { 2, { 0 }, { .real = 0.5f } };
	uint32_t bare = 0x3f800000;
	int64_t u = add_schema_of(*state, UNION, 0, 0, FIELDS({ 16, "number" }, { 19, "real" }));
	int64_t selected = add_schema_of(*state, UNION_SELECTED, 8, 0,
					 FIELDS({ 100, "which" }, { 16, "number", 0, 0, 4 }, { 19, "real", 0, 0, 4 }));
	int64_t outer = add_schema_of(*state, STATIC, 0, 0, FIELDS({ 16, "which" }, { u, "value", 0, 0 }, { 16, "after" }));

	add_mark(*state, outer, &outside, sizeof(outside));
	outside.which = 0;
	add_mark(*state, outer, &outside, sizeof(outside));
	outside.which = 5;
	add_mark(*state, outer, &outside, sizeof(outside));
	add_mark(*state, selected, &inside, sizeof(inside));
	add_mark(*state, u, &bare, sizeof(bare));
	assert_string_equal(json_of(*state),
			    "{\"which\":1,\"value\":{\"real\":1},\"after\":6};{\"which\":0,\"value\":{\"number\":1065353216},\"after\":6};"
			    "{\"which\":5,\"value\":{\"number\":1065353216,\"real\":1},\"after\":6};{\"real\":0.5};"
			    "{\"number\":1065353216,\"real\":1}");
}

static int64_t add_enum(struct recording *r, int64_t size)
{
	static const struct {
		const char *name;
		int64_t value, is_flag;
	} labels[] = { { "none", 0, 0 }, { "minus", -1, 0 }, { "read", 1, 1 }, { "write", 2, 1 } };
	int64_t v[TABLE_MAX_COLUMNS] = { 0 }, id = r->next_schema++;

	v[COLUMN_NVTX_ENUM_PROCESS] = PROCESS;
	v[COLUMN_NVTX_ENUM_SCHEMA] = id;
	v[COLUMN_NVTX_ENUM_SIZE] = size;
	append(r, TABLE_NVTX_ENUM, 0, v, ALL(COLUMN_NVTX_ENUM_SIZE) & ~BIT(COLUMN_NVTX_ENUM_NAME));
	for (int64_t i = 0; i < 4; i++) {
		memset(v, 0, sizeof(v));
		v[COLUMN_NVTX_ENUM_ENTRY_PROCESS] = PROCESS;
		v[COLUMN_NVTX_ENUM_ENTRY_SCHEMA] = id;
		v[COLUMN_NVTX_ENUM_ENTRY_INDEX] = i;
		v[COLUMN_NVTX_ENUM_ENTRY_NAME] = string_id(r, labels[i].name);
		v[COLUMN_NVTX_ENUM_ENTRY_VALUE] = labels[i].value;
		v[COLUMN_NVTX_ENUM_ENTRY_IS_FLAG] = labels[i].is_flag;
		append(r, TABLE_NVTX_ENUM_ENTRY, 0, v, ALL(COLUMN_NVTX_ENUM_ENTRY_IS_FLAG));
	}
	return id;
}

static void test_enumerations(void **state)
{
	int16_t data[] = { 0, -1, 3, 2, 9 };
	int64_t id = add_enum(*state, sizeof(data[0]));

	add_mark(*state, add_schema_of(*state, STATIC, 0, 0, FIELDS({ id, "all", FIXED, 5 })), data, sizeof(data));
	assert_string_equal(json_of(*state), "{\"all\":[\"none\",\"minus\",\"read|write\",\"write\",9]}");
}

static void add_registered(struct recording *r, int64_t process, int64_t id, const char *text)
{
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_NVTX_STRING_PROCESS] = process;
	v[COLUMN_NVTX_STRING_ID] = id;
	v[COLUMN_NVTX_STRING_NAME] = string_id(r, text);
	v[COLUMN_NVTX_STRING_HANDLE] = 0x7f0000000000 + id;
	append(r, TABLE_NVTX_STRING, 0, v, ALL(COLUMN_NVTX_STRING_HANDLE));
}

/* A forked process knows its parent's schemas and strings; the parent not the child's. */
static void test_registered_strings(void **state)
{
	uint64_t data[] = { 41, 0x7f0000000042, 0 };
	int64_t schema = add_schema_of(*state, STATIC, 0, 0, FIELDS({ 80, "names", FIXED, 3 }));

	add_registered(*state, PROCESS, 41, "the parent's");
	add_registered(*state, CHILD, 0x42, "the child's");
	add_mark_of(*state, PROCESS, schema, data, sizeof(data), 0);
	add_mark_of(*state, CHILD, schema, data, sizeof(data), 0);
	assert_string_equal(json_of(*state), "{\"names\":[\"the parent's\",null,null]};"
					     "{\"names\":[\"the parent's\",\"the child's\",null]}");
}

static void test_texts(void **state)
{
	/* A pointer was replaced by the place of the copy; a second one was NULL. */
	/* clang-format off */
	struct { uint64_t copied, absent, elsewhere; char fixed[6]; char list[9]; uint8_t pad; char copy[8]; } data = {
		.copied = 40, .absent = 0, .elsewhere = 1ull << 40, .fixed = "a\xff" "b", .list = "onetwo\0\0", .copy = "copy" };
	/* clang-format on */

	assert_int_equal(offsetof(__typeof__(data), copy), 40);
	add_mark(*state,
		 add_schema_of(*state, STATIC, 0, 0,
			       FIELDS({ 75, "copied" }, { 76, "absent" }, { 75, "elsewhere" }, { 75, "fixed", 0, 6 },
				      { 75, "list", ZERO_ENDS, 3 }, { 18, NULL, POINTER, 0, 16 })),
		 &data, sizeof(data));
	assert_string_equal(json_of(*state), "{\"copied\":\"copy\",\"absent\":null,\"elsewhere\":null,"
					     "\"fixed\":\"a\xef\xbf\xbd"
					     "b\",\"list\":[\"one\",\"two\"],\"5\":1099511627776}");
}

static void test_several_payloads(void **state)
{
	int32_t one = 1, two = 2, three = 3;
	int64_t schema = add_schema_of(*state, STATIC, 4, 0, FIELDS({ 15, "v" }));

	/* Sets interleave when ranges nest. */
	add_arg(*state, 1, schema, &two, sizeof(two));
	add_arg(*state, 2, 1023, "\x01\x02", 2);
	add_arg(*state, 1, 75, "text", 4);
	add_arg(*state, 1, FIRST_SCHEMA + 1000, &three, sizeof(three));
	add_mark_of(*state, PROCESS, schema, &one, sizeof(one), 1);
	add_mark_of(*state, PROCESS, schema, &three, sizeof(three), 2);
	add_mark_of(*state, PROCESS, schema, &three, sizeof(three), 0);
	assert_string_equal(json_of(*state), "[{\"v\":1},{\"v\":2},\"text\",null];[{\"v\":3},\"0102\"];{\"v\":3}");
}

static void test_payloads_without_a_schema(void **state)
{
	uint16_t numbers[] = { 1, 2, 3 };
	double real = 0.5;

	add_mark(*state, 14, numbers, sizeof(numbers));
	add_mark(*state, 20, &real, sizeof(real));
	add_mark(*state, 76, "gr\xc3\xbc\xc3\x9f", 7);
	add_mark(*state, FIRST_SCHEMA + 1, numbers, sizeof(numbers));
	add_mark(*state, 1022, numbers, sizeof(numbers));
	assert_string_equal(json_of(*state), "[1,2,3];0.5;\"gr\xc3\xbc\xc3\x9f\";;");
}

/* Whatever schemas say, nothing outside of the data is shown, and it ends. */
static void test_nothing_is_believed(void **state)
{
	uint32_t data[] = { 0xffffffff, 2 };
	struct recording *r = *state;
	int64_t self = r->next_schema, pair;

	add_schema_of(r, STATIC, 0, 0, FIELDS({ 16, "n" }, { self, "self" }, { self, "array", FIXED, INT64_MAX }));
	pair = add_schema_of(r, STATIC, 8, 0, FIELDS({ 16, "a" }, { 16, "b" }));
	add_mark(r, add_schema_of(r, DYNAMIC, 0, 0, FIELDS({ 16, "n" }, { 16, "too long", LENGTH, 0, 4 }, { 16, "behind" })), data,
		 sizeof(data));
	add_mark(r,
		 add_schema_of(r, STATIC, 0, 0,
			       FIELDS({ 16, "far", 0, 0, INT64_MAX }, { 18, "across", 0, 0, 4 }, { 16, "many", FIXED, INT64_MAX, 4 },
				      { 16, "negative", FIXED, -1, 4 }, { 16, "no such length", LENGTH, 99 },
				      { 16, "own length", LENGTH, 5, 4 }, { 16, "no such payload", LENGTH_PAYLOAD, 7 })),
		 data, sizeof(data));
	add_mark(r,
		 add_schema_of(r, STATIC, 0, 0,
			       FIELDS({ 75, "text", 0, INT64_MAX }, { pair, "cut", 0, 0, 4 }, { pair, "outside", FIXED, 3, 8 },
				      { 75, "list", ZERO_ENDS, INT64_MAX }, { 77, "wide", LENGTH, 0 }, { 4711, "unknown" })),
		 data, sizeof(data));
	assert_string_equal(
		json_of(r),
		"{\"n\":4294967295,\"too long\":[2],\"behind\":null};"
		"{\"far\":null,\"across\":null,\"many\":[2],\"negative\":[],\"no such length\":null,\"own length\":null,"
		"\"no such payload\":null};"
		"{\"text\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\u0002\",\"cut\":{\"a\":2,\"b\":null},\"outside\":null,"
		"\"list\":null,\"wide\":null,\"unknown\":null}");
}

static void test_schemas_within_themselves_end(void **state)
{
	static uint8_t data[65536];
	struct recording *r = *state;
	int64_t self = r->next_schema, wide[17];

	memset(data, 1, sizeof(data));
	add_schema_of(r, STATIC, 0, 0, FIELDS({ self, "a" }, { self, "b" }, { self, "c", FIXED, INT64_MAX }));
	add_mark(r, self, data, sizeof(data));
	self = add_schema_of(r, STATIC, 1, 0, FIELDS({ r->next_schema, "again", FIXED, INT64_MAX }));
	add_mark(r, self, data, sizeof(data));
	/* Each level eight of the next: 8^16 in all. */
	wide[0] = add_schema_of(r, STATIC, 1, 0, FIELDS({ 12, "leaf" }));
	for (int i = 1; i <= 16; i++)
		wide[i] = add_schema_of(r, UNION, 0, 0,
					FIELDS({ wide[i - 1], "a", 0, 9 }, { wide[i - 1], "b", 0, 9 }, { wide[i - 1], "c", 0, 9 },
					       { wide[i - 1], "d", 0, 9 }, { wide[i - 1], "e", 0, 9 }, { wide[i - 1], "f", 0, 9 },
					       { wide[i - 1], "g", 0, 9 }, { wide[i - 1], "h", 0, 9 }));
	add_mark(r, wide[16], data, sizeof(data));
	add_mark(r, wide[1], data, 1);
	assert_memory_equal(json_of(r), "{\"a\":{\"leaf\":1},\"b\"", 19);
	/* Too long to be shown; the bytes are. */
	assert_string_equal(ask(r->q, "SELECT count(*), count(jsonText), count(binaryData) FROM NVTX_EVENTS"), "4|1|4");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		TEST(test_numbers_of_every_kind), TEST(test_numbers_of_unusual_width),
		TEST(test_numbers_that_json_has_not), TEST(test_arrays), TEST(test_lengths_in_the_data),
		TEST(test_length_in_another_payload), TEST(test_nested_schemas), TEST(test_packed_structures),
		TEST(test_unions), TEST(test_enumerations), TEST(test_registered_strings), TEST(test_texts),
		TEST(test_several_payloads), TEST(test_payloads_without_a_schema), TEST(test_nothing_is_believed),
		TEST(test_schemas_within_themselves_end),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, NULL);
}
