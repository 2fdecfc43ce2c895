/* SPDX-License-Identifier: BSD-3-Clause */
/* test_impl.c - what a rule says after its "=": model, algorithm, parameters. Needs no running MPI.
 */
#include "algo/algo.h"
#include "testing/testing.h"
#include "tune/rules.h"
#include "tune/impl.h"

static char error[1024];

static cco_rules *parse(const char *spec)
{
    snprintf(testing_label, sizeof testing_label, "%s", spec);
    return cco_rules_parse(spec, "test", error, sizeof error);
}

/* One rule that names an algorithm; what it comes to for a collective. */
static cco_way way_of(const char *spec, cco_coll coll)
{
    cco_way way;
    cco_rules *rules = parse(spec);
    if (!CHECK(rules != NULL && rules->count == 1, "one rule; %s", error))
        exit(testing_end("test_impl"));
    CHECK(rules->list[0].collectives >> coll & 1, "concerns %s", cco_coll_infos[coll].name);
    CHECK(!cco_rules_are_plain(rules), "an algorithm is not plain");
    cco_rule_way(&rules->list[0], coll, &way);
    free(rules);
    return way;
}

static void ways(void)
{
    static const struct {
        const char *spec;
        cco_coll coll;
        const char *algorithm; /* NULL: none */
        long params[CCO_PARAMS];
    } cases[] = {
        {"alltoall=p2p", CCO_ALLTOALL, NULL, {0}},
        {"alltoall=nonblock", CCO_ALLTOALL, NULL, {0}},
        {"alltoall=p2p:chunked", CCO_ALLTOALL, "chunked", {65536, 0, 1}},
        {"alltoall=p2p:chunked?chunk=4K", CCO_ALLTOALL, "chunked", {4096, 0, 1}},
        {"alltoall=p2p:chunked?chunk=1m", CCO_ALLTOALL, "chunked", {1 << 20, 0, 1}},
        {"alltoall=p2p:chunked?chunk=1G", CCO_ALLTOALL, "chunked", {1 << 30, 0, 1}},
        {"alltoall=p2p:chunked?order=xor", CCO_ALLTOALL, "chunked", {65536, 2, 1}},
        {"alltoall=p2p:chunked?seed=7&order=random&chunk=512",
         CCO_ALLTOALL,
         "chunked",
         {512, 1, 7}},
        {" alltoall [1K-inf] (4-8) @row* = p2p:bruck?k=3 ", CCO_ALLTOALL, "bruck", {3}},
        {"bcast=p2p:chain?segment=1", CCO_BCAST, "chain", {1}},
        {"*=p2p:chain?segment=1", CCO_REDUCE, "chain", {1}},
        {"*=p2p:bruck", CCO_ALLGATHER, "bruck", {2}},
    };
    for (int i = 0; i < LEN(cases); i++) {
        const cco_way way = way_of(cases[i].spec, cases[i].coll);
        const char *name = way.algo != NULL ? way.algo->name : "(none)";
        CHECK(strcmp(name, cases[i].algorithm != NULL ? cases[i].algorithm : "(none)") == 0, "%s",
              name);
        for (int k = 0; k < CCO_PARAMS && way.algo != NULL && way.algo->params[k].name; k++)
            CHECK(way.params[k] == cases[i].params[k], "%s is %ld", way.algo->params[k].name,
                  way.params[k]);
    }
}

/* Profiles and messages show implementation and rule as written, without blanks around them. */
static void as_written(void)
{
    static const struct {
        const char *spec, *impl, *text;
    } cases[] = {
        {"bcast=mpi", "mpi", "bcast=mpi"},
        {" bcast= mpi\t # why", "mpi", "bcast= mpi"},
        {"bcast=p2p \r\n", "p2p", "bcast=p2p"},
        {"bcast=p2p:chain , *=mpi", "p2p:chain", "bcast=p2p:chain"},
        {"bcast=p2p:chain?segment=4K  ", "p2p:chain?segment=4K", "bcast=p2p:chain?segment=4K"},
    };
    for (int i = 0; i < LEN(cases); i++) {
        cco_rules *rules = parse(cases[i].spec);
        if (!CHECK(rules != NULL && rules->count > 0, "%s", error))
            continue;
        CHECK(strcmp(rules->list[0].impl, cases[i].impl) == 0, "'%s'", rules->list[0].impl);
        CHECK(strcmp(rules->list[0].text, cases[i].text) == 0, "'%s'", rules->list[0].text);
        free(rules);
    }
}

