/* SPDX-License-Identifier: BSD-3-Clause */
/* test_settings.c - reading the environment, and what of it ranks compare. Needs no running MPI. */
#include "config/settings.h"

#include <sys/stat.h>

#include "config/config.h"
#include "testing/testing.h"

static char text[CCO_SETTINGS_ROOM];

/* Reads the environment with one variable in it; the hash. */
static uint64_t with(const char *name, const char *value)
{
    snprintf(testing_label, sizeof testing_label, "%s=%s", name, value);
    setenv(name, value, 1);
    cco_config_read();
    unsetenv(name);
    cco_settings_report(text);
    return cco_settings_hash();
}

/* Every variable of the table but those without text is compared and shown: a new one needs a line
 * here. */
static void every_variable_counts(void)
{
    static const struct {
        const char *name, *other, *shown;
    } cases[] = {
        {"CRESTA_OFF", "0", NULL},
        {"CRESTA_IMPL", "*=p2p", "CRESTA_IMPL=*=p2p\n"},
        {"CRESTA_TUNING", "force:t.json", "CRESTA_TUNING=force:t.json\n"},
        {"CRESTA_RACE", NULL, "CRESTA_RACE=crestacoll race 1\\narm a"},
        {"CRESTA_ONLINE", "1", "CRESTA_ONLINE=1\n"},
        {"CRESTA_GUARD", "on", "CRESTA_GUARD=on\n"},
        {"CRESTA_VALIDATE", "1:0.25", "CRESTA_VALIDATE=1:0.25\n"},
        {"CRESTA_VALIDATE_MEMORY", "1M", "CRESTA_VALIDATE_MEMORY=1048576\n"},
        {"CRESTA_VALIDATE_STOP", "1", "CRESTA_VALIDATE_STOP=1\n"},
        {"CRESTA_VALIDATE_FILES", "d", "CRESTA_VALIDATE_FILES=d\n"},
        {"CRESTA_VALIDATE_SUMMARY", "s.json", NULL},
        {"CRESTA_REPRODUCIBLE", "1", "CRESTA_REPRODUCIBLE=1\n"},
        {"CRESTA_FALLBACK", "error", "CRESTA_FALLBACK=error\n"},
        {"CRESTA_LOG", "info", NULL},
        {"CRESTA_PROFILE", "p.json", "CRESTA_PROFILE=(set)\n"},
        {"CRESTA_PROFILE_WAIT", "7", "CRESTA_PROFILE_WAIT=7\n"},
        {"CRESTA_PROFILE_EVERY", "2", NULL},
        {"CRESTA_IO", "io.json", "CRESTA_IO=(set)\n"},
        {"CRESTA_SHM_MEMORY", "1K", "CRESTA_SHM_MEMORY=1024\n"},
        {"CRESTA_SHM_DISTANCE", "far", "CRESTA_SHM_DISTANCE=far\n"},
        {"CRESTA_NODE_SHAPE", "2x4x16", "CRESTA_NODE_SHAPE=2x4x16\n"},
        {"CRESTA_NODES", "3+5", "CRESTA_NODES=3+5\n"},
        {"CRESTA_ASYNC", "off", "CRESTA_ASYNC=off\n"},
        {"CRESTA_WAIT", "polite", "CRESTA_WAIT=polite\n"},
        {"CRESTA_PROTECTED_BUFFER", "1", "CRESTA_PROTECTED_BUFFER=1\n"},
        {"CRESTA_OS_WINDOW", "dynamic:2M", "CRESTA_OS_WINDOW=dynamic:2097152\n"},
        {"CRESTA_CAF_BUFFER", "static:3", "CRESTA_CAF_BUFFER=static:3\n"},
        {"CRESTA_DEVICE_MEMORY", "yes", "CRESTA_DEVICE_MEMORY=yes\n"},
        {"CRESTA_ATOMICS", "off", "CRESTA_ATOMICS=off\n"},
        {"CRESTA_DEBUG", "fail=3+check", "CRESTA_DEBUG=check+fail=3\n"},
        {"CRESTA_WATCHDOG", "60:end", "CRESTA_WATCHDOG=60:end\n"},
        {"CRESTA_WATCHDOG_SIGNAL", "USR2", "CRESTA_WATCHDOG_SIGNAL=USR2\n"},
        {"CRESTA_WATCHDOG_AT", "at", NULL},
        {"CRESTA_BLACKBOX", "folder", NULL},
        {"CRESTA_LOADED", "version", NULL},
    };
    char race[] = "/tmp/test_settings.XXXXXX";
    const int file = mkstemp(race); /* of that variable, what is in the file counts */
    static const char lines[] = "crestacoll race 1\narm a *=mpi\n";
    CHECK(write(file, lines, sizeof lines - 1) > 0 && close(file) == 0, "%s", race);
    CHECK(LEN(cases) == cco_env_row_count, "%d variables", cco_env_row_count);
    const uint64_t none = with("CRESTA_NONE", "");
    for (int i = 0; i < LEN(cases); i++) {
        const char *other = cases[i].other != NULL ? cases[i].other : race;
        const uint64_t hash = with(cases[i].name, other);
        CHECK(strcmp(cases[i].name, cco_env_rows[i].name) == 0, "%s", cco_env_rows[i].name);
        CHECK(!cco_configured.error[0], "%s", cco_configured.error);
        CHECK((hash == none) == (cases[i].shown == NULL), "hash");
        CHECK(cases[i].shown == NULL || strstr(text, cases[i].shown) != NULL, "%s", text);
    }
    unlink(race);
    CHECK(strstr(text, "\nversion of crestacoll=0.") != NULL, "%s", text);
    CHECK(strstr(text, "\nbuilt-in rules=") != NULL, "%s", text);
}

