/* sweep.c: `nima sweep`: reads the options, and makes sure that a folder holds one sweep only. */
#include "cli/sweep.h"
#include "cli/cli.h"
#include "cli/folder.h"
#include "cli/model.h"
#include "parameters.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SWEEP_GRID = REQUEST_OWN, SWEEP_REPLICATES, SWEEP_JOBS, SWEEP_OUT };
static const struct option long_options[] = { REQUEST_LONG, { "grid", required_argument, NULL, SWEEP_GRID },
    { "replicates", required_argument, NULL, SWEEP_REPLICATES }, { "jobs", required_argument, NULL, SWEEP_JOBS },
    { "out", required_argument, NULL, SWEEP_OUT }, { NULL, 0, NULL, 0 } };

void sweep_folder(const sweep *s, size_t scenario, uint64_t replicate, const char *suffix, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%.3000s/runs/s%zu-r%llu%s", s->out, scenario + 1, (unsigned long long)replicate + 1,
             suffix);
}

static int add_grid(sweep *s, const char *text) {
    char error[300];
    grid *grown = realloc(s->grids, (s->grid_count + 1) * sizeof *grown);
    if (!grown) { cli_say("no memory"); return EXIT_MEMORY; }
    s->grids = grown;
    if (!grid_parse(text, &s->grids[s->grid_count++], error, sizeof error))
        return cli_usage("sweep", "--grid %s", error);
    const grid *last = &s->grids[s->grid_count - 1];
    for (size_t i = 0; i + 1 < s->grid_count; i++)
        if (!strcmp(s->grids[i].name, last->name))
            return cli_usage("sweep", "--grid %s: %s is given twice", text, last->name);
    return EXIT_GOOD;
}

static int number_option(const char *option, const char *text, uint64_t most, uint64_t *value) {
    if (cli_uint(text, value) && *value >= 1 && *value <= most) return EXIT_GOOD;
    return cli_usage("sweep", "%s %s: expected 1 to %llu", option, text, (unsigned long long)most);
}

static int read_options(int argc, char **argv, sweep *s) {
    request *r = &s->request;
    r->options.seed = 1;
    r->options.threads = 1;
    s->replicates = 10;
    for (int option; (option = getopt_long(argc, argv, ":p:", long_options, NULL)) != -1;) {
        int code = request_option(r, option, optarg);
        switch (option) {
        case SWEEP_GRID: code = add_grid(s, optarg); break;
        case SWEEP_REPLICATES: code = number_option("--replicates", optarg, 1000000, &s->replicates); break;
        case SWEEP_JOBS: code = number_option("--jobs", optarg, 4096, &s->jobs); break;
        case SWEEP_OUT: s->out = optarg; code = EXIT_GOOD; break;
        default: if (code < 0) return cli_bad_option("sweep", argv, option);
        }
        if (code) return code;
    }
    if (optind + 1 != argc)
        return cli_usage("sweep", optind == argc ? "which model?" : "one model at a time: %s", argv[argc - 1]);
    r->name = argv[optind];
    s->scenarios = grid_scenarios(s->grids, s->grid_count);
    if (!s->scenarios) return cli_usage("sweep", "more than a million scenarios");
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!s->jobs) s->jobs = cores > (long)r->options.threads ? (uint64_t)cores / r->options.threads : 1;
    return EXIT_GOOD;
}

static bool has_parameter(const nima_model *m, const char *name) {
    const nima_struct *d = model_parameters(m);
    for (uint32_t i = 0; d && i < d->field_count; i++) if (!strcmp(d->fields[i].name, name)) return true;
    return false;
}

/* Each scenario's values, as the model declares them, before anything starts. */
static int check_values(const sweep *s) {
    const nima_struct *declared = model_parameters(s->request.model);
    const request *r = &s->request;
    const char **set = calloc(r->set_count + s->grid_count + 1, sizeof *set);
    void *values = declared ? malloc(declared->bytes + 1) : NULL;
    int code = set && (values || !declared) ? EXIT_GOOD : EXIT_MEMORY;
    for (size_t i = 0; i < s->scenarios && !code && declared; i++) {
        char *texts = NULL, error[1000];
        memset(values, 0, declared->bytes);
        for (size_t k = 0; k < r->set_count; k++) set[k] = r->set[k];
        for (size_t g = 0; g < s->grid_count; g++) {
            char *pair;
            if (asprintf(&pair, "%s=%s", s->grids[g].name, grid_value(s->grids, s->grid_count, g, i)) < 0) {
                code = EXIT_MEMORY;
                break;
            }
            set[r->set_count + g] = pair;
        }
        const nima_err refused =
            code ? NIMA_E_MEMORY : parameters_set(declared, set, values, &texts, error, sizeof error);
        const char *wrong = refused || !r->model->check ? NULL : r->model->check(&(nima_setup){ values, NULL });
        if (refused || wrong) code = cli_usage("sweep", "%s: %s", r->name, wrong ? wrong : error);
        free(texts);
        for (size_t g = 0; g < s->grid_count; g++) {
            free((char *)(uintptr_t)set[r->set_count + g]);
            set[r->set_count + g] = NULL;
        }
    }
    free(values);
    free(set);
    return code;
}

