/* Records what a process does to the files below one folder, or lets one of its calls fail: preloaded into a
 * test's child process.
 *
 * Each call that changes a file, a name or what is durable is appended to a log in the order in which
 * it took effect. crates/sim/src/power_loss/log.rs reads it. Syncs are logged where they begin and
 * where they end: only what was written before the beginning is durable at the end.
 *
 * Environment: POWER_LOSS_ROOT (absolute folder), POWER_LOSS_LOG (log file, outside of it).
 *
 * Faults: FAULT_ROOT (instead of the two) and FAULT "kind number errno [file]". Call `number` of its kind (from 1)
 * fails with the errno; with a file, every call from there on until that file exists. Calls that only free space
 * never fail with ENOSPC. A write that meets ENOSPC first writes half of what it was given, as a full disk does.
 * FAULT_COUNTS: the file that gets the number of calls of each kind at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, CLOSE, DUP, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, RENAME, UNLINK, MKDIR, RMDIR, LINK, START };

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static int active; /* is there a root? */
static char root[PATH_MAX];
static size_t root_len;
static unsigned char tracked[1 << 16]; /* by file descriptor */

static void fail(const char *what) {
    dprintf(2, "power-loss shim: %s: %s\n", what, strerror(errno));
    _exit(97);
}

/* ---- faults ---- */

enum { F_WRITE, F_SYNC, F_NAME, F_OPEN, KINDS };
static const char *const kind_names[KINDS] = {"write", "sync", "name", "open"};
static uint64_t calls[KINDS]; /* atomic */
static int fault_kind = -1, fault_errno;
static uint64_t fault_number;
static char fault_until[PATH_MAX];

static int fault_lasts(void) { return fault_until[0] && syscall(SYS_faccessat, AT_FDCWD, fault_until, F_OK) != 0; }

/* Counts a call. Is it to fail? `takes_space` is about ENOSPC. */
static int faulty(int kind, int takes_space) {
    if (!active) return 0;
    uint64_t number = __atomic_add_fetch(&calls[kind], 1, __ATOMIC_SEQ_CST);
    if (fault_errno == ENOSPC && !takes_space) return 0;
    if (fault_until[0]) {
        /* A full disk is full for calls of every kind. */
        uint64_t begun = __atomic_load_n(&calls[fault_kind], __ATOMIC_SEQ_CST);
        if (begun < fault_number || !fault_lasts()) return 0;
    } else if (kind != fault_kind || number != fault_number) {
        return 0;
    }
    errno = fault_errno;
    return 1;
}

static void start_faults(void) {
    const char *fault = getenv("FAULT");
    char kind[16];
    if (!fault) return;
    unsigned long long number;
    if (sscanf(fault, "%15s %llu %d %4095s", kind, &number, &fault_errno, fault_until) < 3) fail("FAULT");
    fault_number = number;
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kind, kind_names[i]) == 0) fault_kind = i;
    if (fault_kind < 0) fail("FAULT");
}

__attribute__((destructor)) static void tell_counts(void) {
    const char *path = getenv("FAULT_COUNTS");
    if (!active || !path) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    for (int i = 0; i < KINDS; i++) dprintf(fd, "%s %llu\n", kind_names[i], (unsigned long long)calls[i]);
}

/* ---- the log ---- */

static void put(const void *data, size_t length) {
    const char *at = data;
    while (length > 0) {
        ssize_t done = syscall(SYS_write, log_fd, at, length);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail("log");
        at += done;
        length -= (size_t)done;
    }
}

/* op, fd, number, two strings or blobs with their lengths: little-endian. */
static void record(uint8_t op, int32_t fd, uint64_t number, const void *a, uint32_t a_len, const void *b, uint32_t b_len) {
    unsigned char head[21];
    if (log_fd < 0) return;
    head[0] = op;
    memcpy(head + 1, &fd, 4);
    memcpy(head + 5, &number, 8);
    memcpy(head + 13, &a_len, 4);
    memcpy(head + 17, &b_len, 4);
    put(head, sizeof head);
    if (a_len) put(a, a_len);
    if (b_len) put(b, b_len);
}

/* Processes may follow each other in one log. */
__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("POWER_LOSS_ROOT"), *log = getenv("POWER_LOSS_LOG"), *faults = getenv("FAULT_ROOT");
    if (!faults && (!folder || !log)) return;
    if (!realpath(faults ? faults : folder, root)) fail("the root");
    root_len = strlen(root);
    active = 1;
    if (faults) return start_faults();
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd < 0) fail("POWER_LOSS_LOG");
    record(START, -1, 0, NULL, 0, NULL, 0);
}

static int is_tracked(int fd) { return active && fd >= 0 && fd < (1 << 16) && tracked[fd]; }

