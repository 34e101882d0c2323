/* The floor for loading rows: an aggregate that looks at every element of every array and does nothing with it but add. */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(floor_transition);

Datum floor_transition(PG_FUNCTION_ARGS)
{
	ArrayType  *x = PG_GETARG_ARRAYTYPE_P(1);
	const double *value = (const double *) ARR_DATA_PTR(x);
	int			n = ArrayGetNItems(ARR_NDIM(x), ARR_DIMS(x));
	double		sum = PG_GETARG_FLOAT8(0);

	for (int i = 0; i < n; i++)
		sum += value[i];
	PG_FREE_IF_COPY(x, 1);
	PG_RETURN_FLOAT8(sum);
}
