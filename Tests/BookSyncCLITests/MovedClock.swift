import Foundation
import Support

/// A clock that the test moves while programs run by it: the time of day, and the time since the machine began, as if it had
/// gone on. What waits for a time that has come meanwhile is not woken earlier, as on a machine that slept.
struct MovedClock: Sendable {
    private let library: URL
    private let file: URL

    static func make(in folder: URL) async throws -> MovedClock {
        let file = folder.appending(path: "clock")
        let clock = MovedClock(library: try await PreloadedLibrary.make(source, in: folder), file: file)
        try clock.move(to: 0)
        return clock
    }

    /// For programs that go by it.
    var environment: [String: String] { ["LD_PRELOAD": library.path, "CLOCK": file.path] }

    /// - Parameter hours: ahead of the real time; only ever more.
    func move(to hours: Double) throws {
        // In place: programs have the file open.
        var seconds = Int64(hours * 3600)
        let bytes = withUnsafeBytes(of: &seconds) { Data($0) }
        guard FileManager.default.fileExists(atPath: file.path) else { return try bytes.write(to: file) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdint.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <sys/timerfd.h>
        #include <time.h>
        #include <unistd.h>

        static volatile int64_t *ahead;

        __attribute__((constructor)) static void begin(void) {
            const char *path = getenv("CLOCK");
            int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
            if (file < 0) return;
            void *page = mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
            if (page != MAP_FAILED) ahead = page;
            close(file);
        }

        static int64_t moved(void) { return ahead == NULL ? 0 : *ahead; }

        static int isMoved(clockid_t clock) {
            return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
        }

        int clock_gettime(clockid_t clock, struct timespec *now) {
            int result = syscall(SYS_clock_gettime, clock, now);
            if (result == 0 && isMoved(clock)) now->tv_sec += moved();
            return result;
        }

        int gettimeofday(struct timeval *now, void *zone) {
            struct timespec time;
            clock_gettime(CLOCK_REALTIME, &time);
            now->tv_sec = time.tv_sec;
            now->tv_usec = time.tv_nsec / 1000;
            return 0;
        }

        time_t time(time_t *into) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (into != NULL) *into = now.tv_sec;
            return now.tv_sec;
        }

        int timerfd_settime(int file, int flags, const struct itimerspec *wanted, struct itimerspec *old) {
            struct itimerspec real = *wanted;
            if ((flags & TFD_TIMER_ABSTIME) && real.it_value.tv_sec > moved()) real.it_value.tv_sec -= moved();
            return syscall(SYS_timerfd_settime, file, flags, &real, old);
        }
        """
}
