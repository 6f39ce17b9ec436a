/* What agents in CUDA programs are told, and why there may be nothing from them. */
#ifndef SONDE_RECORD_CONTROL_CUDA_PAGE_H
#define SONDE_RECORD_CONTROL_CUDA_PAGE_H

#include "record/profile_options.h"
#include "ring/ring_layout.h"

struct recorder;

/* Fills the session page with what the options ask for. */
void cuda_fill_page(struct ring_session *page, const struct profile_options *options, int use_tsc);
/* The part of it that one capture of a session may say differently. */
void cuda_page_window(struct ring_session *page, const struct profile_options *options);
/* At the end: one line where CUDA was asked for and nothing of it came. */
void cuda_explain(struct recorder *r);

#endif
