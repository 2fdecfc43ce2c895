/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rules.c - the grammar of specs, the places of errors, the patterns of names. Needs no
 * running MPI. */
#include <limits.h>
#include <string.h>

#include "reduce/classes.h"
#include "model/registry.h"
#include "testing/testing.h"
#include "tune/rules.h"

static char error[1024];

static cco_rules *parse(const char *spec)
{
    snprintf(testing_label, sizeof testing_label, "%s", spec);
    return cco_rules_parse(spec, "test", error, sizeof error);
}

/* One rule that must parse; the caller frees. */
static cco_rules *one(const char *spec)
{
    cco_rules *rules = parse(spec);
    CHECK(rules != NULL && rules->count == 1, "one rule; %s", error);
    if (rules == NULL)
        exit(testing_end("test_rules"));
    return rules;
}

static void sizes(void)
{
    static const struct {
        const char *spec;
        long long min, max;
    } cases[] = {
        {"bcast=mpi", 0, LLONG_MAX},
        {"bcast[0-0]=mpi", 0, 0},
        {"bcast[8-1K]=mpi", 8, 1024},
        {"bcast[4k-1m]=mpi", 4096, 1 << 20},
        {"bcast[1-2G]=mpi", 1, 1LL << 31},
        {"bcast[8-inf]=mpi", 8, LLONG_MAX},
        {"bcast[8]=mpi", 8, 8},
        {"bcast [ 8 - 16 ] = mpi", 8, 16},
        {"bcast[0-9223372036854775807]=mpi", 0, LLONG_MAX},
    };
    for (int i = 0; i < LEN(cases); i++) {
        if (i == LEN(cases) - 1) { /* the largest number may be refused, but not misread */
            cco_rules *rules = parse(cases[i].spec);
            CHECK(rules == NULL || rules->list[0].max == LLONG_MAX, "max");
            free(rules);
            continue;
        }
        cco_rules *rules = one(cases[i].spec);
        CHECK(rules->list[0].min == cases[i].min && rules->list[0].max == cases[i].max, "%lld-%lld",
              (long long)rules->list[0].min, (long long)rules->list[0].max);
        free(rules);
    }
}

static void collectives(void)
{
    for (int i = 0; i < CCO_COLLECTIVES; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "%s=mpi", cco_coll_infos[i].name);
        cco_rules *rules = one(spec);
        CHECK(rules->list[0].collectives == 1u << i, "%x", rules->list[0].collectives);
        free(rules);
        snprintf(spec, sizeof spec, "%s[1-2]=mpi", cco_coll_infos[i].name);
        rules = parse(spec);
        const bool sized = cco_coll_infos[i].properties & CCO_SIZED;
        CHECK((rules != NULL) == sized, "a size range %s", sized ? "is possible" : "is an error");
        free(rules);
    }
    for (int i = 0; i < CCO_COLLECTIVES; i++) {
        cco_rules *all = one("*=mpi"), *near = one("Neighbor_*=mpi");
        const bool is_near = strncmp(cco_coll_infos[i].name, "neighbor_", 9) == 0;
        CHECK(cco_rule_matches(&all->list[0], (cco_coll)i, "", 2) == !is_near, "* and %d", i);
        CHECK(cco_rule_matches(&near->list[0], (cco_coll)i, "", 2) == is_near, "near and %d", i);
        free(all);
        free(near);
    }
    CHECK(parse("neighbor_*[1-2]=mpi") == NULL, "neighbours have no size");
    CHECK(parse("neighbor*=mpi") == NULL && parse("all*=mpi") == NULL, "no other patterns");
    cco_rules *rules = one("neighbor_*=auto");
    CHECK(cco_rules_are_plain(rules) && cco_rules_may_replace(rules), "only what is wrong");
    free(rules);
    rules = one("neighbor_*=p2p");
    CHECK(!cco_rules_are_plain(rules) && !cco_rules_may_replace(rules), "p2p always");
    free(rules);
    rules = one("ALLTOALL=mpi");
    CHECK(cco_rule_matches(&rules->list[0], CCO_ALLTOALL, "", 2), "case does not matter");
    CHECK(!cco_rule_matches(&rules->list[0], CCO_ALLTOALLV, "", 2), "a prefix is not a match");
    free(rules);
    rules = one("*[1-2]=mpi");
    CHECK(cco_rule_matches(&rules->list[0], CCO_BCAST, "", 2), "bcast has a size");
    CHECK(!cco_rule_matches(&rules->list[0], CCO_GATHERV, "", 2), "gatherv has none");
    free(rules);
}

