/* HTTP, by libevent: one thread reads requests and writes answers, others compute them. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "view/internal.h"
#include "view/request/json_out.h"
#include "view/server/pool.h"
#include "view/server/web.h"

#define MAX_HEADERS 65536
#define IDLE_SECONDS 60
/* Shown by the page. */
#define REFUSAL \
	"Open the address that sonde view has printed. It works once: Return, pressed in the terminal of sonde view, " \
	"prints a new one."

struct server {
	struct view *view;
	struct guard guard;
	int port;
	int fd;
	struct event_base *base;
	struct evhttp *http;
	struct event *stop;
	struct event *input;
	struct event *done;
	struct pool *pool;
};

/* A request whose answer is being computed. */
struct job {
	struct pool_job pool_job;
	struct server *server;
	struct evhttp_request *request;
	const struct route *route;
	struct params params;
	struct answer answer;
};

static void add_headers(struct evhttp_request *request, const char *type)
{
	static const char *const headers[][2] = {
		{ "Cache-Control", "no-store" },
		{ "Content-Security-Policy",
		  "default-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; object-src 'none'; "
		  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Referrer-Policy", "no-referrer" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
	};
	struct evkeyvalq *out = evhttp_request_get_output_headers(request);

	for (size_t i = 0; i < COUNT_OF(headers); i++)
		evhttp_add_header(out, headers[i][0], headers[i][1]);
	evhttp_add_header(out, "Content-Type", type);
}

static void free_body(const void *data, size_t size, void *context)
{
	free(context);
}

/* Takes the body. */
static void send_answer(struct evhttp_request *request, struct answer *a)
{
	struct evbuffer *out = evbuffer_new();

	add_headers(request, a->type);
	if (out && evbuffer_add_reference(out, a->body.data, a->body.len, free_body, a->body.data) == 0)
		a->body = (struct buf)BUF_INIT;
	else
		buf_release(&a->body);
	evhttp_send_reply(request, a->status, NULL, out);
	if (out)
		evbuffer_free(out);
}

static void send_error(struct evhttp_request *request, int status, const char *text)
{
	struct answer a = { 0 };

	answer_error(&a, status, text);
	send_answer(request, &a);
}

/* What is said where a page of ours cannot be the one that asks. */
static void send_refusal(struct evhttp_request *request, const char *text)
{
	struct answer a = { .status = 403, .type = "text/plain; charset=utf-8" };

	buf_printf(&a.body, "%s\n", text);
	send_answer(request, &a);
}

static void do_job(struct pool_job *pool_job)
{
	struct job *job = (struct job *)(void *)pool_job;

	answer_make(job->server->view, job->route, &job->params, &job->answer);
}

static void free_job(struct job *job)
{
	params_release(&job->params);
	buf_release(&job->answer.body);
	free(job);
}

static void on_done(evutil_socket_t fd, short what, void *context)
{
	struct server *s = context;
	struct pool_job *next;

	for (struct pool_job *at = pool_done(s->pool); at; at = next) {
		struct job *job = (struct job *)(void *)at;

		next = at->next;
		send_answer(job->request, &job->answer);
		free_job(job);
	}
}

static void begin_job(struct server *s, struct evhttp_request *request, const struct route *route, struct params *params)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job) {
		send_error(request, 503, "Not enough memory");
		return;
	}
	job->pool_job.slow = route->slow;
	job->pool_job.work = do_job;
	job->server = s;
	job->request = request;
	job->route = route;
	job->params = *params;
	*params = (struct params){ 0 };
	pool_add(s->pool, &job->pool_job);
}

static void send_file(struct server *s, struct evhttp_request *request, const char *path)
{
	const struct web_file *file = web_find(path);
	struct answer a = { .status = 200 };

	if (s->view->options.web_folder) {
		if (web_read(s->view->options.web_folder, path, &a.body, &a.type) == 0) {
			send_answer(request, &a);
			return;
		}
		buf_release(&a.body);
		file = NULL;
	}
	if (!file) {
		send_error(request, 404, "There is nothing here");
		return;
	}
	a.type = file->type;
	if (buf_append(&a.body, file->data, file->size) < 0)
		answer_error(&a, 503, "Not enough memory");
	send_answer(request, &a);
}

/* The token is exchanged for the key. Both travel in headers: only a page of ours can set those, and no browser sends them by
 * itself. A cookie would be sent to whoever has another port of this host. */
static void admit(struct server *s, struct evhttp_request *request)
{
	struct answer a = { .status = 200, .type = "application/json" };
	struct json_out j;

	if (!guard_redeem(&s->guard, evhttp_find_header(evhttp_request_get_input_headers(request), "Sonde-Token"))) {
		send_error(request, 403, REFUSAL);
		return;
	}
	out_begin(&j, &a.body);
	out_open(&j, '{');
	out_put_text(&j, "key", s->guard.key);
	out_close(&j, '}');
	send_answer(request, &a);
}

