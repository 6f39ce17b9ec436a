/* What looks like a secret, and which variables say something about how a program runs. */
#include "base/text/secrets.h"

#include <ctype.h>
#include <string.h>

#include "base/macros.h"

#define NAME_MOST 256
#define JWT_HEAD_MOST 1024
#define RANDOM_LEAST 24 /* characters in a row: 96 bits of hexadecimal digits */

static bool one_of(const char *word, size_t len, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == len && strncmp(*list, word, len) == 0)
			return true;
	return false;
}

static bool contains_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strstr(text, *list))
			return true;
	return false;
}

/* Small letters and digits only; ret_last is where the last word begins that is no number. */
static void plain_name(const char *name, size_t len, char *ret, size_t *ret_last, size_t *ret_words)
{
	size_t n = 0, begin = 0;
	bool letters = false;

	*ret_last = *ret_words = 0;
	for (size_t i = len >= NAME_MOST ? len - NAME_MOST + 1 : 0; i <= len; i++) {
		unsigned char c = i < len ? (unsigned char)name[i] : 0;
		bool begins = !isalnum(c) || (isupper(c) && i > 0 && islower((unsigned char)name[i - 1]));

		if (begins && n > begin && letters) {
			*ret_last = begin;
			++*ret_words;
		}
		if (begins) {
			begin = n;
			letters = false;
		}
		if (isalnum(c)) {
			letters |= isalpha(c) != 0;
			ret[n++] = (char)tolower(c);
		}
	}
	ret[n] = '\0';
}

/* Words that are secrets in whatever name, and those that are when a name ends with them: --max-tokens, --tokenizer and
 * --key-padding are none. */
/* clang-format off */
static const char *const always[] = { "secret", "password", "passwd", "passphrase", "credential", "apikey", "privatekey", "accesskey",
				      "authtoken", "accesstoken", "signingkey", "encryptionkey", "authorization", NULL };
/* clang-format on */
static const char *const at_end[] = { "token", "key", "auth", "pass", "cred", "creds", "cookie", "jwt", NULL };

static bool always_secret(const char *name, size_t len)
{
	char plain[NAME_MOST + 1];
	size_t last, words;

	plain_name(name, len, plain, &last, &words);
	return contains_one_of(plain, always);
}

bool secret_name(const char *name, size_t len)
{
	char plain[NAME_MOST + 1];
	size_t last, words, size;

	plain_name(name, len, plain, &last, &words);
	if (contains_one_of(plain, always))
		return true;
	size = strcspn(plain + last, "0123456789");
	return one_of(plain + last, size, at_end) || (words > 1 && one_of(plain + last, size, (const char *const[]){ "pwd", NULL })) ||
	       (size > 5 && strncmp(plain + last + size - 5, "token", 5) == 0);
}

bool secret_name_is_weak(const char *name, size_t len)
{
	return !always_secret(name, len);
}

static size_t run_of(const char *text, size_t len, const char *more)
{
	size_t n = 0;

	while (n < len && (isalnum((unsigned char)text[n]) || (text[n] && strchr(more, text[n]))))
		n++;
	return n;
}

/* scheme://user:password@host */
static bool has_url_password(const char *text, size_t len)
{
	for (size_t i = 3; i < len; i++) {
		size_t n = 0, colon = 0;

		if (memcmp(text + i - 3, "://", 3) != 0)
			continue;
		while (i + n < len && !strchr("/?#@ \t\n\"'", text[i + n])) {
			colon = text[i + n] == ':' && !colon ? n + 1 : colon;
			n++;
		}
		if (i + n < len && text[i + n] == '@' && ((colon && colon < n) || n >= 20))
			return true;
	}
	return false;
}