static void processes_and_names(void)
{
    cco_rules *rules = one("allreduce(2-4)@r*w=nonblock");
    const cco_rule *rule = &rules->list[0];
    CHECK(!cco_rule_matches(rule, CCO_ALLREDUCE, "row", 1), "1");
    CHECK(cco_rule_matches(rule, CCO_ALLREDUCE, "row", 2), "2");
    CHECK(cco_rule_matches(rule, CCO_ALLREDUCE, "row", 4), "4");
    CHECK(!cco_rule_matches(rule, CCO_ALLREDUCE, "row", 5), "5");
    CHECK(!cco_rule_matches(rule, CCO_ALLREDUCE, "rows", 2), "name");
    CHECK(!cco_rule_matches(rule, CCO_ALLREDUCE, "", 2), "no name");
    CHECK(!cco_rules_are_plain(rules), "names nonblock");
    free(rules);
    rules = one("allreduce(3-inf)=mpi");
    CHECK(cco_rule_matches(&rules->list[0], CCO_ALLREDUCE, "", 1 << 20), "inf");
    CHECK(cco_rules_are_plain(rules), "names only mpi");
    free(rules);
    rules = one("allreduce(4)=mpi");
    CHECK(cco_rule_matches(&rules->list[0], CCO_ALLREDUCE, "", 4) &&
              !cco_rule_matches(&rules->list[0], CCO_ALLREDUCE, "", 5),
          "exactly 4");
    free(rules);
    rules = one("bcast@my comm =mpi");
    CHECK(cco_rule_matches(&rules->list[0], CCO_BCAST, "my comm", 1),
          "blanks inside a name, none at its end");
    free(rules);
}

static bool fits(const char *spec, int nodes, int least, int most)
{
    cco_rules *rules = one(spec);
    const bool fit = cco_rule_fits_nodes(&rules->list[0],
                                         &(cco_nodes){true, NULL, nodes, least, most});
    free(rules);
    return fit;
}

static void nodes(void)
{
    CHECK(fits("bcast=mpi", 0, 0, 0), "what does not ask fits nodes that nobody knows");
    CHECK(!fits("bcast{nodes=1-8}=mpi", 0, 0, 0), "what asks does not");
    CHECK(fits("bcast{nodes=1-inf}=mpi", 0, 0, 0), "1-inf asks nothing");
    CHECK(fits("bcast{nodes=2-4}=mpi", 2, 1, 1) && fits("bcast{nodes=2-4}=mpi", 4, 8, 8), "2, 4");
    CHECK(!fits("bcast{nodes=2-4}=mpi", 1, 4, 4) && !fits("bcast{nodes=2-4}=mpi", 5, 1, 1), "1, 5");
    CHECK(fits("bcast{ ranks_per_node = 4 }=mpi", 3, 4, 4), "4 on each");
    CHECK(!fits("bcast{ranks_per_node=4}=mpi", 3, 3, 4), "3 on one");
    CHECK(!fits("bcast{ranks_per_node=1-4}=mpi", 3, 4, 5), "5 on one");
    CHECK(fits("bcast{nodes=2&ranks_per_node=2-inf}@x=mpi", 2, 2, 9), "both");
    CHECK(!fits("bcast{nodes=2&ranks_per_node=2-inf}@x=mpi", 2, 1, 9), "1 on one");
}

static void classes(void)
{
    static const struct {
        const char *spec;
        unsigned classes;
    } cases[] = {
        {"allreduce=mpi", 0},
        {"allreduce{type=integer}=mpi", CCO_TYPE_INTEGER},
        {"allreduce{type=floating}=mpi", CCO_TYPE_FLOATING},
        {"scan{type=other}=mpi", CCO_TYPE_OTHER},
        {"reduce{type=derived}=mpi", CCO_TYPE_DERIVED},
        {"*{operation=predefined}=mpi", CCO_OP_PREDEFINED},
        {"*{operation=user}=mpi", CCO_OP_USER},
        {"exscan{operation=commutative}=mpi", CCO_OP_COMMUTATIVE},
        {"*[8](2){nodes=2&operation=noncommutative&type=derived}@x=mpi",
         CCO_OP_NONCOMMUTATIVE | CCO_TYPE_DERIVED},
        {"reduce_scatter{operation=rounding}=mpi", CCO_OP_ROUNDING},
    };
    for (int i = 0; i < LEN(cases); i++) {
        cco_rules *rules = one(cases[i].spec);
        const cco_rule *rule = &rules->list[0];
        CHECK(rule->classes == cases[i].classes, "%x", rule->classes);
        CHECK(cases[i].classes == 0 || !cco_rule_matches(rule, CCO_BCAST, "x", 2), "no reduction");
        free(rules);
    }
    cco_rules *rules = one("*{type=integer}=mpi");
    for (int i = 0; i < CCO_COLLECTIVES; i++)
        CHECK(cco_rule_matches(&rules->list[0], (cco_coll)i, "", 2) ==
                  (cco_coll_infos[i].properties & CCO_REDUCTION && !cco_is_neighbor((cco_coll)i)),
              "%s", cco_coll_infos[i].name);
    free(rules);
}

