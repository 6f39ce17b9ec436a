/* Names taken apart: what the languages' own documents say they are, and names made to hurt. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"

static void expect(const char *linkage, const char *plain)
{
	char *text = demangle(linkage);

	if (!plain) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	assert_string_equal(text, plain);
	free(text);
}

static void test_cpp(void **state)
{
	expect("_Z3foov", "foo()");
	expect("_ZN4Base6methodEid", "Base::method(int, double)");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)");
	expect("_ZNK1AeqERKS_", "A::operator==(A const&) const");
	expect("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()");
	expect("_Z3foov.cold", "foo() [clone .cold]");
	expect("_ZL6helperi.part.0", "helper(int) [clone .part.0]");
	expect("_ZTv0_n24_N1AD1Ev", "virtual thunk to A::~A()");
}

static void expect_short(const char *linkage, const char *name)
{
	char *text = demangle_short(linkage);

	if (name) {
		assert_non_null(text);
		assert_string_equal(text, name);
	} else {
		assert_null(text);
	}
	free(text);
}

/* Kernels of PyTorch, CUTLASS and CUB as cuobjdump lists them, and names with signs that look like brackets. */
static void test_short_names(void **state)
{
	expect_short("_Z3addPfS_i", "add");
	expect_short("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
		     "vectorized_elementwise_kernel");
	expect_short("_ZN7cutlass6KernelI59cutlass_80_tensorop_f16_s16816gemm_f16_64x64_64x6_tn_align8EEvNT_6ParamsE",
		     "Kernel");
	expect_short("_ZN3cub11EmptyKernelIvEEvv", "EmptyKernel");
	expect_short("_ZN2at6native50_GLOBAL__N__63ad3de6_17_FillKernel_cu_a1b2c3d4_12311real_kernelIiEEvPT_", "real_kernel");
	expect_short("_ZN12_GLOBAL__N_11fEv", "f");
	expect_short("_ZNK1AeqERKS_", "operator==");
	expect_short("_ZlsR1AS0_", "operator<<");
	expect_short("_ZN1AltIiEEvT_", "operator<");
	expect_short("_ZN1AclIiEEvT_", "operator()");
	expect_short("_ZN1AcviEv", "operator int");
	expect_short("_ZZ4mainENKUliE_clEi", "operator()");
	expect_short("_Z9operatorsv", "operators");
	expect_short("_Z3foov.cold", "foo");
	expect_short("triton_poi_fused_add_0", NULL);
	expect_short("_Z", NULL);
	expect_short("_Znonsense!", NULL);
	expect_short("", NULL);
}

/* From rustc's description of the v0 scheme, and legacy names as rustc wrote them. */
static void test_rust(void **state)
{
	expect("_RNvC6_123foo3bar", "123foo::bar");
	expect("_RNvCskwGfYPst2Cb_7mycrate7example", "mycrate::example");
	expect("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	expect("_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>");
	expect("_RNCNvC4core4main0", "core::main::{closure#0}");
	expect("_ZN3foo3bar17h05af221e174051e9E", "foo::bar");
	expect("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str");
	expect("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
	       "<Test + 'static as foo::Bar<Test>>::bar");
}

static void test_d_and_plain(void **state)
{
	expect("_D8demangle4testFaZv", "demangle.test(char)");
	expect("main", NULL);
	expect("", NULL);
	expect("_", NULL);
	expect("_Z", NULL);
	expect("_R", NULL);
	expect("_Znonsense!", NULL);
	expect("_start", NULL);
	expect("_init", NULL);
	expect("memcpy.part.0", NULL);
}

/* f(p<int, int>, p<that, that>, p<that, that> ...): each argument takes twice the room of the one before. */
static void make_bomb(char *name)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	name += sprintf(name, "_Z1f1pIiiE");
	for (const char *d = digits; *d; d++)
		name += sprintf(name, "S_IS%c_S%c_E", *d, *d);
}

static void test_bombs(void **state)
{
	static char huge[1 << 20];
	char name[1024];

	make_bomb(name);
	expect(name, NULL);
	name[strlen("_Z1f1pIiiES_IS0_S0_E")] = '\0';
	expect(name, "f(p<int, int>, p<p<int, int>, p<int, int> >)");

	memset(huge, 'P', (1 << 20) - 1);
	memcpy(huge, "_Z1f", 4);
	huge[(1 << 20) - 1] = '\0';
	expect(huge, NULL);
	huge[16000] = '\0';
	free(demangle(huge));
	memcpy(huge, "_RNv", 4);
	memset(huge + 4, 'B', 15000);
	free(demangle(huge));
	memset(huge, '_', 1000);
	memcpy(huge, "_D", 2);
	memset(huge + 2, 'Q', 900);
	huge[902] = '\0';
	free(demangle(huge));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpp),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_d_and_plain),
		cmocka_unit_test(test_bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