/* A rule for many collectives is one for those that have the algorithm; the rest go on. */
static void algorithm_of_some(void)
{
    cco_rules *rules = parse("*[1K-inf]=p2p:ring,*=p2p:recursive_doubling,*=nonblock");
    if (!CHECK(rules != NULL && rules->count == 3, "%s", error))
        return;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        const bool sized = cco_coll_infos[coll].properties & CCO_SIZED;
        const bool ring = cco_algo_named((cco_coll)coll, "ring", 4) != NULL;
        const bool doubling = cco_algo_named((cco_coll)coll, "recursive_doubling", 18) != NULL;
        const cco_rule *rule = rules->list;
        const char *name = cco_coll_infos[coll].name;
        CHECK(cco_rule_matches(&rule[0], (cco_coll)coll, "", 2) == (ring && sized), "%s", name);
        CHECK(cco_rule_matches(&rule[1], (cco_coll)coll, "", 2) == doubling, "%s", name);
        CHECK(cco_rule_matches(&rule[2], (cco_coll)coll, "", 2) == !cco_is_neighbor((cco_coll)coll),
              "%s", name);
    }
    free(rules);
}

/* And so for a parameter: the linear algorithm of a bcast has no window. */
static void parameter_of_some(void)
{
    cco_rules *rules = parse("*=p2p:linear?window=4");
    if (!CHECK(rules != NULL && rules->count == 1, "%s", error))
        return;
    CHECK(cco_rule_matches(rules->list, CCO_ALLTOALL, "", 2), "alltoall");
    CHECK(!cco_rule_matches(rules->list, CCO_BCAST, "", 2), "bcast");
    cco_way way;
    cco_rule_way(rules->list, CCO_ALLTOALL, &way);
    CHECK(way.params[0] == 4, "window %ld", way.params[0]);
    free(rules);
}

/* A value of a parameter: it must come through within the limits, and be refused beyond. */
static void try_value(cco_coll coll, const cco_algo *algo, int k, long long value)
{
    char spec[128];
    const cco_param *param = &algo->params[k];
    snprintf(spec, sizeof spec, "%s=p2p:%s?%s=%lld", cco_coll_infos[coll].name, algo->name,
             param->name, value);
    if (param->names == NULL && param->min <= value && value <= param->max) {
        const cco_way way = way_of(spec, coll);
        CHECK(way.algo == algo && way.params[k] == value, "%ld", way.params[k]);
        for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++)
            CHECK(i == k || way.params[i] == algo->params[i].preset, "%s: not the preset",
                  algo->params[i].name);
        return;
    }
    CHECK(parse(spec) == NULL, "must be an error");
    CHECK(strstr(error, "must be") != NULL || value < 0, "%s", error);
}

static void try_names(cco_coll coll, const cco_algo *algo, int k)
{
    char spec[128];
    long value = 0;
    for (const char *name = algo->params[k].names; name != NULL; value++) {
        const int n = (int)strcspn(name, "|");
        snprintf(spec, sizeof spec, "%s=p2p:%s?%s=%.*s", cco_coll_infos[coll].name, algo->name,
                 algo->params[k].name, n, name);
        CHECK(way_of(spec, coll).params[k] == value, "must be %ld", value);
        name = name[n] == '|' ? name + n + 1 : NULL;
    }
    CHECK(algo->params[k].names == NULL || value == algo->params[k].max + 1, "a name for each");
}

/* Every algorithm and every limit of its parameters; wrong names list what is possible. */
static void every_algorithm(void)
{
    const cco_algo *algo;
    for (int c = 0; c < CCO_COLLECTIVES; c++)
        for (int i = 0; (algo = cco_algo_of((cco_coll)c, i)) != NULL; i++) {
            char spec[128];
            const char *name = cco_coll_infos[c].name;
            snprintf(spec, sizeof spec, "%s=p2p:%s", name, algo->name);
            CHECK(way_of(spec, (cco_coll)c).algo == algo, "another one");
            snprintf(spec, sizeof spec, "%s=p2p:no", name);
            CHECK(parse(spec) == NULL && strstr(error, algo->name) != NULL, "%s", error);
            snprintf(spec, sizeof spec, "%s=p2p:%s?no=1", name, algo->name);
            CHECK(parse(spec) == NULL && strstr(error, "no parameter \"no\"") != NULL, "%s", error);
            for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++)
                CHECK(strstr(error, algo->params[k].name) != NULL, "not possible: %s", error);
            for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++) {
                const cco_param *param = &algo->params[k];
                try_value((cco_coll)c, algo, k, param->min);
                try_value((cco_coll)c, algo, k, param->max);
                try_value((cco_coll)c, algo, k, param->min - 1LL);
                try_value((cco_coll)c, algo, k, param->max + 1LL);
                try_names((cco_coll)c, algo, k);
            }
        }
}

