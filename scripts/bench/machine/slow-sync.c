// Makes each sync of a file take DELAY_NS longer, in every process that preloads it (slow-syncs.ts).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static void wait_for_disk(void) {
  struct timespec delay = {DELAY_NS / 1000000000L, DELAY_NS % 1000000000L};
  nanosleep(&delay, NULL);
}

int fsync(int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_for_disk();
  return real(descriptor);
}

int fdatasync(int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_for_disk();
  return real(descriptor);
}
