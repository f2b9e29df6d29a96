# Temporary while the layers grow; the house's own Makefile replaces it.
CFLAGS = -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -fvisibility=hidden -Wall -Wextra -Wpedantic -Iinclude -Isrc
