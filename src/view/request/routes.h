/* The requests of docs/view.md. */
#ifndef SONDE_VIEW_REQUEST_ROUTES_H
#define SONDE_VIEW_REQUEST_ROUTES_H

#include "view/request/answer.h"

#define ROUTE(name, speed, needs) int answer_##name(struct view *v, struct params *p, struct answer *a, struct error *err);
#include "view/request/routes.def"
#undef ROUTE

#endif