/* Beginnings of keys that services hand out, and how many characters follow at least. */
static bool is_known_key(const char *text, size_t len)
{
	static const struct {
		const char *begin;
		size_t least;
	} keys[] = {
		{ "AKIA", 16 },  { "ASIA", 16 },   { "AIza", 30 },     { "ghp_", 20 },        { "gho_", 20 },
		{ "ghu_", 20 },  { "ghs_", 20 },   { "ghr_", 20 },     { "github_pat_", 20 }, { "glpat-", 16 },
		{ "hf_", 20 },   { "sk-", 20 },    { "sk_live_", 16 }, { "xoxb-", 16 },       { "xoxp-", 16 },
		{ "xoxa-", 16 }, { "nvapi-", 20 }, { "npm_", 30 },     { "pypi-", 30 },       { "dckr_pat_", 20 },
	};

	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		size_t begin = strlen(keys[i].begin);

		if (len >= begin + keys[i].least && strncmp(text, keys[i].begin, begin) == 0 &&
		    run_of(text + begin, len - begin, "_-") >= keys[i].least)
			return true;
	}
	return false;
}

/* header.payload.signature in base64, the first two JSON. */
static bool is_jwt(const char *text, size_t len)
{
	size_t head, body;

	if (len < 20 || strncmp(text, "eyJ", 3) != 0)
		return false;
	head = run_of(text, len < JWT_HEAD_MOST ? len : JWT_HEAD_MOST, "_-");
	if (head == len || text[head] != '.')
		return false;
	body = run_of(text + head + 1, len - head - 1, "_-");
	return body >= 4 && head + 1 + body < len && text[head + 1 + body] == '.';
}

static int class_of(char c)
{
	return isdigit((unsigned char)c) ? 1 : isupper((unsigned char)c) ? 2 : 3;
}

/* Words change seldom between digits, small and capital letters; random ones do at every second character. */
static bool is_random(const char *text, size_t len)
{
	size_t changes = 0, digits = 0;

	if (len < RANDOM_LEAST || strncmp(text, "_Z", 2) == 0 || strncmp(text, "Z", 1) == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		digits += isdigit((unsigned char)text[i]) != 0;
		changes += i > 0 && class_of(text[i]) != class_of(text[i - 1]);
	}
	return digits >= 2 && digits < len && changes * 10 >= len * 3;
}

static bool is_path(const char *text, size_t len)
{
	return len > 1 && (text[0] == '/' || strncmp(text, "~/", 2) == 0 || strncmp(text, "./", 2) == 0 || strncmp(text, "..", 2) == 0);
}

bool secret_value(const char *text, size_t len)
{
	bool path = is_path(text, len);

	if (has_url_password(text, len) || memmem(text, len, "PRIVATE KEY-----", 16))
		return true;
	for (size_t i = 0; i < len; i++) {
		size_t left = len - i, run;

		if (i > 0 && isalnum((unsigned char)text[i - 1]))
			continue;
		if (is_known_key(text + i, left) || is_jwt(text + i, left))
			return true;
		if (left > 15 && strncasecmp(text + i, "bearer ", 7) == 0 && run_of(text + i + 7, left - 7, "._~+/=-") >= 8)
			return true;
		/* What is left of a run was looked at with it. */
		run = path || (i > 0 && text[i - 1] == '+') ? 0 : run_of(text + i, left, "+");
		if (is_random(text + i, run))
			return true;
	}
	return false;
}

/* Names as they are, and beginnings (that end with '*'). What the program itself, or a library that it may use, looks at;
 * where and as what it ran. */