/* The absolute path of `path` below dirfd, symbolic links in its folder resolved; 0 when outside the root. */
static int resolve(int dirfd, const char *path, char *out) {
    char full[PATH_MAX], folder[PATH_MAX];
    if (!active || !path) return 0;
    if (path[0] == '/') {
        snprintf(full, sizeof full, "%s", path);
    } else {
        char base[PATH_MAX];
        if (dirfd == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
            ssize_t n = readlink(link, base, sizeof base - 1);
            if (n < 0) return 0;
            base[n] = 0;
        }
        if ((size_t)snprintf(full, sizeof full, "%s/%s", base, path) >= sizeof full) return 0;
    }
    size_t length = strlen(full);
    while (length > 1 && full[length - 1] == '/') full[--length] = 0;
    char *slash = strrchr(full, '/');
    if (!slash) return 0;
    char *name = slash + 1;
    *slash = 0;
    if (!realpath(slash == full ? "/" : full, folder)) return 0;
    int n = snprintf(out, PATH_MAX, "%s/%s", strcmp(folder, "/") ? folder : "", name);
    if (n < 0 || n >= PATH_MAX) return 0;
    return strncmp(out, root, root_len) == 0 && (out[root_len] == '/' || out[root_len] == 0);
}

static void track(int fd, const char *path, int flags) {
    if (fd < 0 || fd >= (1 << 16)) return;
    tracked[fd] = 1;
    record(OPEN, fd, (flags & O_TRUNC) ? 1 : 0, path, (uint32_t)strlen(path), NULL, 0);
}

static int do_open(int dirfd, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    if (!resolve(dirfd, path, full)) return (int)syscall(SYS_openat, dirfd, path, flags, mode);
    if (faulty(F_OPEN, flags & O_CREAT)) return -1;
    pthread_mutex_lock(&order);
    int fd = (int)syscall(SYS_openat, dirfd, path, flags, mode), kept = errno;
    if (fd >= 0) track(fd, full, flags);
    pthread_mutex_unlock(&order);
    errno = kept;
    return fd;
}

#define MODE_ARGUMENT                                     \
    mode_t mode = 0;                                      \
    if (flags & (O_CREAT | O_TMPFILE)) {                  \
        va_list arguments;                                \
        va_start(arguments, flags);                       \
        mode = (mode_t)va_arg(arguments, int);            \
        va_end(arguments);                                \
    }

int open(const char *path, int flags, ...) { MODE_ARGUMENT return do_open(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_ARGUMENT return do_open(AT_FDCWD, path, flags, mode); }
int openat(int dirfd, const char *path, int flags, ...) { MODE_ARGUMENT return do_open(dirfd, path, flags, mode); }
int openat64(int dirfd, const char *path, int flags, ...) { MODE_ARGUMENT return do_open(dirfd, path, flags, mode); }
int creat(const char *path, mode_t mode) { return do_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int close(int fd) {
    if (!is_tracked(fd)) return (int)syscall(SYS_close, fd);
    pthread_mutex_lock(&order);
    tracked[fd] = 0;
    record(CLOSE, fd, 0, NULL, 0, NULL, 0);
    int done = (int)syscall(SYS_close, fd), kept = errno;
    pthread_mutex_unlock(&order);
    errno = kept;
    return done;
}

static int do_fcntl(int fd, int command, void *argument) {
    int duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    if (!duplicates || !is_tracked(fd)) return (int)syscall(SYS_fcntl, fd, command, argument);
    pthread_mutex_lock(&order);
    int made = (int)syscall(SYS_fcntl, fd, command, argument), kept = errno;
    if (made >= 0 && made < (1 << 16)) {
        tracked[made] = 1;
        record(DUP, fd, (uint64_t)made, NULL, 0, NULL, 0);
    }
    pthread_mutex_unlock(&order);
    errno = kept;
    return made;
}

#define POINTER_ARGUMENT                     \
    va_list arguments;                       \
    va_start(arguments, command);            \
    void *argument = va_arg(arguments, void *); \
    va_end(arguments);

int fcntl(int fd, int command, ...) { POINTER_ARGUMENT return do_fcntl(fd, command, argument); }
int fcntl64(int fd, int command, ...) { POINTER_ARGUMENT return do_fcntl(fd, command, argument); }

ssize_t write(int fd, const void *data, size_t length) {
    if (!is_tracked(fd)) return syscall(SYS_write, fd, data, length);
    if (faulty(F_WRITE, 1)) {
        int wanted = errno;
        if (wanted == ENOSPC && length > 1) syscall(SYS_write, fd, data, length / 2);
        errno = wanted;
        return -1;
    }
    pthread_mutex_lock(&order);
    ssize_t done = syscall(SYS_write, fd, data, length);
    int kept = errno;
    if (done > 0) {
        /* The position after the write also tells where an appending one went. */
        off_t end = lseek(fd, 0, SEEK_CUR);
        record(WRITE, fd, (uint64_t)(end - done), data, (uint32_t)done, NULL, 0);
    }
    pthread_mutex_unlock(&order);
    errno = kept;
    return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!is_tracked(fd)) return syscall(SYS_writev, fd, parts, count);
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        if (parts[i].iov_len == 0) continue;
        ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);
        if (done < 0) return total ? total : done;
        total += done;
        if ((size_t)done < parts[i].iov_len) break;
    }
    return total;
}