static int check_grids(const sweep *s) {
    for (size_t g = 0; g < s->grid_count; g++) {
        if (!has_parameter(s->request.model, s->grids[g].name))
            return cli_usage("sweep", "--grid: %s has no parameter %s; `nima run %s --help` lists them",
                             s->request.name, s->grids[g].name, s->request.name);
        for (size_t i = 0; i < s->request.set_count; i++) {
            const size_t n = strlen(s->grids[g].name);
            if (!strncmp(s->request.set[i], s->grids[g].name, n) && s->request.set[i][n] == '=')
                return cli_usage("sweep", "%s is given by -p and by --grid", s->grids[g].name);
        }
    }
    return EXIT_GOOD;
}

/* What must be the same when a sweep is resumed: all but the number of replicates and of jobs. */
static char *definition(const sweep *s) {
    char *text = NULL, words[8192] = "";
    size_t bytes;
    uint64_t hash = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to) return NULL;
    folder_hash_file(s->request.path, &hash);
    request_words(&s->request, words, sizeof words);
    fprintf(to, "model %s %016llx\noptions%s%s\n", s->request.model->name, (unsigned long long)hash, *words ? " " : "",
            words);
    for (size_t g = 0; g < s->grid_count; g++) {
        fprintf(to, "grid %s", s->grids[g].name);
        for (size_t i = 0; i < s->grids[g].count; i++) fprintf(to, "%c%s", i ? ',' : '=', s->grids[g].values[i]);
        fputc('\n', to);
    }
    fclose(to);
    return text;
}

static int claim(const sweep *s) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%.3000s/runs", s->out);
    if ((mkdir(s->out, 0777) && errno != EEXIST) || (mkdir(path, 0777) && errno != EEXIST)) {
        cli_say("%s: %s", path, strerror(errno));
        return EXIT_SYSTEM;
    }
    snprintf(path, sizeof path, "%.3000s/sweep.txt", s->out);
    char *mine = definition(s), *old = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    int code = EXIT_GOOD;
    if (f) {
        if (getdelim(&old, &room, 0, f) < 0 || !mine || strcmp(old, mine))
            code =
                cli_usage("sweep",
                          "--out %s holds another sweep (%s tells which); the model, -p, --grid, --seed, --until and "
                          "--warmup must be the same to resume it; --out names another place",
                          s->out, path);
        fclose(f);
    } else {
        f = fopen(path, "wxe");
        if (!f || !mine || fputs(mine, f) < 0 || fclose(f)) {
            cli_say("%s: %s", path, strerror(errno));
            code = EXIT_SYSTEM;
        }
    }
    free(mine);
    free(old);
    return code;
}

int sweep_main(int argc, char **argv) {
    static sweep s;
    request_init(&s.request, "sweep");
    int code = read_options(argc, argv, &s);
    if (!code) code = request_load(&s.request);
    if (!code) code = check_grids(&s);
    if (!code) code = check_values(&s);
    char out[PATH_MAX];
    if (!code && !s.out) {
        mkdir("sweeps", 0777);               /* if this fails, claim says so */
        snprintf(out, sizeof out, "sweeps/%.200s", s.request.model->name);
        s.out = out;
    }
    if (!code) code = claim(&s);
    if (!code) {
        const int ran = sweep_run(&s);
        code = ran == EXIT_GOOD || ran == EXIT_DIFFERS ? sweep_tables(&s) : ran;
        if (!code) code = ran;
    }
    for (size_t g = 0; g < s.grid_count; g++) grid_free(&s.grids[g]);
    free(s.grids);
    request_fini(&s.request);
    return code;
}
