#include "kernel/source/opcode.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"

/* Kinds as NVIDIA's list of instructions has them (CUDA Binary Utilities), with all matrix instructions as one. Names are between blanks; one that
 * ends in * stands for all that begin so. The first that fits counts. */
static const struct {
	const char *category;
	const char *names;
} categories[] = {
	{ "Tensor", " HMMA DMMA IMMA BMMA QMMA OMMA HGMMA IGMMA BGMMA QGMMA WARPGROUP WARPGROUPSET UTC* " },
	{ "Tensor Memory Access", " UBLKCP UBLKPF UBLKRED UTMA* " },
	{ "Floating Point",
	  " FADD FADD2 FADD32I FCHK FFMA FFMA2 FFMA32I FHADD FHFMA FMNMX FMNMX3 FMUL FMUL2 FMUL32I FSEL FSET FSETP FSWZADD MUFU "
	  "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 DADD DFMA DMUL DMNMX DSET DSETP " },
	{ "Integer",
	  " BMSK BREV FLO IABS IADD IADD2 IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP LEA LOP LOP3 LOP32I POPC "
	  "SHF SHL SHR VABSDIFF VABSDIFF4 VHMNMX VIADD VIADDMNMX VIMNMX VIMNMX3 " },
	{ "Conversion", " F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP " },
	{ "Movement", " MOV MOV32I MOVM MOV64IUR PRMT SEL SGXT SHFL " },
	{ "Predicate", " PLOP3 PSETP P2R R2P " },
	{ "Texture", " TEX TLD TLD4 TMML TXD TXQ " },
	{ "Surface", " SUATOM SULD SUQUERY SURED SUST " },
	{ "Load/Store",
	  " LD LDC LDCU LDG LDGDEPBAR LDGMC LDGSTS LDL LDS LDSM LDT LDTM ST STG STL STS STSM STT STTM STAS ATOM ATOMG ATOMS RED REDG REDAS "
	  "CCTL CCTLL CCTLT ERRBAR MEMBAR FENCE MATCH QSPC SYNCS " },
	{ "Control",
	  " ACQBULK ACQSHMINIT BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL CGAERRBAR ELECT ENDCOLLECTIVE EXIT JMP JMX JMXU KILL NANOSLEEP PREEXIT "
	  "RET RPCMOV RTT WARPSYNC YIELD " },
	{ "Miscellaneous", " B2R BAR CS2R CSMTEST DEPBAR GETLMEMBASE LEPC NOP PMTRIG R2B S2R SETCTAID SETLMEMBASE VOTE " },
	{ "Uniform Datapath", " R2UR REDUX CREDUX S2UR VOTEU U* " },
};

/* How caches, order and rounding are handled, and hints: work and width are the same without. */
static const char unimportant[] =
	" CONSTANT STRONG WEAK MMIO CTA SM GPU SYS VC PRIVATE EF EL EN EU LU NA BYPASS LTC64B LTC128B LTC256B ZFILL SPT "
	"FTZ FMZ DNZ SAT RN RZ RM RP RN4 ";

static bool is_opcode_in(const char *names, const char *name, size_t len)
{
	const char *at = names, *end;

	while (*at == ' ' && at[1]) {
		end = strchr(at + 1, ' ');
		if (end[-1] == '*' ? len >= (size_t)(end - at - 2) && strncmp(at + 1, name, (size_t)(end - at - 2)) == 0 :
				     len == (size_t)(end - at - 1) && strncmp(at + 1, name, len) == 0)
			return true;
		at = end;
	}
	return false;
}

const char *opcode_start(const char *sass)
{
	if (*sass != '@')
		return sass;
	sass += strcspn(sass, " ");
	return sass + strspn(sass, " ");
}

void opcode_name(const char *sass, enum opcode_form form, char ret[OPCODE_MAX])
{
	size_t len, all;

	sass = opcode_start(sass);
	all = strcspn(sass, " ,;");
	len = strcspn(sass, ". ,;");
	snprintf(ret, OPCODE_MAX, "%.*s", (int)(form == OPCODE_ALL ? all : len), sass);
	while (form == OPCODE_SELECTIVE && len < all) {
		size_t next = 1 + strcspn(sass + len + 1, ". ,;"), have = strlen(ret);

		if (!is_opcode_in(unimportant, sass + len + 1, next - 1))
			snprintf(ret + have, OPCODE_MAX - have, "%.*s", (int)next, sass + len);
		len += next;
	}
}

const char *opcode_category(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(categories); i++)
		if (is_opcode_in(categories[i].names, name, strlen(name)))
			return categories[i].category;
	return "Other";
}

bool source_access(const char *sass, struct source_access *ret)
{
	static const struct {
		const char *name;
		const char *space;
		const char *operation;
	} known[] = { { "LDGSTS", "Global", "Load" },  { "LDG", "Global", "Load" },      { "STG", "Global", "Store" },
		      { "ATOMG", "Global", "Atomic" }, { "RED", "Global", "Reduction" }, { "LDSM", "Shared", "Load" },
		      { "LDS", "Shared", "Load" },     { "STS", "Shared", "Store" },     { "ATOMS", "Shared", "Atomic" },
		      { "LDL", "Local", "Load" },      { "STL", "Local", "Store" },      { "LD", "Generic", "Load" },
		      { "ST", "Generic", "Store" },    { "ATOM", "Generic", "Atomic" },  { "TEX", "Texture", "Load" },
		      { "SULD", "Surface", "Load" },   { "SUST", "Surface", "Store" } };
	static const struct {
		const char *suffix;
		unsigned bits;
	} sizes[] = { { ".128", 128 }, { ".64", 64 }, { ".U16", 16 }, { ".S16", 16 }, { ".U8", 8 }, { ".S8", 8 } };
	size_t name, end;

	sass = opcode_start(sass);
	name = strcspn(sass, ". ");
	end = strcspn(sass, " ");
	for (size_t i = 0; i < COUNT_OF(known); i++) {
		if (strlen(known[i].name) != name || strncmp(sass, known[i].name, name) != 0)
			continue;
		*ret = (struct source_access){ known[i].space, known[i].operation, 32 };
		for (size_t k = 0; k < COUNT_OF(sizes); k++) {
			const char *at = strstr(sass + name, sizes[k].suffix);
			char next = at ? at[strlen(sizes[k].suffix)] : 'x';

			if (at && at < sass + end && (next == '.' || next == ' ' || !next))
				ret->bits = sizes[k].bits;
		}
		return true;
	}
	return false;
}