static ssize_t do_pwrite(int fd, const void *data, size_t length, off_t offset) {
    if (!is_tracked(fd)) return syscall(SYS_pwrite64, fd, data, length, offset);
    if (faulty(F_WRITE, 1)) return -1;
    pthread_mutex_lock(&order);
    ssize_t done = syscall(SYS_pwrite64, fd, data, length, offset);
    int kept = errno;
    if (done > 0) record(WRITE, fd, (uint64_t)offset, data, (uint32_t)done, NULL, 0);
    pthread_mutex_unlock(&order);
    errno = kept;
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return do_pwrite(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return do_pwrite(fd, data, length, offset); }

static int do_truncate(int fd, off_t length) {
    if (!is_tracked(fd)) return (int)syscall(SYS_ftruncate, fd, length);
    if (faulty(F_WRITE, 1)) return -1;
    pthread_mutex_lock(&order);
    int done = (int)syscall(SYS_ftruncate, fd, length), kept = errno;
    if (done == 0) record(TRUNCATE, fd, (uint64_t)length, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    errno = kept;
    return done;
}

int ftruncate(int fd, off_t length) { return do_truncate(fd, length); }
int ftruncate64(int fd, off_t length) { return do_truncate(fd, length); }

/* These would change files unseen: the log could not be trusted. */
int fallocate(int fd, int mode, off_t offset, off_t length) {
    if (is_tracked(fd)) { errno = ENOSYS; fail("fallocate is not recorded"); }
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}
ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
    if (is_tracked(to)) { errno = EXDEV; return -1; }
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
}
ssize_t sendfile64(int to, int from, off_t *offset, size_t length) {
    if (is_tracked(to)) { errno = EINVAL; return -1; }
    return syscall(SYS_sendfile, to, from, offset, length);
}

/* Each sync has a number, which its end repeats: syncs of one file may overlap and end in any order. */
static uint64_t syncs; /* guarded by order */

static int do_sync(int fd) {
    if (!is_tracked(fd)) return (int)syscall(SYS_fsync, fd);
    if (faulty(F_SYNC, 1)) return -1;
    if (log_fd < 0) return (int)syscall(SYS_fsync, fd);
    pthread_mutex_lock(&order);
    uint64_t number = ++syncs;
    record(SYNC_BEGIN, fd, number, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    /* The simulated disk takes its time too, now and then a long one: writes and whole other syncs
     * can fall into a sync. */
    usleep(number % 16 == 0 ? 4000 : 150);
    pthread_mutex_lock(&order);
    record(SYNC_END, fd, number, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    return 0;
}

int fsync(int fd) { return do_sync(fd); }
int fdatasync(int fd) { return do_sync(fd); }

static int named(uint8_t op, long call, int dirfd, const char *path, long argument) {
    char full[PATH_MAX];
    int seen = resolve(dirfd, path, full);
    if (seen && faulty(F_NAME, op == MKDIR)) return -1;
    if (seen) pthread_mutex_lock(&order);
    int done = (int)syscall(call, dirfd, path, argument), kept = errno;
    if (seen) {
        if (done == 0) record(op, -1, 0, full, (uint32_t)strlen(full), NULL, 0);
        pthread_mutex_unlock(&order);
    }
    errno = kept;
    return done;
}

int mkdir(const char *path, mode_t mode) { return named(MKDIR, SYS_mkdirat, AT_FDCWD, path, mode); }
int mkdirat(int dirfd, const char *path, mode_t mode) { return named(MKDIR, SYS_mkdirat, dirfd, path, mode); }
int unlink(const char *path) { return named(UNLINK, SYS_unlinkat, AT_FDCWD, path, 0); }
int rmdir(const char *path) { return named(RMDIR, SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int dirfd, const char *path, int flags) {
    return named(flags & AT_REMOVEDIR ? RMDIR : UNLINK, SYS_unlinkat, dirfd, path, flags);
}

static int two_names(uint8_t op, int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    char old_path[PATH_MAX], new_path[PATH_MAX];
    int seen = resolve(from_fd, from, old_path) & resolve(to_fd, to, new_path);
    if (seen && faulty(F_NAME, 1)) return -1;
    if (seen) pthread_mutex_lock(&order);
    long call = op == RENAME ? SYS_renameat2 : SYS_linkat;
    int done = (int)syscall(call, from_fd, from, to_fd, to, flags), kept = errno;
    if (seen) {
        if (done == 0) record(op, -1, 0, old_path, (uint32_t)strlen(old_path), new_path, (uint32_t)strlen(new_path));
        pthread_mutex_unlock(&order);
    }
    errno = kept;
    return done;
}

int rename(const char *from, const char *to) { return two_names(RENAME, AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_fd, const char *from, int to_fd, const char *to) { return two_names(RENAME, from_fd, from, to_fd, to, 0); }
int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    return two_names(RENAME, from_fd, from, to_fd, to, flags);
}
int link(const char *from, const char *to) { return two_names(LINK, AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
    return two_names(LINK, from_fd, from, to_fd, to, (unsigned)flags);
}
