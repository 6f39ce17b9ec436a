/* Takes some of what the C library keeps for libraries that come late and have thread variables at a fixed place. */
int tls_eater_touch(void);

static __thread volatile char eaten[128] __attribute__((tls_model("initial-exec")));

int tls_eater_touch(void)
{
	return ++eaten[0];
}