static void lists(void)
{
    static const struct {
        const char *spec;
        int count;
    } cases[] = {
        {"", 0},
        {"\n\n", 0},
        {"# nothing\n", 0},
        {"  ", 0},
        {"bcast=mpi", 1},
        {"bcast=mpi\n", 1},
        {"bcast=mpi,*=nonblock", 2},
        {" bcast = mpi , * = nonblock ", 2},
        {"bcast=mpi\n*=nonblock\n", 2},
        {"# first\nbcast=mpi # second\n\n\r\n*=nonblock\r\n", 2},
        {"bcast=mpi,\n*=nonblock", 2},
    };
    for (int i = 0; i < LEN(cases); i++) {
        cco_rules *rules = parse(cases[i].spec);
        CHECK(rules != NULL && rules->count == cases[i].count, "%d rules: %s", cases[i].count,
              error);
        free(rules);
    }
    enum { MANY = 1000 };
    char *spec = malloc(MANY * 12), *end = spec;
    for (int i = 0; i < MANY; i++)
        end += sprintf(end, "%sbcast=mpi", i ? "," : "");
    cco_rules *rules = parse(spec);
    CHECK(rules != NULL && rules->count == MANY, "many rules");
    free(rules);
    free(spec);
}

/* Every implementation of the registry can be named. */
static void implementations(void)
{
    for (int i = 0; cco_models[i] != NULL; i++) {
        char spec[128];
        snprintf(spec, sizeof spec, "*=%s", cco_models[i]->name);
        cco_rules *rules = parse(spec);
        CHECK((rules != NULL) == (cco_models[i]->lacking == NULL), "%s", error);
        if (rules != NULL)
            CHECK(rules->list[0].model == cco_models[i] &&
                      strcmp(rules->list[0].impl, cco_models[i]->name) == 0,
                  "another one: %s", rules->list[0].impl);
        free(rules);
    }
}

static void mistakes(void)
{
    static const struct {
        const char *spec, *said;
        int character; /* where, from 1; 0: not looked at */
    } cases[] = {
        {"x=mpi", "no collective \"x\"", 1},
        {"bcast=mpi,shm ,scan=shm", "a rule is COLLECTIVE=IMPLEMENTATION, such as \"*=shm\"", 11},
        {"bcast=x", "no implementation \"x\"", 7},
        {"bcast", "'='", 6},
        {"=mpi", "collective", 1},
        {"bcast=", "implementation", 7},
        {"bcast[8-4]=mpi", "ends before it begins", 7},
        {"bcast[8-4=mpi", "']'", 10},
        {"bcast[x-4]=mpi", "size", 7},
        {"bcast[1T-2T]=mpi", "']'", 8},
        {"bcast(2K-4K)=mpi", "')'", 8},
        {"bcast(x)=mpi", "number of processes", 7},
        {"bcast@=mpi", "communicator", 7},
        {"bcast=mpi bcast=mpi", "comma", 11},
        {"bcast=mpi,", "after the comma", 0},
        {"bcast=mpi,x=mpi", "no collective", 11},
        {"bcast=mpi,,*=mpi", "collective", 11},
        {"bcast=mpi:ring", "algorithm", 0},
        {"bcast=mpi?a=1", "param", 0},
        {"bcast=MPI", "no implementation", 7},
        {"gatherv[1-2]=mpi", "no size", 0},
        {"bcast[99999999999999999999-inf]=mpi", "too large", 0},
        {"bcast[1-9223372036854775807G]=mpi", "too large", 0},
        {"bcast[-1-5]=mpi", "size", 7},
        {"bcast(99999999999)=mpi", "too large", 0},
        {"bcast{}=mpi", "expected a condition: nodes, ranks_per_node", 7},
        {"bcast{node=1}=mpi", "expected a condition", 7},
        {"bcast{nodes}=mpi", "'='", 12},
        {"bcast{nodes=x}=mpi", "number of nodes", 13},
        {"bcast{nodes=2K}=mpi", "'}'", 14},
        {"bcast{nodes=3-2}=mpi", "ends before it begins", 13},
        {"bcast{ranks_per_node=}=mpi", "number of processes", 22},
        {"bcast{nodes=1&nodes=2}=mpi", "nodes stands here twice", 15},
        {"bcast{nodes=1=mpi", "'}'", 14},
        {"bcast{nodes=99999999999}=mpi", "too large", 0},
        {"bcast@x{nodes=1}=mpi", "no implementation \"1}=mpi\"", 0},
        {"bcast{type=integer}=mpi", "bcast is no reduction", 7},
        {"neighbor_reduce{type=integer}=mpi", "neighbor_reduce is no reduction of all ranks", 17},
        {"alltoallw{operation=user}=mpi", "alltoallw is no reduction", 11},
        {"scan{type=int}=mpi", "integer, floating, other, derived", 11},
        {"scan{operation=sum}=mpi", "predefined, user, commutative, noncommutative, rounding", 16},
        {"bcast=mpi\nalltoall=no", "no implementation \"no\"", 0},
    };
    for (int i = 0; i < LEN(cases); i++) {
        char where[32];
        cco_rules *rules = parse(cases[i].spec);
        CHECK(rules == NULL, "must be an error");
        CHECK(strstr(error, cases[i].said) != NULL, "\"%s\" expected in: %s", cases[i].said, error);
        CHECK(strncmp(error, "test", 4) == 0, "does not name its source: %s", error);
        snprintf(where, sizeof where, "character %d", cases[i].character);
        CHECK(cases[i].character == 0 || strstr(error, where) != NULL, "\"%s\" expected in: %s",
              where, error);
        free(rules);
    }
}

