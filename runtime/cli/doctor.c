/* doctor.c: `nima doctor`: what this machine has, what is missing and which Debian package brings it. */
#include "cli/cli.h"
#include "cli/model.h"
#include <dlfcn.h>
#include <hwloc.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

static int missing;

static void line(const char *what, const char *found) { printf("  %-22s %s\n", what, found); }
static void lacks(const char *what, const char *why, const char *package, bool needed) {
    printf("  %-22s %s: %s; `apt-get install %s`\n", what, needed ? "MISSING" : "missing", why, package);
    missing += needed;
}

/* First line of a file or of a command's output; false: there is none. */
static bool first_line(FILE *f, int (*close)(FILE *), char *text, size_t room) {
    if (!f) return false;
    const bool good = fgets(text, (int)room, f) != NULL;
    if (good) text[strcspn(text, "\n")] = 0;
    return close(f) == 0 && good;
}
static bool of_file(const char *path, char *text, size_t room) {
    return first_line(fopen(path, "re"), fclose, text, room);
}
static bool of_command(const char *command, char *text, size_t room) {
    return first_line(popen(command, "re"), pclose, text, room);
}

/* ---- machine ---- */
static void cores(void) {
    hwloc_topology_t t;
    char text[200];
    if (hwloc_topology_init(&t) || hwloc_topology_load(t)) { line("cores", "hwloc cannot tell"); return; }
    const int numa = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
    snprintf(text, sizeof text, "%d, %d hardware threads, in %d package%s", hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE),
             hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU), hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE),
             hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE) == 1 ? "" : "s");
    line("cores", text);
    snprintf(text, sizeof text, "%d region%s", numa, numa == 1 ? "" : "s");
    line("NUMA", text);
    for (int i = 0; i < numa && numa > 1; i++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, (unsigned)i);
        snprintf(text, sizeof text, "region %d: %.1f GiB, %d hardware threads", i,
                 (double)o->attr->numanode.local_memory / 0x1p30, hwloc_bitmap_weight(o->cpuset));
        line("", text);
    }
    hwloc_topology_destroy(t);
}

static void memory(void) {
    char text[200], limit[64];
    const double gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 0x1p30;
    const bool limited = of_file("/sys/fs/cgroup/memory.max", limit, sizeof limit) && strcmp(limit, "max");
    snprintf(text, sizeof text, "%.1f GiB", gib);
    if (limited)
        snprintf(text, sizeof text, "%.1f GiB, control group's limit %.1f GiB", gib, strtod(limit, NULL) / 0x1p30);
    line("memory", text);
    if (!of_file("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text))
        line("huge pages", "none: agents run slower");
    else if (strstr(text, "[never]"))
        line("huge pages", "never: agents run slower; `echo madvise >/sys/kernel/mm/transparent_hugepage/enabled`");
    else line("huge pages", text);
    if (of_file("/proc/sys/kernel/randomize_va_space", text, sizeof text) && !strcmp(text, "0"))
        line("address layout", "not randomized: verify cannot find addresses used as keys");
}

static void limit(const char *name, __rlimit_resource_t what, double unit, const char *unit_name) {
    struct rlimit l;
    char text[100];
    if (getrlimit(what, &l)) return;
    if (l.rlim_cur == RLIM_INFINITY) snprintf(text, sizeof text, "unlimited");
    else snprintf(text, sizeof text, "%.0f%s", (double)l.rlim_cur / unit, unit_name);
    line(name, text);
}

static void limits(void) {
    char text[300];
    struct rlimit core;
    limit("open files", RLIMIT_NOFILE, 1, "");
    limit("processes", RLIMIT_NPROC, 1, "");
    limit("stack", RLIMIT_STACK, 1024, " KiB");
    limit("address space", RLIMIT_AS, 0x1p30, " GiB");
    limit("core files", RLIMIT_CORE, 1024, " KiB");
    if (!getrlimit(RLIMIT_CORE, &core) && core.rlim_cur == 0)
        line("", "a crash leaves no core; `ulimit -c unlimited` before the run");
    if (of_file("/proc/sys/kernel/core_pattern", text, sizeof text)) line("core pattern", text);
}

/* ---- programs ---- */
static void program(const char *what, const char *command, const char *why, const char *package, bool needed) {
    char text[300];
    if (of_command(command, text, sizeof text)) line(what, text);
    else lacks(what, why, package, needed);
}

static void compiler(void) {
    char folder[PATH_MAX], header[PATH_MAX + 16];
    program("C compiler", "cc --version 2>/dev/null", "models in C cannot be compiled", "build-essential", true);
    program("C++ compiler", "c++ --version 2>/dev/null", "models in C++ cannot be compiled", "build-essential", false);
    program("make", "make --version 2>/dev/null", "the test of `nima new` cannot be built by make", "make", false);
    program("debugger", "gdb --version 2>/dev/null", "--break needs it", "gdb", false);
    model_include_folder(folder);
    snprintf(header, sizeof header, "%s/nima.h", folder);
    if (access(header, R_OK)) { printf("  %-22s MISSING: %s\n", "nima.h", header); missing++; }
    else line("nima.h", header);
    model_library_folder(folder);
    line("libnima in", folder);
    fputs("  models                ", stdout);
    model_list(stdout);
    putchar('\n');
}

/* ---- GPU ---- */
static void gpu(void) {
    static const struct { const char *what, *library, *why, *package; } parts[] = {
        { "CUDA driver", "libcuda.so.1", "grids run on the CPU", "nvidia-driver" },
        { "CUDA runtime", "libcudart.so", "grids run on the CPU", "nvidia-cuda-toolkit" },
        { "NCCL", "libnccl.so.2", "grids on several GPUs are not possible", "libnccl2  (non-free)" } };
    char text[300];
    if (of_command("nvidia-smi --query-gpu=name,memory.total --format=csv,noheader 2>/dev/null", text, sizeof text))
        line("GPU", text);
    else line("GPU", "none found; nothing but grids can use one");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        void *library = dlopen(parts[i].library, RTLD_LAZY | RTLD_LOCAL);
        if (library) { line(parts[i].what, parts[i].library); dlclose(library); }
        else lacks(parts[i].what, parts[i].why, parts[i].package, false);
    }
}

static void libraries(void) {
    static const struct { const char *what, *library, *package; } parts[] = {
        { "hwloc", "libhwloc.so.15", "libhwloc15" }, { "libsodium", "libsodium.so.23", "libsodium23" },
        { "SLEEF", "libsleef.so.3", "libsleef3" }, { "xxHash", "libxxhash.so.0", "libxxhash0" } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        void *library = dlopen(parts[i].library, RTLD_LAZY | RTLD_LOCAL);
        if (library) { line(parts[i].what, parts[i].library); dlclose(library); }
        else lacks(parts[i].what, "nima was built against it", parts[i].package, true);
    }
}

int doctor_main(int argc, char **argv) {
    struct utsname u;
    char text[300];
    if (argc > 1) return cli_usage("doctor", "doctor takes no argument: %s", argv[1]);
    uname(&u);
    printf("nima %s\n\nmachine\n", NIMA_VERSION);
    snprintf(text, sizeof text, "%s %s, %s", u.sysname, u.release, u.machine);
    line("system", text);
    cores();
    memory();
    puts("\nlimits");
    limits();
    puts("\nto build and debug models");
    compiler();
    puts("\nlibraries");
    libraries();
    puts("\nGPU");
    gpu();
    printf("\n%s\n", missing ? "something needed is missing" : "nothing needed is missing");
    return missing ? EXIT_DIFFERS : EXIT_GOOD;
}
