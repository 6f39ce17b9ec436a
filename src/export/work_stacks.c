#include "export/internal.h"
