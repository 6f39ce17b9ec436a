/* Names taken apart: what the languages' own documents say they are, and names made to hurt. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"

static void expect_text(char *text, const char *plain)
{
	if (!plain) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	assert_string_equal(text, plain);
	free(text);
}

static void expect(const char *linkage, const char *plain)
{
	expect_text(demangle(linkage), plain);
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
	expect_short("_ZN7cutlass6KernelI59cutlass_80_tensorop_f16_s16816gemm_f16_64x64_64x6_tn_align8EEvNT_6ParamsE", "Kernel");
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

static void expect_cuda(const char *linkage, const char *plain)
{
	expect_text(demangle_cuda(linkage), plain);
}

/* Pairs that an export of nsys has (PyTorch on an H100), and kernels that ncu listed. */
static void test_cuda(void **state)
{
	static const char *const pairs[][2] = {
		{ "_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_illllb",
		  "void at::native::vectorized_gather_kernel<(int)16, long>(char *, char *, T2 *, int, long, long, long, long, bo"
		  "ol)" },
		{ "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_51_GLOBAL__N__b1108092_12_PowKernel_cu_398dda3b_2224229p"
		  "ow_tensor_scalar_kernel_implIffEEvRNS_18TensorIteratorBaseET0_EUlfE_St5arrayIPcLm2EEEEviS6_T1_",
		  "void at::native::vectorized_elementwise_kernel<(int)4, void at::native::<unnamed>::pow_tensor_scalar_kernel_im"
		  "pl<float, float>(at::TensorIteratorBase &, T2)::[lambda(float) (instance 1)], std::array<char *, (unsigned lon"
		  "g)2>>(int, T2, T3)" },
		{ "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastIZZZNS0_44_GLOBAL__N__50c743a2_11_Ind"
		  "exing_cu_89862edb18masked_fill_kernelERNS_14TensorIteratorERKN3c106ScalarEENKUlvE_clEvENKUlvE5_clEvEUlfbE_EEvR"
		  "NS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
		  "void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<at::native::<unn"
		  "amed>::masked_fill_kernel(at::TensorIterator &, const c10::Scalar &)::[lambda() (instance 1)]::operator ()() c"
		  "onst::[lambda() (instance 7)]::operator ()() const::[lambda(float, bool) (instance 1)]>(at::TensorIteratorBase"
		  " &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)" },
		{ "_ZN43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320softmax_warp_forwardIfffLi6ELb0ELb0EEEvPT0_PKT_iiiPKbib",
		  "void <unnamed>::softmax_warp_forward<float, float, float, (int)6, (bool)0, (bool)0>(T2 *, const T1 *, int, int"
		  ", int, const bool *, int, bool)" },
		{ "_ZN2at6native40_GLOBAL__N__0f1a8107_8_Shape_cu_49f7391c30CatArrayBatchedCopy_vectorizedINS1_10OpaqueTypeILj4EE"
		  "EjLi1ELi128ELi1ELi16ELi4EEEvPcNS1_25CatArrInputTensorMetadataIT_T0_XT2_EXT3_EEENS1_16TensorSizeStrideIS8_Lj4EE"
		  "EiS8_",
		  "void at::native::<unnamed>::CatArrayBatchedCopy_vectorized<at::native::<unnamed>::OpaqueType<(unsigned int)4>,"
		  " unsigned int, (int)1, (int)128, (int)1, (int)16, (int)4>(char *, at::native::<unnamed>::CatArrInputTensorMeta"
		  "data<T1, T2, T4, T5>, at::native::<unnamed>::TensorSizeStride<T2, (unsigned int)4>, int, T2)" },
		{ "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIlZNS0_11sum_functorIlllEclERNS_14Te"
		  "nsorIteratorEEUlllE_EEjlLi4ELi4EEEEEvT1_",
		  "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<long, at::native::func_wrapper_t<long, a"
		  "t::native::sum_functor<long, long, long>::operator ()(at::TensorIterator &)::[lambda(long, long) (instance 1)]"
		  ">, unsigned int, long, (int)4, (int)4>>(T3)" },
		{ "_ZN50_GLOBAL__N__fa15d16e_17_RangeFactories_cu_38772b0829elementwise_kernel_with_indexIiZZZN2at6native15arange"
		  "_cuda_outERKN3c106ScalarES6_S6_RNS1_6TensorEENKUlvE_clEvENKUlvE2_clEvEUllE_EEvT_T0_PN15function_traitsISD_E11r"
		  "esult_typeE",
		  "void <unnamed>::elementwise_kernel_with_index<int, at::native::arange_cuda_out(const c10::Scalar &, const c10:"
		  ":Scalar &, const c10::Scalar &, at::Tensor &)::[lambda() (instance 1)]::operator ()() const::[lambda() (instan"
		  "ce 4)]::operator ()() const::[lambda(long) (instance 1)]>(T1, T2, function_traits<T2>::result_type *)" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		expect_cuda(pairs[i][0], pairs[i][1]);
	expect_cuda("_Z8in_placePfi", "in_place(float *, int)");
	expect_cuda("_Z12matmul_naivePKfS0_Pfi", "matmul_naive(const float *, const float *, float *, int)");
	expect_cuda("plain_kernel", NULL);
	expect_cuda("", NULL);
}

/* Each name stands for twice the one before. */
static void test_cuda_bombs(void **state)
{
	static char huge[1 << 20];
	char name[1024];

	make_bomb(name);
	expect_cuda(name, NULL);
	memset(huge, 'P', (1 << 20) - 1);
	memcpy(huge, "_Z1f", 4);
	expect_cuda(huge, NULL);
	huge[16000] = '\0';
	free(demangle_cuda(huge));
	memset(huge + 4, 'K', 15990);
	free(demangle_cuda(huge));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpp),         cmocka_unit_test(test_short_names), cmocka_unit_test(test_rust),
		cmocka_unit_test(test_d_and_plain), cmocka_unit_test(test_bombs),       cmocka_unit_test(test_cuda),
		cmocka_unit_test(test_cuda_bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
