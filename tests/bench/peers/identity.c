/* The floor for window functions: gives its argument. */
#include "postgres.h"

#include "fmgr.h"
#include "windowapi.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(identity_window);

Datum identity_window(PG_FUNCTION_ARGS)
{
	bool		isnull;
	Datum		value = WinGetFuncArgCurrent(PG_WINDOW_OBJECT(), 0, &isnull);

	if (isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(value);
}