/* clang-format off */
static const char *const explaining[] = {
	"PATH", "LD_*", "LANG", "LC_*", "TZ", "TERM", "SHELL", "HOME", "USER", "LOGNAME", "HOSTNAME", "TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR",
	"PYTHON*", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "JAVA_TOOL_OPTIONS", "JULIA_*", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG",
	"RAYON_*", "TOKIO_*", "GLIBC_TUNABLES", "MALLOC_*", "TCMALLOC_*", "JEMALLOC_*", "MIMALLOC_*", "NUMA_*",
	"OMP_*", "GOMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "BLIS_*", "GOTO_*", "VECLIB_*", "NUMEXPR_*", "TBB_*", "ONEDNN_*", "DNNL_*", "NVPL_*",
	"CUDA_*", "CUBLAS*", "CUDNN_*", "CUFFT_*", "CUSPARSE_*", "CUSOLVER_*", "CUTENSOR_*", "CUTLASS_*", "CUPTI_*", "NVIDIA_*", "NVTX_*", "NVTE_*",
	"NCCL_*", "RCCL_*", "NVSHMEM_*", "GLOO_*", "UCX_*", "UCC_*", "FI_*", "RDMAV_*", "IBV_*", "MLX5_*", "PSM2_*", "PSM3_*",
	"HSA_*", "ROCR_*", "HIP_*", "ROCM_*", "AMD_*", "MIOPEN_*", "GPU_*", "ZE_*", "SYCL_*", "ONEAPI_*",
	"TORCH*", "PYTORCH_*", "ATEN_*", "XLA_*", "JAX_*", "JAXLIB_*", "TF_*", "TENSORFLOW_*", "TRITON_*", "TRANSFORMERS_*", "HF_*",
	"TOKENIZERS_PARALLELISM", "ACCELERATE_*", "FSDP_*", "DEEPSPEED_*", "DS_*", "VLLM_*", "SGLANG_*", "RAY_*", "DASK_*", "RAPIDS_*", "CUDF_*",
	"LIBCUDF_*", "RMM_*", "KVIKIO_*", "NUMBA_*", "CUPY_*", "LEGATE_*", "REALM_*",
	"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_WORLD_SIZE",
	"MASTER_ADDR", "MASTER_PORT", "SLURM_*", "PMI_*", "PMIX_*", "PMI2_*", "OMPI_*", "MPI_*", "MPICH_*", "I_MPI_*", "MV2_*", "HYDRA_*",
	"PALS_*", "PBS_*", "LSB_*", "FLUX_*", "SONDE_*", "NSYS_*", NULL
};
/* clang-format on */

/* With the token of SONDE_SESSION a process may take part in a recording; the others are Terraform's. */
static const char *const never[] = { "SONDE_SESSION", "TF_VAR_*", "TF_CLI_*", NULL };

static bool is_on_word_list(const char *name, size_t len, const char *const *list)
{
	for (const char *const *word = list; *word; word++) {
		size_t size = strlen(*word);

		if ((*word)[size - 1] == '*' ? len >= size && strncmp(*word, name, size - 1) == 0 :
					       len == size && strncmp(*word, name, size) == 0)
			return true;
	}
	return false;
}

bool environment_explains(const char *name, size_t len)
{
	return is_on_word_list(name, len, explaining) && !is_on_word_list(name, len, never);
}

/* Stricter than with arguments, whose names are words of all kinds. */
static bool secret_variable(const char *name, size_t len)
{
	static const char *const words[] = { "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "JWT", NULL };
	char upper[NAME_MOST + 1];
	size_t n = 0;

	for (; n < len && n < NAME_MOST; n++)
		upper[n] = (char)toupper((unsigned char)name[n]);
	upper[n] = '\0';
	return strcmp(upper, "TOKENIZERS_PARALLELISM") != 0 && contains_one_of(upper, words);
}

bool environment_clean(const char *variable, struct buf *ret, size_t *changed)
{
	size_t name = strcspn(variable, "=");
	const char *value = variable + name + (variable[name] == '=');

	if (!environment_explains(variable, name))
		return false;
	buf_clear(ret);
	buf_append(ret, variable, (size_t)(value - variable));
	if (*value && (secret_variable(variable, name) || secret_value(value, strlen(value)))) {
		buf_puts(ret, SECRET_REPLACED);
		++*changed;
	} else {
		buf_puts(ret, value);
	}
	return true;
}
