/* Shared by the files of this folder. */
#ifndef SONDE_VIEW_INTERNAL_H
#define SONDE_VIEW_INTERNAL_H

#include "view/request/answer.h"
#include "view/server/guard.h"
#include "view/report/view_report.h"
#include "view/view.h"

struct view {
	struct view_options options;
	struct view_report **reports;
	size_t report_count;
	struct server *server;
	pthread_mutex_t lock;     /* of the reports and how many use them */
	pthread_mutex_t renewing; /* one at a time */
	struct view_texts *texts; /* kernels.h; NULL until asked for */
};

#define LOOPBACK "127.0.0.1"

/* server.c */
/* Takes the socket, which listens at the port. */
int server_open(struct server **ret, struct view *v, int fd, int port, struct error *err);
int server_run(struct server *s, struct error *err);
/* False where a thread is still at work: nothing it may use can be freed then. */
bool server_close(struct server *s);
int server_port(const struct server *s);
struct guard *server_guard(struct server *s);

/* listen.c: a socket bound to the address and port; *port is what it got. */
int listen_on(const char *address, int *port, struct error *err);

/* reports.c: a recording stays as it is while it is taken. */
struct view_report *view_take(struct view *v, size_t number);
void view_give(struct view *v, struct view_report *r);
/* live.c: opens it again where it is still being made and has grown. */
void view_renew(struct view *v, size_t number);

/* The recording of the parameter "report"; taken until the request is answered. */
int view_asked_report(struct view *v, struct params *p, struct view_report **ret, struct error *err);

#endif
