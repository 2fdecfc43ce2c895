/* SPDX-License-Identifier: BSD-3-Clause */
/* test_auto.c - what the implementation `auto` of a rule becomes. Needs no running MPI. */
#include <limits.h>

#include "reduce/classes.h"
#include "model/registry.h"
#include "testing/testing.h"
#include "tune/auto.h"

static char error[1024];

static cco_rules *parse(const char *spec)
{
    cco_rules *rules = cco_rules_parse(spec, "test", error, sizeof error);
    CHECK(rules != NULL, "%s: %s", spec, error);
    if (rules == NULL)
        exit(testing_end("test_auto"));
    return rules;
}

/* What a rule becomes by three measured ones. */
static int expand(const char *spec, cco_rule list[4])
{
    cco_rules *measured = parse("bcast[0-4K](2-8){nodes=1}=shm,allreduce[64-1K](4-8)=p2p:ring,"
                                "reduce{type=integer}=shm");
    cco_rules *asked = parse(spec);
    snprintf(testing_label, sizeof testing_label, "%s", spec);
    const int count = cco_auto_expand(measured, &asked->list[asked->count - 1], list);
    free(asked);
    free(measured);
    return count;
}

static void all_that_was_measured(void)
{
    cco_rule list[4];
    CHECK(expand("*=auto", list) == 4, "three rules and the rest");
    CHECK(list[0].collectives == 1u << CCO_BCAST && list[0].min == 0 && list[0].max == 4096, "[]");
    CHECK(list[0].processes_min == 2 && list[0].processes_max == 8, "()");
    CHECK(list[0].nodes_min == 1 && list[0].nodes_max == 1, "{}");
    CHECK(strcmp(list[0].impl, "shm") == 0 && list[0].automatic, "%s", list[0].impl);
    CHECK(strcmp(list[0].text, "*=auto: bcast[0-4K](2-8){nodes=1}=shm") == 0, "%s", list[0].text);
    CHECK(strcmp(list[1].impl, "p2p:ring") == 0 && strcmp(list[1].algorithm, "ring") == 0, "%s",
          list[1].impl);
    CHECK(list[3].model == cco_models[0] && strcmp(list[3].impl, "mpi") == 0, "%s", list[3].impl);
    CHECK(list[3].min == 0 && list[3].max == LLONG_MAX && list[3].classes == 0, "the rest is all");
}

static void only_what_the_rule_is_for(void)
{
    cco_rule list[4];
    CHECK(expand("bcast[1K-1M](6-99)@row*=auto", list) == 2, "one rule and the rest");
    CHECK(list[0].min == 1024 && list[0].max == 4096, "%lld", (long long)list[0].max);
    CHECK(list[0].processes_min == 6 && list[0].processes_max == 8, "(6-8)");
    CHECK(strcmp(list[0].pattern, "row*") == 0, "%s", list[0].pattern);
    CHECK(list[1].min == 1024 && list[1].max == 1 << 20 && list[1].processes_max == 99, "the rest");
    CHECK(expand("bcast[8K]=auto", list) == 1, "no size in common");
    CHECK(expand("allreduce(2)=auto", list) == 1, "no number of processes in common");
    CHECK(expand("bcast{nodes=2-inf}=auto", list) == 1, "no number of nodes in common");
    CHECK(expand("alltoall=auto", list) == 1, "not measured");
    CHECK(expand("reduce{operation=predefined}=auto", list) == 2 &&
              list[0].classes == (CCO_TYPE_INTEGER | CCO_OP_PREDEFINED),
          "both conditions");
}

static void here(void)
{
    cco_rules *rules = parse("alltoall=nonblock,*=auto,bcast[0-1K]=auto");
    CHECK(rules->count > 3, "%d", rules->count);
    CHECK(!rules->list[0].automatic && strcmp(rules->list[0].impl, "nonblock") == 0, "the first");
    for (int i = 1; i < rules->count; i++)
        CHECK(rules->list[i].automatic && rules->list[i].model->lacking == NULL, "rule %d", i);
    CHECK(strcmp(rules->list[rules->count - 1].text, "bcast[0-1K]=auto") == 0, "the last");
    free(rules);
}

static void neither_algorithms_nor_parameters(void)
{
    static const char *const wrong[] = {"bcast=auto:ring", "bcast=auto?via=get"};
    for (int i = 0; i < LEN(wrong); i++)
        CHECK(cco_rules_parse(wrong[i], "test", error, sizeof error) == NULL &&
                  strstr(error, "auto has neither algorithms nor parameters") != NULL,
              "%s: %s", wrong[i], error);
    CHECK(cco_rules_parse("bcast=automatic", "test", error, sizeof error) == NULL &&
              strstr(error, ", auto\n") != NULL,
          "%s", error);
}

static void families(void)
{
    CHECK(strcmp(cco_auto_family("Open MPI v4.1.4, package: x"), "openmpi") == 0, "Open MPI");
    CHECK(strcmp(cco_auto_family("MPICH Version:\t4.0.2"), "mpich") == 0, "MPICH");
    CHECK(strcmp(cco_auto_family("Intel(R) MPI Library 2021.18"), "other") == 0, "Intel");
}

int main(void)
{
    all_that_was_measured();
    only_what_the_rule_is_for();
    here();
    neither_algorithms_nor_parameters();
    families();
    return testing_end("test_auto");
}
