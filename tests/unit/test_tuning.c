/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tuning.c - what a tuning file becomes, and what is said of a wrong one. Needs no running
 * MPI. */
#include "tune/tuning.h"

#include <limits.h>

#include "reduce/classes.h"
#include "model/registry.h"
#include "testing/testing.h"

#define HEAD                                                                                       \
    "{\"schema\": \"crestacoll-tuning-1\",\n"                                                      \
    " \"head\": {\"machine\": {\"cpu\": \"fast\", \"cores\": 4, \"memory_gib\": 7.5},\n"           \
    "  \"mpi\": \"Some MPI 1.0\", \"date\": \"today\", \"crestacoll\": \"0\"},\n"                  \
    " \"rules\": "

static char error[1024];
static cco_tuning tuning;

static bool reads(const char *text, size_t length)
{
    const bool good = cco_tuning_read(&tuning, text, length, "file", error, sizeof error);
    cco_json_free(&tuning.json);
    return good;
}

static cco_rules *parse_all(const char *text, size_t length)
{
    const bool good = cco_tuning_read(&tuning, text, length, "file", error, sizeof error);
    cco_rules *rules = good ? cco_tuning_rules(&tuning, "name") : NULL;
    cco_json_free(&tuning.json);
    return rules;
}

/* With a list of rules behind the head, which takes three lines. */
static cco_rules *parse(const char *rules)
{
    char text[4096];
    snprintf(testing_label, sizeof testing_label, "%s", rules);
    const int length = snprintf(text, sizeof text, HEAD "%s}", rules);
    return parse_all(text, (size_t)length);
}

static void a_whole_file(void)
{
    cco_rules *rules = parse(
        "[{\"collective\": \"AllReduce\", \"bytes\": [8, 4096], \"ranks\": [2, \"inf\"],\n"
        "  \"communicator\": \"a=b, c*\", \"implementation\": \"p2p:ring\",\n"
        "  \"changes_rounding\": true, \"note\": \"\\u0000 any\", \"earned\": {\"arms\": []}},\n"
        " {\"implementation\": \"os?via=get&sync=flush\", \"collective\": \"*\"},\n"
        " {\"collective\": \"gatherv\", \"bytes\": [0, \"inf\"], \"implementation\": \"mpi\"}]");
    CHECK(rules != NULL && rules->count == 3, "%s", error);
    if (rules == NULL)
        return;
    const cco_rule *rule = &rules->list[0];
    CHECK(strcmp(tuning.made.cpu, "fast") == 0 && tuning.made.cores == 4, "the machine");
    CHECK(strcmp(tuning.made.mpi, "Some MPI 1.0") == 0, "%s", tuning.made.mpi);
    CHECK(strcmp(rules->source, "name") == 0, "%s", rules->source);
    CHECK(rule->collectives == 1u << CCO_ALLREDUCE && rule->min == 8 && rule->max == 4096, "first");
    CHECK(rule->processes_min == 2 && rule->processes_max == INT_MAX, "ranks");
    CHECK(strcmp(rule->pattern, "a=b, c*") == 0, "%s", rule->pattern);
    CHECK(strcmp(rule->impl, "p2p:ring") == 0 && strcmp(rule->algorithm, "ring") == 0, "ring");
    CHECK(strcmp(rule->text, "AllReduce[8-4096](2-inf)@a=b, c*=p2p:ring") == 0, "%s", rule->text);
    CHECK(cco_rule_matches(rule, CCO_ALLREDUCE, "a=b, cd", 9), "such a call");
    CHECK(!cco_rule_matches(rule, CCO_ALLREDUCE, "a=b, cd", 1), "too few");
    CHECK(strcmp(rules->list[1].model->name, "os") == 0, "second");
    CHECK(rules->list[1].min == 0 && rules->list[1].max == LLONG_MAX, "all sizes");
    CHECK(strcmp(rules->list[1].text, "*=os?via=get&sync=flush") == 0, "%s", rules->list[1].text);
    CHECK(rules->list[2].collectives == 1u << CCO_GATHERV, "third");
    CHECK(!cco_rules_are_plain(rules), "not only mpi");
    free(rules);
}

