// Functions of every kind a symbol table has a name for.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace geometry {
namespace {
__attribute__((noinline)) int hidden_helper(int x) { return x * 3 + std::rand(); }
}
template <typename T, int N> struct Vector {
	T items[N];
	__attribute__((noinline)) T sum() const;
};
template <typename T, int N> T Vector<T, N>::sum() const
{
	T total = T();
	for (int i = 0; i < N; i++)
		total += items[i] * (T)std::rand();
	return total;
}
class Shape {
public:
	Shape();
	virtual ~Shape();
	virtual double area() const;
	bool operator==(const Shape &other) const;
};
__attribute__((noinline)) Shape::Shape() { std::puts("shape"); }
__attribute__((noinline)) Shape::~Shape() { std::puts("gone"); }
__attribute__((noinline)) double Shape::area() const { return std::atof("2"); }
__attribute__((noinline)) bool Shape::operator==(const Shape &other) const { return other.area() == area(); }
template struct Vector<double, 4>;
}

static __attribute__((noinline)) int local_function(const char *text) { return (int)std::strlen(text) + std::rand(); }

static inline __attribute__((always_inline)) int innermost(int x)
{
	return x / (std::rand() | 1); /* line of innermost */
}
static inline __attribute__((always_inline)) int middle(int x)
{
	return innermost(x + 1) * 2; /* line of middle */
}

extern "C" {
__attribute__((noinline)) int outer(int x)
{
	return middle(x) + 7; /* line of outer */
}
int visible_name(void) __attribute__((alias("__internal_name")));
__attribute__((noinline)) int __internal_name(void) { return std::rand(); }
static int first_choice(void) { return std::rand() + 1; }
static int (*choose(void))(void) { return first_choice; }
int chosen(void) __attribute__((ifunc("choose")));
}

/* Labels without a size, as hand-written assembly has them. */
__asm__(".text\n.globl bare_label\nbare_label:\n nop\n nop\n ret\n.Lnot_a_name:\n nop\n nop\n ret\n"
	"local_label:\n nop\n nop\n ret\n"
	".globl sized_after\n.type sized_after,@function\nsized_after:\n nop\n ret\n.size sized_after,.-sized_after\n");
extern "C" void bare_label(void);

int main(int argc, char **argv)
{
	geometry::Vector<double, 4> v = { { 1, 2, 3, (double)argc } };
	geometry::Shape a, b;

	if (argc > 100)
		bare_label();
	std::printf("%d %d %g\n", geometry::hidden_helper(argc), local_function(argv[0]), v.sum());
	return (a == b) + outer(argc) + visible_name() + chosen() == -1;
}