/* Whatever comes in: no crash, and an error says something (run under the sanitizers as well). */
static void rubbish(void)
{
    static const char letters[] = "abst*=[]()@{},-#:?&\n KGinf0189mpi";
    unsigned seed = 7;
    for (int round = 0; round < 20000; round++) {
        char spec[64];
        int n = 0;
        const int length = (int)(seed % 40);
        if (round % 2)
            n = snprintf(spec, sizeof spec, "bcast");
        while (n < length)
            spec[n++] = letters[(seed = seed * 1103515245 + 12345) >> 16 & 31];
        spec[n] = '\0';
        seed = seed * 1103515245 + 12345;
        cco_rules *rules = parse(spec);
        CHECK(rules != NULL || error[0] != '\0', "an error without words");
        free(rules);
    }
    char long_spec[4096];
    memset(long_spec, 'a', sizeof long_spec - 1);
    long_spec[sizeof long_spec - 1] = '\0';
    CHECK(parse(long_spec) == NULL && strlen(error) < sizeof error, "long");
    memcpy(long_spec, "bcast=", 6);
    CHECK(parse(long_spec) == NULL, "long implementation");
    memcpy(long_spec, "bcast@", 6);
    memcpy(long_spec + sizeof long_spec - 5, "=mpi", 4);
    CHECK(parse(long_spec) == NULL, "long name");
}

static void patterns(void)
{
    static const struct {
        const char *pattern, *text;
        bool match;
    } cases[] = {
        {"row", "row", true},     {"row", "rows", false}, {"row", "ro", false},
        {"*", "", true},          {"*", "x", true},       {"r*", "row", true},
        {"r*", "r", true},        {"r*", "a", false},     {"*w", "row", true},
        {"*w", "rows", false},    {"r*w", "rw", true},    {"r*w", "row-w", true},
        {"a*b*c", "aXbYc", true}, {"a*b*c", "abc", true}, {"a*b*c", "acb", false},
        {"**", "x", true},        {"", "", true},         {"", "x", false},
        {"*ab", "aab", true},     {"a**b", "ab", true},
    };
    for (int i = 0; i < LEN(cases); i++) {
        snprintf(testing_label, sizeof testing_label, "%s on %s", cases[i].pattern, cases[i].text);
        CHECK(cco_pattern_matches(cases[i].pattern, cases[i].text) == cases[i].match, "must be %d",
              cases[i].match);
    }
    snprintf(testing_label, sizeof testing_label, "a pattern of many stars takes no time");
    CHECK(!cco_pattern_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
                               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
          "no b");
}

int main(void)
{
    testing_watchdog(20);
    sizes();
    collectives();
    processes_and_names();
    nodes();
    classes();
    lists();
    implementations();
    mistakes();
    rubbish();
    patterns();
    return testing_end("test_rules");
}
