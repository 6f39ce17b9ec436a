/* Everything compiled out: this links without anything of the state. */
#define SONDE_ANNOTATE_DISABLE
#include <sonde/annotate.h>

int main(void)
{
	struct sonde_event event = sonde_event_named("gone");
	sonde_domain domain = sonde_domain_create("gone");

	SONDE_SCOPE("gone");
	sonde_name_thread("gone");
	sonde_domain_mark_event(domain, &event);
	return sonde_range_push("gone") == -2 && sonde_range_pop() == -2 && !domain ? 0 : 1;
}