static void conditions(void)
{
    cco_rules *rules = parse(
        "[{\"collective\": \"allreduce\", \"bytes\": [8, 8], \"nodes\": [2, \"inf\"],"
        " \"ranks_per_node\": [4, 4], \"type\": \"floating\", \"operation\": \"rounding\","
        " \"communicator\": \"a}b\", \"implementation\": \"p2p\"},"
        " {\"collective\": \"*\", \"nodes\": [1, \"inf\"], \"implementation\": \"mpi\"}]");
    CHECK(rules != NULL && rules->count == 2, "%s", error);
    if (rules == NULL)
        return;
    const cco_rule *rule = &rules->list[0];
    CHECK(rule->nodes_min == 2 && rule->nodes_max == INT_MAX, "nodes");
    CHECK(rule->on_node_min == 4 && rule->on_node_max == 4, "ranks on a node");
    CHECK(rule->classes == (CCO_TYPE_FLOATING | CCO_OP_ROUNDING), "%x", rule->classes);
    CHECK(rule->min == 8 && rule->max == 8 && strcmp(rule->pattern, "a}b") == 0, "the others");
    CHECK(strncmp(rule->text,
                  "allreduce[8-8]{nodes=2-inf&ranks_per_node=4-4&type=floating&operation=rounding}"
                  "@a}b=p2p",
                  95) == 0,
          "%s", rule->text);
    CHECK(!cco_rule_asks_nodes(&rules->list[1]), "a range that takes all");
    free(rules);
}

static void no_rules(void)
{
    cco_rules *rules = parse("[]");
    CHECK(rules != NULL && rules->count == 0, "%s", error);
    CHECK(cco_rules_are_plain(rules), "nothing is asked");
    free(rules);
}

/* More than the list has room for at first. */
static void many_rules(void)
{
    enum { MANY = 1000 };
    static char text[200 * MANY];
    size_t used = (size_t)sprintf(text, HEAD "[");
    for (int i = 0; i < MANY; i++)
        used += (size_t)sprintf(
            text + used,
            "%s{\"collective\": \"bcast\", \"bytes\": [%d, %d], \"implementation\": "
            "\"nonblock\"}",
            i ? "," : "", i, i);
    used += (size_t)sprintf(text + used, "]}");
    cco_rules *rules = parse_all(text, used);
    CHECK(rules != NULL && rules->count == MANY, "%s", error);
    for (int i = 0; rules != NULL && i < MANY; i++)
        CHECK(rules->list[i].min == i && rules->list[i].max == i, "rule %d", i);
    free(rules);
}

/* What is wrong with a rule is reported with its place in the file. */
static void check_refused(const char *text, const char *said)
{
    cco_rules *rules = parse(text);
    CHECK(rules == NULL && strstr(error, said) != NULL, "%s", error);
    CHECK(strncmp(error, "file: line ", 11) == 0, "%s", error);
    free(rules);
}

static void wrong_rules(void)
{
    static const struct {
        const char *rules, *said;
    } cases[] = {
        {"{}", "file: line 4, column 11: rules must be an array"},
        {"[7]", "line 4, column 12: expected an object, {"},
        {"[{}]", "line 4, column 12: this rule has no \"collective\""},
        {"[{\"collective\": \"*\"}]", "column 12: this rule has no \"implementation\""},
        {"[{\"collective\": \"nope\",\n\"implementation\": \"mpi\"}]",
         "line 4, column 27: no collective \"nope\"; possible: *, neighbor_*, barrier"},
        {"[{\"collective\": \"bcast\",\n \"implementation\": \"nope\"}]",
         "line 5, column 20: no implementation \"nope\"; possible: mpi"},
        {"[{\"collective\": \"bcast\", \"implementation\": \"p2p:nope\"}]", "nope"},
        {"[{\"collective\": \"bcast\", \"implementation\": \"os?via=nope\"}]",
         "via must be one of"},
        {"[{\"collective\": \"gatherv\",\n \"bytes\": [1, 2],\n \"implementation\": \"mpi\"}]",
         "line 5, column 11: gatherv has no size that every rank knows"},
        {"[{\"collective\": \"bcast\", \"bytes\": [2, 1], \"implementation\": \"mpi\"}]",
         "this range of bytes ends before it begins"},
        {"[{\"collective\": \"bcast\", \"bytes\": [2], \"implementation\": \"mpi\"}]",
         "bytes must be two numbers"},
        {"[{\"collective\": \"bcast\", \"bytes\": [1, 2, 3], \"implementation\": \"mpi\"}]",
         "bytes must be two numbers"},
        {"[{\"collective\": \"bcast\", \"bytes\": [\"inf\", \"inf\"], \"implementation\": "
         "\"mpi\"}]",
         "bytes must be a whole number"},
        {"[{\"collective\": \"bcast\", \"ranks\": [1, \"all\"], \"implementation\": \"mpi\"}]",
         "the end of a range, unless it is \"inf\", must be a whole number"},
        {"[{\"collective\": \"bcast\", \"ranks\": [1, 3000000000], \"implementation\": \"mpi\"}]",
         "ranks are at most 2147483647"},
        {"[{\"collective\": \"bcast\", \"node\": [1, 2], \"implementation\": \"mpi\"}]",
         "column 36: this rule has no member \"node\"; possible: collective, bytes, ranks, "
         "nodes, "},
        {"[{\"collective\": \"bcast\", \"nodes\": [2, 1], \"implementation\": \"mpi\"}]",
         "this range of nodes ends before it begins"},
        {"[{\"collective\": \"bcast\", \"nodes\": 2, \"implementation\": \"mpi\"}]",
         "column 45: nodes must be an array"},
        {"[{\"collective\": \"bcast\",\n \"type\": \"integer\", \"implementation\": \"mpi\"}]",
         "line 5, column 10: bcast is no reduction"},
        {"[{\"collective\": \"*\",\n \"operation\": \"sum\", \"implementation\": \"mpi\"}]",
         "line 5, column 15: expected a class of operations: predefined, user"},
        {"[{\"collective\": \"*\", \"type\": \"other}@x=p2p#\", \"implementation\": \"mpi\"}]",
         "type cannot hold '}'"},
        {"[{\"collective\": \"scan\", \"type\": \"\", \"implementation\": \"mpi\"}]",
         "type is empty"},
        {"[{\"collective\": \"bcast\", \"collective\": \"*\", \"implementation\": \"mpi\"}]",
         "\"collective\" stands here twice"},
        {"[{\"collective\": \"bcast\", \"communicator\": \"\", \"implementation\": \"mpi\"}]",
         "communicator is empty"},
        {"[{\"collective\": \"bcast\", \"communicator\": \"\\u001b\", \"implementation\": "
         "\"mpi\"}]",
         "communicator has a control character"},
    };
    for (int i = 0; i < LEN(cases); i++)
        check_refused(cases[i].rules, cases[i].said);
}

