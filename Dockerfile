# headwise on the CPU: docker build -t headwise . && docker run --rm -v "$PWD:/data" headwise train reviews.csv --output my-model
FROM python:3.11-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY constraints.txt ./
# Of PyTorch the build for the CPU: the other one is 3 GB larger.
ARG TORCH_INDEX=""
RUN python -m venv /opt/headwise \
    && /opt/headwise/bin/pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} $(grep '^torch==' constraints.txt)
COPY . .
RUN /opt/headwise/bin/pip install --no-cache-dir -c constraints.txt '.[train,tables,serve]'

FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 headwise
COPY --from=build /opt/headwise /opt/headwise
ENV PATH=/opt/headwise/bin:$PATH PYTHONUNBUFFERED=1
USER headwise
WORKDIR /data
ENTRYPOINT ["headwise"]
CMD ["--help"]
