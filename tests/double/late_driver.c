/* Has the name of the CUDA driver, and what the agent asks of one that was initialised before it came: one device. */
int cuDriverGetVersion(int *version);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetAttribute(int *value, int attribute, int device);

int cuDeviceGetName(char *name, int size, int device);

int cuDeviceGetName(char *name, int size, int device)
{
	(void)device;
	__builtin_strncpy(name, "Late GPU", (unsigned)size);
	return 0;
}

int cuDriverGetVersion(int *version)
{
	*version = 12080;
	return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal == 0 ? 0 : 101;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute;
	return 0;
}
