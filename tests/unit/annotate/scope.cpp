// Blocks: the C++ class, the macro, and an exception on the way out.
#include <cstdio>
#include <stdexcept>

#include <sonde/annotate.h>

static void throws()
{
	sonde::range range("throws");
	throw std::runtime_error("out");
}

int main()
{
	sonde_domain domain = sonde_domain_create("library");
	sonde_event event = sonde_event_named("event");

	{
		SONDE_SCOPE("macro");
		SONDE_DOMAIN_SCOPE(domain, "domain macro");
		sonde::range first("first");
		sonde::range second(domain, "second");
		sonde::range third(domain, event);
	}
	try {
		throws();
	} catch (const std::runtime_error &) {
		sonde_mark("caught");
	}
	return 0;
}
