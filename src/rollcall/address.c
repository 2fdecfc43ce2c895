/* SPDX-License-Identifier: BSD-3-Clause */
/* address.c - see address.h. */
#define _GNU_SOURCE
#include "rollcall/address.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rollcall/proof.h"

enum {
    TRIES = 50, /* with one address */
    TRY_MS = 100,
    LAST_TRIES = 10, /* of a process that ends: for the answer of one that listens */
    TOKEN = 33
};

/* Whether the other end of a Unix socket is of this user, or of root: anybody may take a name. */
static bool address_is_ours(int fd)
{
    struct ucred who;
    socklen_t length = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
           (who.uid == geteuid() || who.uid == 0);
}

/* A name that no file system has begins with a 0. */
static socklen_t unix_address(struct sockaddr_un *address, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    const size_t all = strlen(name), most = sizeof address->sun_path - 1;
    const size_t length = all < most ? all : most;
    memcpy(address->sun_path + 1, name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

/* There may be no room for more connections that wait.  A process that shall stop tries once: it
 * has something to say before. */
static int connect_unix(const char *name, bool (*stop)(void))
{
    struct sockaddr_un address;
    const socklen_t length = unix_address(&address, name);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    for (int i = 0; fd >= 0 && i < TRIES && (i == 0 || !stop()); i++) {
        if (connect(fd, (struct sockaddr *)&address, length) == 0)
            return fd;
        if (errno != EAGAIN)
            break;
        poll(NULL, 0, TRY_MS);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_connected(int fd)
{
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

static bool address_connects(int fd, const struct addrinfo *to, bool (*stop)(void))
{
    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
        return true;
    for (int i = 0; errno == EINPROGRESS && i < TRIES && (i == 0 || !stop()); i++) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        if (poll(&ready, 1, TRY_MS) == 1)
            return is_connected(fd);
        errno = EINPROGRESS;
    }
    return false;
}

static int connect_tcp(const char *host, const char *port, bool (*stop)(void))
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *to = NULL;
    if (getaddrinfo(host, port, &hints, &to) != 0)
        return -1;
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && !address_connects(fd, to, stop)) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(to);
    return fd;
}

/* A line without its end, read byte by byte: what follows it is not for us. */
static bool read_line(int fd, char *line, size_t room, bool (*stop)(void))
{
    size_t used = 0;
    for (int i = 0; i < TRIES && (i < LAST_TRIES || !stop()); i++) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        ssize_t n = 0;
        if (poll(&ready, 1, TRY_MS) != 1)
            continue;
        while (used < room && (n = recv(fd, line + used, 1, MSG_DONTWAIT)) == 1)
            if (line[used++] == '\n') {
                line[used - 1] = '\0';
                return true;
            }
        if (used == room || n == 0 || (errno != EAGAIN && errno != EINTR))
            return false;
    }
    return false;
}

/* Both sides know the token, and neither sends it. */
static bool address_proves(int fd, const char *token, bool (*stop)(void))
{
    char line[128], challenge[CCO_NONCE], nonce[CCO_NONCE];
    char ours[CCO_PROOF], theirs[CCO_PROOF], expected[CCO_PROOF];
    if (!read_line(fd, line, sizeof line, stop) ||
        sscanf(line, "challenge\t%32[0-9a-f]", challenge) != 1 || !cco_proof_nonce(nonce) ||
        !cco_proof_make(token, "rank", challenge, nonce, ours) ||
        !cco_proof_make(token, "run", challenge, nonce, expected))
        return false;
    const int n = snprintf(line, sizeof line, "proof\tproof=%s\tnonce=%s\n", ours, nonce);
    return send(fd, line, (size_t)n, MSG_NOSIGNAL) == n && read_line(fd, line, sizeof line, stop) &&
           sscanf(line, "proof\t%16[0-9a-f]", theirs) == 1 && strcmp(theirs, expected) == 0;
}

static int connect_line(const char *line, bool (*stop)(void), char token[TOKEN])
{
    char name[128], port[16];
    int fd = -1;
    bool trusted = false;
    if (sscanf(line, "token %32[0-9a-f]", token) == 1)
        return -1;
    if (sscanf(line, "unix %100s", name) == 1) {
        fd = connect_unix(name, stop);
        trusted = fd >= 0 && address_is_ours(fd);
    } else if (sscanf(line, "tcp %100s %15s", name, port) == 2) {
        fd = connect_tcp(name, port, stop);
        trusted = fd >= 0 && address_proves(fd, token, stop);
    }
    if (fd >= 0 && !trusted)
        close(fd);
    return trusted ? fd : -1;
}

int cco_address_connect(const char *path, bool (*stop)(void), char *why, size_t room)
{
    char line[256], token[TOKEN] = "";
    int fd = -1;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        snprintf(why, room, "cannot read %.200s: %s", path, strerror(errno));
        return -1;
    }
    while (fd < 0 && fgets(line, sizeof line, file) != NULL)
        fd = connect_line(line, stop, token);
    fclose(file);
    if (fd < 0)
        snprintf(why, room, "nobody answers at the addresses in %.200s", path);
    return fd;
}

int cco_address_listen(long pid)
{
    struct sockaddr_un address;
    char name[80], nonce[CCO_NONCE];
    enum { WAITING = 4 };
    if (!cco_proof_nonce(nonce))
        return -1;
    snprintf(name, sizeof name, "crestacoll-rank-%ld-%s", pid, nonce);
    const socklen_t length = unix_address(&address, name);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, WAITING) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int cco_address_accept(int listener)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? CCO_ADDRESS_FULL : -1;
    if (address_is_ours(fd))
        return fd;
    close(fd);
    return -1;
}
