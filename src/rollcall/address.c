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

enum { TRIES = 50, TRY_MS = 100 }; /* with one address */

/* A name that no file system has begins with a 0. */
static socklen_t unix_address(struct sockaddr_un *address, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    const size_t all = strlen(name), most = sizeof address->sun_path - 1;
    const size_t length = all < most ? all : most;
    memcpy(address->sun_path + 1, name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

/* There may be no room for more who wait to be taken.  Who shall stop tries once: he has something
 * to say before. */
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

static bool connects(int fd, const struct addrinfo *to, bool (*stop)(void))
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
    if (fd >= 0 && !connects(fd, to, stop)) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(to);
    return fd;
}

static int connect_line(const char *line, bool (*stop)(void), char token[CCO_TOKEN])
{
    char name[128], port[16];
    if (sscanf(line, "token %79s", token) == 1)
        return -1;
    if (sscanf(line, "unix %100s", name) == 1)
        return connect_unix(name, stop);
    return sscanf(line, "tcp %100s %15s", name, port) == 2 ? connect_tcp(name, port, stop) : -1;
}

int cco_address_connect(const char *path, bool (*stop)(void), char token[CCO_TOKEN], char *why,
                        size_t room)
{
    char line[256];
    int fd = -1;
    token[0] = '\0';
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
    char name[64];
    enum { WAITING = 4 };
    snprintf(name, sizeof name, "crestacoll-rank-%ld", pid);
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
    struct ucred who;
    socklen_t length = sizeof who;
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
        (who.uid == geteuid() || who.uid == 0))
        return fd;
    close(fd);
    return -1;
}
