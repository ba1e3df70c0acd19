/*
 * Preloaded, moves the clock of a dynamically linked program and of the hooks that it starts by CLOCK_OFFSET seconds.
 * libfaketime fails where one process runs a second program, as shells do with the last command: it keeps the first
 * program's semaphore under the id of the process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
  const char *seconds = getenv("CLOCK_OFFSET");
  return seconds == NULL ? 0 : atol(seconds);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now != NULL) *now = exact.tv_sec;
  return exact.tv_sec;
}

/* No machine has been running for so long: the time is one of the moved clock, which the kernel does not know. */
#define LONGEST_UPTIME 1000000000

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
  static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (wait == NULL) wait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  struct timespec moment = *until;
  if (moment.tv_sec > LONGEST_UPTIME) moment.tv_sec -= offset();
  return wait(condition, mutex, &moment);
}
