/* NVTX version 2: the functions come from libnvToolsExt.so. Declared here: its header is in no
 * package we need. */
int nvtxRangePushA(const char *message);
int nvtxRangePop(void);
void nvtxMarkA(const char *message);
unsigned long long nvtxRangeStartA(const char *message);
void nvtxRangeEnd(unsigned long long id);

int main(void)
{
	unsigned long long id = nvtxRangeStartA("v2 started");

	for (int i = 0; i < 10; i++) {
		nvtxRangePushA("v2 pushed");
		nvtxRangePop();
	}
	nvtxMarkA("v2 mark");
	nvtxRangeEnd(id);
	return 0;
}