/* One rule must not become two, nor a range hide in a name. */
static void smuggled_rules(void)
{
    static const struct {
        const char *rules, *said;
    } cases[] = {
        {"[{\"collective\": \"bcast\", \"implementation\": \"mpi,*=p2p\"}]", "cannot hold ','"},
        {"[{\"collective\": \"bcast\", \"implementation\": \"mpi\\n*=p2p\"}]", "control character"},
        {"[{\"collective\": \"bcast\", \"implementation\": \"mpi#\"}]", "cannot hold '#'"},
        {"[{\"collective\": \"bcast[1-2]\", \"implementation\": \"mpi\"}]", "cannot hold '['"},
        {"[{\"collective\": \"bcast=p2p#\", \"implementation\": \"mpi\"}]", "cannot hold '='"},
        {"[{\"collective\": \"#\", \"implementation\": \"mpi\"}]", "cannot hold '#'"},
        {"[{\"collective\": \"\", \"implementation\": \"mpi\"}]", "collective is empty"},
        {"[{\"collective\": \"*x\", \"implementation\": \"mpi\"}]", "column 27: expected '='"},
        {"[{\"collective\": \"*\", \"implementation\": \"mpi\"},]", "expected a value, found ']'"},
    };
    for (int i = 0; i < LEN(cases); i++)
        check_refused(cases[i].rules, cases[i].said);
}

#define MACHINE "\"machine\": {\"cpu\": \"x\", \"cores\": 1}"
#define START "{\"schema\": \"crestacoll-tuning-1\", \"rules\": [], \"head\": "

static void wrong_heads(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "line 1, column 1: expected a value"},
        {"[]", "line 1, column 1: expected an object"},
        {"{}", "a tuning file has no \"schema\""},
        {"{\"schema\": \"crestacoll-tuning-2\", \"whatever\": []}",
         "column 12: this is \"crestacoll-tuning-2\"; this version of crestacoll reads "
         "\"crestacoll-tuning-1\""},
        {"{\"schema\": \"crestacoll-tuning-1\", \"rules\": []}", "has no \"head\""},
        {START "{\"mpi\": \"x\"}}", "column 56: the head has no \"machine\""},
        {START "{\"machine\": {\"cpu\": \"x\"}, \"mpi\": \"x\"}}", "the machine has no \"cores\""},
        {START "{" MACHINE "}}", "the head has no \"mpi\""},
        {START "{" MACHINE ", \"mpi\": 7}}", "mpi must be a string"},
        {START "{" MACHINE ", \"mpi\": \"x\"}, \"more\": 1}", "no member \"more\""},
        {START "{" MACHINE ", \"mpi\": \"x\"}, \"more\": [}", "expected a value, or the name"},
        {START "{" MACHINE ", \"mpi\": \"x\"}, \"rules\": []}", "\"rules\" stands here twice"},
    };
    for (int i = 0; i < LEN(cases); i++) {
        snprintf(testing_label, sizeof testing_label, "%s", cases[i].text);
        cco_rules *rules = parse_all(cases[i].text, strlen(cases[i].text));
        CHECK(rules == NULL && strstr(error, cases[i].said) != NULL, "%s", error);
        free(rules);
    }
}

