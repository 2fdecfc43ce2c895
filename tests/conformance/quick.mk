all:
	mpicc.mpich -std=gnu11 -Wall -Wextra -g -O2 -Iinclude -Isrc -Itests/conformance src/sched/*.c src/algo/*.c src/algo/*/*.c src/transport/sim/*.c src/core/collectives.c tests/conformance/*.c -o /tmp/conformance
	time /tmp/conformance