/* The page is the same for everybody; what it asks for is not. */
static void serve_http_request(struct server *s, struct evhttp_request *request, struct params *params)
{
	const struct route *route = route_find(params->path);
	struct evkeyvalq *in = evhttp_request_get_input_headers(request);

	if (strcmp(params->path, "/") == 0)
		send_file(s, request, "/index.html");
	else if (!guard_fetch_site_fits(evhttp_find_header(in, "Sec-Fetch-Site")))
		send_refusal(request, "Another page asked.");
	else if (strcmp(params->path, "/api/key") == 0)
		admit(s, request);
	else if (!route)
		send_file(s, request, params->path);
	else if (!guard_has_key(&s->guard, evhttp_find_header(in, "Sonde-Key")))
		send_error(request, 403, REFUSAL);
	else
		begin_job(s, request, route, params);
}

static void on_request(struct evhttp_request *request, void *context)
{
	struct evkeyvalq *in = evhttp_request_get_input_headers(request);
	const char *host = evhttp_find_header(in, "Host");
	struct server *s = context;
	struct params params;
	struct error err;

	if (!guard_host_is_ours(&s->guard, host) || !guard_origin_fits(evhttp_find_header(in, "Origin"), host)) {
		send_refusal(request, "Neither this name of the machine nor another page may read reports.");
		return;
	}
	if (params_parse(&params, evhttp_request_get_uri(request), &err) < 0) {
		send_error(request, 400, err.text);
		return;
	}
	serve_http_request(s, request, &params);
	params_release(&params);
}

static void on_stop(evutil_socket_t fd, short what, void *context)
{
	struct server *s = context;

	event_base_loopbreak(s->base);
}

static void on_input(evutil_socket_t fd, short what, void *context)
{
	struct server *s = context;
	char text[256];
	ssize_t n = read(fd, text, sizeof(text));

	if (n <= 0)
		event_del(s->input);
	else if (memchr(text, '\n', (size_t)n))
		s->view->options.on_input(s->view, s->view->options.context);
}

static void on_retry(evutil_socket_t fd, short what, void *listener)
{
	evconnlistener_enable(listener);
}

/* No descriptor is left: those who wait get one when others have gone. The context is evhttp's. */
static void on_accept_error(struct evconnlistener *listener, void *context)
{
	static const struct timeval later = { .tv_sec = 1 };

	evconnlistener_disable(listener);
	event_base_once(evconnlistener_get_base(listener), -1, EV_TIMEOUT, on_retry, listener, &later);
}

static int watch_descriptor(struct server *s, struct event **ret, int fd, event_callback_fn fn)
{
	*ret = event_new(s->base, fd, EV_READ | EV_PERSIST, fn, s);
	return *ret && event_add(*ret, NULL) == 0 ? 0 : -ENOMEM;
}

static int set_up_http(struct server *s)
{
	struct evhttp_bound_socket *bound;

	s->base = event_base_new();
	s->http = s->base ? evhttp_new(s->base) : NULL;
	if (!s->http)
		return -ENOMEM;
	evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET);
	evhttp_set_max_headers_size(s->http, MAX_HEADERS);
	evhttp_set_max_body_size(s->http, 0);
	evhttp_set_timeout(s->http, IDLE_SECONDS);
	evhttp_set_gencb(s->http, on_request, s);
	bound = evhttp_accept_socket_with_handle(s->http, s->fd);
	if (!bound)
		return -ENOMEM;
	s->fd = -1; /* its now */
	evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(bound), on_accept_error);
	return watch_descriptor(s, &s->done, pool_fd(s->pool), on_done);
}

static unsigned thread_count(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 2 ? 2 : cpus > 8 ? 8 : (unsigned)cpus;
}

int server_open(struct server **ret, struct view *v, int fd, int port, struct error *err)
{
	struct server *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		close(fd);
		return error_set(err, ENOMEM, "Not enough memory");
	}
	s->view = v;
	s->port = port;
	s->fd = fd;
	r = guard_init(&s->guard, v->options.bind ? v->options.bind : LOOPBACK);
	if (r == 0)
		r = pool_open(&s->pool, thread_count());
	if (r == 0)
		r = set_up_http(s);
	if (r < 0) {
		server_close(s);
		return error_set_errno(err, -r, "The server could not be started");
	}
	*ret = s;
	return 0;
}

int server_run(struct server *s, struct error *err)
{
	const struct view_options *o = &s->view->options;
	int r = watch_descriptor(s, &s->stop, o->stop_fd, on_stop);

	if (r == 0 && o->input_fd >= 0)
		r = watch_descriptor(s, &s->input, o->input_fd, on_input);
	if (r == 0 && event_base_dispatch(s->base) < 0)
		r = -EIO;
	return r < 0 ? error_set_errno(err, -r, "The server failed") : 0;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

bool server_close(struct server *s)
{
	struct pool_job *left = NULL, *next;

	if (s->pool && !pool_close(s->pool, &left))
		return false;
	for (; left; left = next) {
		next = left->next;
		evhttp_send_error(((struct job *)(void *)left)->request, 503, NULL);
		free_job((struct job *)(void *)left);
	}
	free_event(s->stop);
	free_event(s->input);
	free_event(s->done);
	if (s->http)
		evhttp_free(s->http);
	if (s->base)
		event_base_free(s->base);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
	return true;
}

int server_port(const struct server *s)
{
	return s->port;
}

struct guard *server_guard(struct server *s)
{
	return &s->guard;
}
