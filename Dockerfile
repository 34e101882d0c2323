# PostgreSQL with pg_bayes: the official image, and the extension built in a stage of its own for
# every instruction set level.
#
#   docker build -t pg_bayes .                              for PostgreSQL 17
#   docker build -t pg_bayes --build-arg PG_MAJOR=16 .      for another
#   docker run -e POSTGRES_PASSWORD=... pg_bayes            then CREATE EXTENSION pg_bayes
#
#   docker build -t pg_bayes-extension --target extension --build-arg PG_MAJOR=18 .
#                                       its files alone, in /lib and /share, for operators that
#                                       mount them beside a server (CloudNativePG and others)
#
# tests/lib/image runs these steps on a fresh root, without docker.
ARG PG_MAJOR=17

FROM postgres:${PG_MAJOR} AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    cmake g++ libboost-dev libeigen3-dev make "postgresql-server-dev-$PG_MAJOR" \
  && rm -rf /var/lib/apt/lists/*
COPY . /src
WORKDIR /src
RUN rm -rf build pg_bayes.so \
  && export PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" \
  && make LEVELS=all \
  && make install LEVELS=all DESTDIR=/installed \
  && make install LEVELS=all DESTDIR=/extension pkglibdir=/lib datadir=/share \
  && install -D -m 644 LICENSE /extension/licenses/pg_bayes/LICENSE \
  && find /installed /extension -name '*.so' -exec strip --strip-unneeded {} +

FROM scratch AS extension
COPY --from=build /extension /

FROM postgres:${PG_MAJOR}
COPY --from=build /installed /
