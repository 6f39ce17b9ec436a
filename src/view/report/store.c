#include "view/report/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "view/report/store_items.h"
#include "view/report/view_report.h"

#define BUCKETS 4096u

struct store {
	pthread_mutex_t lock;
	size_t limit;
	size_t size;
	struct store_item *slots[BUCKETS];
	/* By time of use; the ends of the list point at each other through this one. */
	struct store_item ends;
};

int store_open(struct store **ret, size_t limit)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->limit = limit;
	s->ends.newer = s->ends.older = &s->ends;
	pthread_mutex_init(&s->lock, NULL);
	*ret = s;
	return 0;
}

static struct store_item **find_store_slot(struct store *s, uint64_t key)
{
	return &s->slots[(key * 0x9e3779b97f4a7c15ull) >> 52];
}

static void unlink_use(struct store_item *item)
{
	item->newer->older = item->older;
	item->older->newer = item->newer;
}

static void link_newest(struct store *s, struct store_item *item)
{
	item->older = s->ends.older; /* of the ends: the newest */
	item->newer = &s->ends;
	item->older->newer = item;
	s->ends.older = item;
}

static struct store_item *find_store_item(struct store *s, uint64_t key)
{
	struct store_item *item = *find_store_slot(s, key);

	while (item && item->key != key)
		item = item->next;
	return item;
}

static void remove_item(struct store *s, struct store_item *item)
{
	struct store_item **at = find_store_slot(s, item->key);

	while (*at != item)
		at = &(*at)->next;
	*at = item->next;
	unlink_use(item);
	s->size -= item->size;
	free(item);
}

static void make_store_room(struct store *s)
{
	struct store_item *item = s->ends.newer, *next; /* of the ends: the oldest */

	for (; item != &s->ends && s->size > s->limit; item = next) {
		next = item->newer;
		if (item->users == 0)
			remove_item(s, item);
	}
}

static struct store_item *take_store_item(struct store *s, uint64_t key)
{
	struct store_item *item;

	pthread_mutex_lock(&s->lock);
	item = find_store_item(s, key);
	if (item) {
		item->users++;
		unlink_use(item);
		link_newest(s, item);
	}
	pthread_mutex_unlock(&s->lock);
	return item;
}

/* Another thread may have made the same meanwhile. */
static struct store_item *put_store_item(struct store *s, struct store_item *item)
{
	struct store_item *other, **slot = find_store_slot(s, item->key);

	pthread_mutex_lock(&s->lock);
	other = find_store_item(s, item->key);
	if (other) {
		free(item);
		item = other;
		unlink_use(item);
	} else {
		item->next = *slot;
		*slot = item;
		s->size += item->size;
	}
	item->users++;
	link_newest(s, item);
	make_store_room(s);
	pthread_mutex_unlock(&s->lock);
	return item;
}

static int fetch_store_item(struct view_report *r, const struct row_group *p, uint64_t key,
			    int (*make)(struct view_report *r, const struct row_group *p, struct store_item **ret), struct store_item **ret)
{
	int rc = 0;

	*ret = take_store_item(r->store, key);
	if (!*ret) {
		rc = make(r, p, ret);
		if (rc == 0) {
			(*ret)->key = key;
			*ret = put_store_item(r->store, *ret);
		}
	}
	return rc;
}

/* With the table of the rows: groups of several may say that the same summary is theirs. */
static uint64_t make_store_key(const struct row_group *p, uint64_t table, uint64_t group)
{
	return (uint64_t)p->derived << 63 | table << 48 | (uint64_t)p->table << 40 | group;
}

int store_decoded_rows(struct view_report *r, const struct row_group *p, const struct decoded_rows **ret)
{
	struct store_item *item;
	int rc = fetch_store_item(r, p, make_store_key(p, p->table, p->number), decoded_rows_make, &item);

	if (rc == 0)
		*ret = &item->content.decoded;
	return rc;
}

int store_summary(struct view_report *r, const struct row_group *p, const struct summary **ret)
{
	struct store_item *item;
	int rc = p->summary == NO_SUMMARY ? -EBADMSG :
					    fetch_store_item(r, p, make_store_key(p, TABLE_LOD, p->summary), summary_make, &item);

	if (rc == 0)
		*ret = &item->content.summary;
	return rc;
}

int store_plot_summary(struct view_report *r, const struct row_group *p, const struct plot_summary **ret)
{
	struct store_item *item;
	int rc = p->summary == NO_SUMMARY ? -EBADMSG :
					    fetch_store_item(r, p, make_store_key(p, TABLE_LOD, p->summary), plot_summary_make, &item);

	if (rc == 0)
		*ret = &item->content.plot;
	return rc;
}

void store_give(struct store *s, const void *content)
{
	pthread_mutex_lock(&s->lock);
	item_of(content)->users--;
	make_store_room(s);
	pthread_mutex_unlock(&s->lock);
}

size_t store_size(struct store *s)
{
	size_t size;

	pthread_mutex_lock(&s->lock);
	size = s->size;
	pthread_mutex_unlock(&s->lock);
	return size;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	while (s->ends.newer != &s->ends)
		remove_item(s, s->ends.newer);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