static void mistakes(void)
{
    static const struct {
        const char *spec, *said;
        int character; /* where, from 1; 0: not looked at */
    } cases[] = {
        {"bcast=no:ring", "possible: mpi, nonblock", 7},
        {"bcast=nonblock:ring", "nonblock has neither algorithms nor parameters", 15},
        {"bcast=persist?k=1", "persist has neither algorithms nor parameters", 0},
        {"bcast=p2p:bruck", "p2p has no algorithm \"bruck\" for this; possible: ", 11},
        {"*=p2p:nosuch", "p2p has no algorithm \"nosuch\" for this; possible: ", 7},
        {"*[0-4K]=p2p:pairwis", "no algorithm \"pairwis\"", 13},
        {"*=p2p:pairwise_", "no algorithm \"pairwise_\"", 7},
        {"bcast=p2p:", "expected an algorithm of p2p; possible: ", 11},
        {"bcast=p2p:?k=1", "expected an algorithm of p2p; possible: ", 11},
        {"bcast=p2p:RING", "no algorithm \"RING\"", 11},
        {"bcast=p2p:binomial:ring", "comma", 19},
        {"alltoall=p2p?chunk=4K", "parameters belong to an algorithm: p2p:NAME?", 13},
        {"alltoall=p2p:chunked?", "no parameter \"\"; possible: chunk, order, seed", 22},
        {"alltoall=p2p:chunked?chunk", "'=' after a parameter", 27},
        {"alltoall=p2p:chunked?chunk=",
         "expected a number, with K, M or G if need be: 1 to 1073741824", 28},
        {"alltoall=p2p:chunked?chunk=0", "chunk must be 1 to 1073741824", 28},
        {"alltoall=p2p:chunked?chunk=2G", "chunk must be 1 to 1073741824", 28},
        {"alltoall=p2p:chunked?chunk=inf", "expected a number, with K, M or G", 28},
        {"alltoall=p2p:chunked?chunk=4K&", "no parameter \"\"; possible: chunk", 31},
        {"alltoall=p2p:chunked?chunk=4K,order=xor", "no collective \"order\"", 31},
        {"alltoall=p2p:chunked?order=zigzag", "order must be one of ring|random|xor", 28},
        {"alltoall=p2p:chunked?order=rin", "order must be one of ring|random|xor", 28},
        {"alltoall=p2p:chunked?order=1", "order must be one of ring|random|xor", 28},
        {"alltoall=p2p:chunked?order", "'=' after a parameter", 27},
        {"alltoall=p2p:chunked?size=4",
         "p2p:chunked has no parameter \"size\"; possible: chunk, order, seed", 22},
        {"alltoall=p2p:pairwise?k=4", "no parameter \"k\"; possible: none", 23},
        {"alltoall=p2p:bruck?k=1", "k must be 2 to 64", 22},
        {"alltoall=p2p:bruck?k=99999999999999999999", "too large", 22},
        {"alltoall=p2p:chunked?chunk=1&chunk=1", "chunk is given twice", 30},
        {"alltoallw=p2p:ring",
         "no algorithm \"ring\" for this; possible: chunked, linear, pairwise", 15},
        {"alltoall=p2p:chunked?chunk=1&order=xor&seed=1&seed=2", "seed is given twice", 47},
        {"alltoall=p2p:chunked?chunk=0000000000000000000000000000000000000000000000000004",
         "longer than 63 characters", 10},
        {"*=p2p:linear?size=4", "p2p:linear has no parameter \"size\"; possible: window", 14},
        {"bcast=mpi,*=p2p:bruck?K=3", "p2p:bruck has no parameter \"K\"; possible: k", 23},
    };
    for (int i = 0; i < LEN(cases); i++) {
        char where[32];
        snprintf(where, sizeof where, "^ character %d", cases[i].character);
        CHECK(parse(cases[i].spec) == NULL, "must be an error");
        CHECK(strstr(error, cases[i].said) != NULL, "\"%s\" expected in: %s", cases[i].said, error);
        CHECK(cases[i].character == 0 || strstr(error, where) != NULL, "\"%s\" expected in: %s",
              where, error);
    }
}

/* Words of the grammar in any order: deeper into it than messages come. */
static void word_salad(void)
{
    static const char *const words[] = {
        "*",      "=",      "p2p",      ":", "?", "&", ",",   "chunked",  "chunk", "order", "seed",
        "4K",     "random", "alltoall", "k", "3", "[", "]",   "-",        "ring",  "bruck", "bcast",
        "linear", "window", " ",        "(", ")", "1", "inf", "nonblock", "@",     "\n"};
    unsigned seed = 11;
    for (int round = 0; round < 20000; round++) {
        static const char *const heads[] = {"", "alltoall=p2p:chunked?",
                                            "*=p2p:", "*=p2p:bruck?k="};
        char spec[256];
        int n = snprintf(spec, sizeof spec, "%s", heads[round % LEN(heads)]);
        for (unsigned left = (seed >> 16) % 9; left > 0; left--) {
            seed = seed * 1103515245 + 12345;
            n += snprintf(spec + n, sizeof spec - (size_t)n, "%s", words[seed >> 16 & 31]);
        }
        seed = seed * 1103515245 + 12345;
        cco_rules *rules = parse(spec);
        CHECK((rules != NULL) == (error[0] == '\0'), "an error without words, or words for none");
        for (int i = 0; rules != NULL && i < rules->count; i++)
            CHECK(rules->list[i].collectives != 0 && rules->list[i].model != NULL, "an empty rule");
        free(rules);
    }
}

int main(void)
{
    testing_watchdog(20);
    ways();
    as_written();
    algorithm_of_some();
    parameter_of_some();
    every_algorithm();
    mistakes();
    word_salad();
    return testing_end("test_impl");
}