/* Rules that this library does not know are no error as long as nobody wants them: a file from
 * elsewhere.  What is no JSON is one in any case. */
static void rules_are_read_last(void)
{
    static const char strange[] = HEAD "[{\"when\": \"full moon\", \"collective\": 1}]}";
    static const char broken[] = HEAD "[{\"when\": \"full moon\" \"collective\": 1}]}";
    snprintf(testing_label, sizeof testing_label, "strange rules");
    CHECK(cco_tuning_read(&tuning, strange, sizeof strange - 1, "file", error, sizeof error), "%s",
          error);
    CHECK(cco_tuning_rules(&tuning, "name") == NULL && error[0] != '\0', "an error now");
    cco_json_free(&tuning.json);
    CHECK(!reads(broken, sizeof broken - 1), "no JSON");
}

/* Every start of a file is an error at its end, or in a string that does not end. */
static void truncated(void)
{
    static const char text[] = HEAD "[{\"collective\": \"bcast\", \"implementation\": \"mpi\"}]}";
    int line, column;
    for (size_t length = 0; length < sizeof text - 1; length++) {
        snprintf(testing_label, sizeof testing_label, "%zu bytes", length);
        CHECK(!reads(text, length), "too short");
        CHECK(sscanf(error, "file: line %d, column %d: ", &line, &column) == 2, "%s", error);
    }
    CHECK(reads(text, sizeof text - 1), "%s", error);
}

static void too_long(void)
{
    enum { LENGTH = CCO_TUNING_MOST + 1 };
    char *text = malloc(LENGTH);
    memset(text, ' ', LENGTH);
    memcpy(text, HEAD "\n[]}", sizeof(HEAD "\n[]}") - 1);
    snprintf(testing_label, sizeof testing_label, "4 MiB and a byte");
    CHECK(reads(text, LENGTH - 1), "%s", error);
    CHECK(!reads(text, LENGTH), "too long");
    CHECK(strncmp(error, "file: line 5, column ", 21) == 0, "%s", error);
    CHECK(strstr(error, "exceeds the 4194304 bytes") != NULL, "%s", error);
    free(text);
}

static void machines(void)
{
    static const struct {
        const char *library, *name;
    } cases[] = {
        {"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI v4.1.4"},
        {"MPICH Version:\t4.0.2\nMPICH Release date:\tThu", "MPICH Version: 4.0.2"},
        {"  Intel(R)  MPI \r\n", "Intel(R) MPI"},
        {"", ""},
    };
    const cco_machine one = {"fast", 4, "M 1"};
    char text[1400], name[32];
    for (int i = 0; i < LEN(cases); i++) {
        cco_machine_mpi(cases[i].library, name, sizeof name);
        CHECK(strcmp(name, cases[i].name) == 0, "'%s'", name);
    }
    cco_machine_mpi("a very long name of an MPI", name, 8);
    CHECK(strlen(name) == 7 || strlen(name) == 6, "'%s'", name);
    CHECK(cco_machine_same(&one, &(cco_machine){"fast", 4, "M 1"}, text, sizeof text), "same");
    CHECK(text[0] == '\0', "%s", text);
    CHECK(!cco_machine_same(&one, &(cco_machine){"fast", 5, "M 1"}, text, sizeof text), "cores");
    CHECK(strcmp(text, "it was made for fast with 4 cores, and this is fast with 5 cores") == 0,
          "%s", text);
    CHECK(!cco_machine_same(&one, &(cco_machine){"fast", 4, "M 2"}, text, sizeof text), "mpi");
    CHECK(strcmp(text, "it was made for M 1, and this is M 2") == 0, "%s", text);
    CHECK(!cco_machine_same(&one, &(cco_machine){"slow", 4, "M 2"}, text, sizeof text), "both");
    CHECK(strcmp(text, "it was made for fast with 4 cores and M 1, and this is slow with 4 cores "
                       "and M 2") == 0,
          "%s", text);
}

int main(void)
{
    a_whole_file();
    conditions();
    no_rules();
    many_rules();
    wrong_rules();
    smuggled_rules();
    wrong_heads();
    rules_are_read_last();
    truncated();
    too_long();
    machines();
    return testing_end("test_tuning");
}
