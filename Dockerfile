# A machine with everything that the scripts need, except the rivals of the benchmarks:
#
#   docker build -t headway . && docker run --rm -it -v "$PWD":/headway headway script/test
FROM swift:6.3
ENV LANG=C.UTF-8
WORKDIR /headway
COPY script/setup script/setup
RUN script/setup && rm -rf /var/lib/apt/lists/*
