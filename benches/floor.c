/* The least that sampling files of the kernel can take: sleep until the next millisecond, read each, nothing else.
 *
 *   floor N FILE...     N turns at 1 kHz
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char bytes[16384];

int main(int argc, char **argv)
{
	struct timespec due;
	int files[8], count = 0;

	for (int i = 2; i < argc && count < 8; i++)
		files[count++] = open(argv[i], O_RDONLY | O_CLOEXEC);
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (long n = argc > 1 ? atol(argv[1]) : 0; n > 0; n--) {
		due.tv_nsec += 1000000;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		for (int i = 0; i < count; i++)
			if (pread(files[i], bytes, sizeof(bytes), 0) <= 0)
				return 1;
	}
	return 0;
}