/* CRESTA_OFF=1: as if nothing else were set, and nothing of what is on by itself. */
static void off_is_all_that_counts(void)
{
    setenv("CRESTA_IMPL", "no rule", 1);
    setenv("CRESTA_PROFILE", "p.json", 1);
    setenv("CRESTA_ASYNC", "thread", 1);
    with("CRESTA_OFF", "1");
    CHECK(cco_configured.off && !cco_configured.error[0], "%s", cco_configured.error);
    CHECK(!*cco_configured.impl && cco_configured.profile == NULL, "%s", cco_configured.impl);
    CHECK(cco_configured.wait == CCO_WAIT_MPI && cco_configured.async == CCO_ASYNC_OFF &&
              cco_configured.atomics == CCO_ATOMICS_OFF,
          "auto");
    CHECK(cco_config_wants_thread(), "without it");
    setenv("CRESTA_OFF", "1", 1);
    CHECK(!cco_config_wants_thread(), "with it");
    clearenv();
    with("CRESTA_OFF", "yes");
    CHECK(!cco_configured.off && strstr(cco_configured.error, "CRESTA_OFF=yes: expected 0 or 1"),
          "%s", cco_configured.error);
}

/* What was read in a tuning file counts for communicators, but not in MPI_Init, where some ranks
 * may have read it already. */
static void what_a_tuning_file_says(void)
{
    const uint64_t all = with("CRESTA_TUNING", "t.json");
    const uint64_t environment = cco_settings_hash_environment();
    snprintf(cco_configured.tuning_read, sizeof cco_configured.tuning_read, "17 (used)");
    cco_settings_report(text);
    CHECK(cco_settings_hash() != all, "all of it");
    CHECK(cco_settings_hash_environment() == environment, "the environment alone");
    CHECK(strstr(text, "\ntext of CRESTA_TUNING=17 (used)\n") != NULL, "%s", text);
    cco_configured.tuning_read[0] = '\0';
    CHECK(cco_settings_hash() == all, "as before");
}

/* Only the start of a long value is shown, but all of it counts; and it stays one line. */
static void long_values(void)
{
    char rules[5000] = "*=mpi";
    for (size_t used = 5; used + 8 < sizeof rules; used += 6)
        snprintf(rules + used, sizeof rules - used, "\n*=mpi");
    const uint64_t one = with("CRESTA_IMPL", rules);
    const size_t length = strlen(text);
    rules[strlen(rules) - 1] = 'j';
    CHECK(with("CRESTA_IMPL", rules) != one, "the end counts");
    CHECK(length < 1200 && strlen(text) == length, "%zu characters", length);
    with("CRESTA_IMPL", "a\nb\\nc");
    CHECK(strstr(text, "CRESTA_IMPL=a\\nb\\\\nc\n") != NULL, "%s", text);
}

static void words_of_debug(void)
{
    const uint64_t commas = with("CRESTA_DEBUG", "check,trace,delay=9,fail=2");
    const cco_debug d = cco_configured.debug;
    CHECK(d.check && d.trace && d.delay == 9 && d.fail == 2, "all of them");
    CHECK(with("CRESTA_DEBUG", "fail=2+delay=9+trace+check") == commas, "the same");
    CHECK(!cco_configured.error[0], "%s", cco_configured.error);
    with("CRESTA_DEBUG", "match");
    CHECK(cco_configured.debug.match == CCO_MATCH_PATIENCE, "the preset");
    with("CRESTA_DEBUG", "match=0");
    CHECK(strstr(cco_configured.error, "'match=0'") != NULL, "%s", cco_configured.error);
    with("CRESTA_DEBUG", "check;trace");
    CHECK(strstr(cco_configured.error, "'check;trace'") != NULL, "%s", cco_configured.error);
}

static void wrong_watchdogs(void)
{
    static const char *const cases[][2] = {
        {"CRESTA_WATCHDOG", "soon"},    {"CRESTA_WATCHDOG", "0"},
        {"CRESTA_WATCHDOG", "-1"},      {"CRESTA_WATCHDOG", "5:stop"},
        {"CRESTA_WATCHDOG", "5 s"},     {"CRESTA_WATCHDOG", "ask:end"},
        {"CRESTA_WATCHDOG", "9999999"}, {"CRESTA_WATCHDOG_SIGNAL", "KILL"}};
    for (int i = 0; i < LEN(cases); i++) {
        with(cases[i][0], cases[i][1]);
        CHECK(strstr(cco_configured.error, ": expected ") != NULL, "%s", cco_configured.error);
        CHECK(!cco_configured.watchdog.on && cco_configured.watchdog_signal == 0, "nothing is on");
    }
    with("CRESTA_WATCHDOG_SIGNAL", "SIGUSR1");
    CHECK(cco_configured.watchdog_signal == SIGUSR1, "%s", cco_configured.error);
}

/* What cannot be read is reported, and why; a folder can be opened. */
static void rules_that_cannot_be_read(void)
{
    with("CRESTA_IMPL", "@/tmp");
    CHECK(strstr(cco_configured.error, "CRESTA_IMPL=@/tmp: cannot read this file: Is a directory"),
          "%s", cco_configured.error);
    with("CRESTA_IMPL", "@/proc/self/mem"); /* opens, and gives an error at address 0 */
    CHECK(strstr(cco_configured.error, "cannot read this file: Input/output error"), "%s",
          cco_configured.error);
    with("CRESTA_IMPL", "@/does/not/exist");
    CHECK(strstr(cco_configured.error, "cannot read this file: No such file"), "%s",
          cco_configured.error);
    with("CRESTA_IMPL", "@/dev/null");
    CHECK(!cco_configured.error[0] && !*cco_configured.impl, "%s", cco_configured.error);
}

/* A program may write over its environment. */
static void the_environment_changes(void)
{
    static char given[2][64] = {"CRESTA_PROFILE=p.json", "CRESTA_LOADED=version"};
    for (int i = 0; i < 2; i++)
        putenv(given[i]);
    cco_config_read();
    for (int i = 0; i < 2; i++)
        memset(strchr(given[i], '=') + 1, 'x', 4);
    CHECK(strcmp(cco_configured.profile, "p.json") == 0, "%s", cco_configured.profile);
    CHECK(strcmp(cco_configured.loaded, "version") == 0, "%s", cco_configured.loaded);
    clearenv();
    cco_config_read();
    CHECK(cco_configured.profile == NULL && cco_configured.loaded == NULL, "unset");
}

/* The first of some directories that no other user can open. */
static void a_private_directory(void)
{
    char ours[] = "/tmp/test_settings.XXXXXX", open[64];
    CHECK(mkdtemp(ours) != NULL, "a directory");
    snprintf(open, sizeof open, "%s/open", ours);
    CHECK(mkdir(open, 0755) == 0 && chmod(open, 0755) == 0, "a directory in it");
    clearenv();
    cco_config_read();
    CHECK(cco_configured.private_directory == NULL, "none is named");
    setenv("PMIX_SERVER_TMPDIR", open, 1);
    setenv("XDG_RUNTIME_DIR", "/does/not/exist", 1);
    setenv("HOME", "/dev/shm", 1);
    cco_config_read();
    CHECK(cco_configured.private_directory == NULL, "%s", cco_configured.private_directory);
    setenv("TMPDIR", ours, 1);
    cco_config_read();
    setenv("TMPDIR", "/", 1);
    CHECK(cco_configured.private_directory != NULL &&
              strcmp(cco_configured.private_directory, ours) == 0,
          "%s", ours);
    rmdir(open);
    rmdir(ours);
}

int main(void)
{
    for (int i = 0; i < cco_env_row_count; i++)
        unsetenv(cco_env_rows[i].name);
    every_variable_counts();
    off_is_all_that_counts();
    what_a_tuning_file_says();
    long_values();
    words_of_debug();
    wrong_watchdogs();
    rules_that_cannot_be_read();
    the_environment_changes();
    a_private_directory();
    return testing_end("test_settings");
}
