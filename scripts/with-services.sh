#!/usr/bin/env bash
# scripts/with-services.sh [--pgbouncer] COMMAND [ARGS]
#
# Starts the system's Redis (or Valkey) and Postgres on free loopback ports with data in a temporary directory, runs the
# command with REDIS_URL and DATABASE_URL set, and stops and removes everything afterwards. Exits with the command's status.
# --pgbouncer: DATABASE_URL leads through pgbouncer in transaction mode, with few connections to the server.
# Status 69: the two servers are not installed or did not start; the last line says which.
set -euo pipefail

unavailable() { echo "with-services: $*" >&2; exit 69; }

pgbouncer=''
if [ "${1:-}" = --pgbouncer ]; then
  shift
  pgbouncer=$(command -v pgbouncer || ls /usr/sbin/pgbouncer 2>/dev/null || true)
  [ -n "$pgbouncer" ] || unavailable 'pgbouncer is not installed'
fi
[ $# -gt 0 ] || { echo 'usage: scripts/with-services.sh [--pgbouncer] COMMAND [ARGS]' >&2; exit 2; }

redis_server=$(command -v redis-server || command -v valkey-server || true)
[ -n "$redis_server" ] || unavailable 'neither redis-server nor valkey-server is installed'

# Debian keeps the server's programs off the path, in one directory per version.
pg_bin=''
for candidate in "$(dirname "$(readlink -f "$(command -v initdb 2>/dev/null || echo /none/initdb)")")" $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
  if [ -x "$candidate/initdb" ] && [ -x "$candidate/postgres" ]; then pg_bin=$candidate; break; fi
done
[ -n "$pg_bin" ] || unavailable 'no Postgres server is installed (initdb and postgres)'

# Postgres refuses to run as root.
as_user=()
if [ "$(id -u)" = 0 ]; then
  user=nobody
  if id postgres >/dev/null 2>&1; then user=postgres; fi
  # setpriv is replaced by the server, so that signals reach it; runuser stays in front of it and passes them on.
  if command -v setpriv >/dev/null; then as_user=(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups --)
  elif command -v runuser >/dev/null; then as_user=(runuser -u "$user" --)
  else unavailable 'as root, setpriv or runuser is needed to start Postgres as another user'; fi
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/paydirt-services.XXXXXX")
pids=()
postgres_pid=''
cleanup() {
  status=$?
  trap - EXIT INT TERM HUP
  # To SIGTERM Postgres waits until the last client has left, and a killed test may leave one behind for ever.
  [ -z "$postgres_pid" ] || kill -INT "$postgres_pid" 2>/dev/null || true
  for pid in "${pids[@]}"; do [ "$pid" = "$postgres_pid" ] || kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

mkdir "$work/redis" "$work/socket"
[ ${#as_user[@]} -eq 0 ] || chown -R "$user" "$work"

free_port() { node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })"; }
answers() { node -e "const s = require('net').connect($1, '127.0.0.1', () => process.exit(0)); s.on('error', () => process.exit(1))"; }

await_server() { # name, pid, log, test command ...
  local name=$1 pid=$2 log=$3 tries=0
  shift 3
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if ! kill -0 "$pid" 2>/dev/null || [ "$tries" -gt 150 ]; then
      tail -n 20 "$log" >&2
      unavailable "$name did not start"
    fi
    sleep 0.2
  done
}

# setsid: a Ctrl-C on the terminal must reach only the command; the servers stop after it.
redis_port=$(free_port)
(cd "$work/redis" && exec setsid "${as_user[@]}" "$redis_server" --port "$redis_port" --bind 127.0.0.1 --dir "$work/redis" \
  --save '' --appendonly no --maxmemory-policy noeviction) >"$work/redis.log" 2>&1 &
pids+=($!)
await_server "$redis_server" $! "$work/redis.log" answers "$redis_port"

(cd "$work" && "${as_user[@]}" "$pg_bin/initdb" -D "$work/postgres" -U paydirt --auth=trust --encoding=UTF8 --no-locale --no-sync) \
  >"$work/initdb.log" 2>&1 || { tail -n 20 "$work/initdb.log" >&2; unavailable 'initdb failed'; }
pg_port=$(free_port)
# A temporary server does not need durability.
(cd "$work" && exec setsid "${as_user[@]}" "$pg_bin/postgres" -D "$work/postgres" -p "$pg_port" -c listen_addresses=127.0.0.1 \
  -c unix_socket_directories="$work/socket" -c fsync=off -c max_connections=200) >"$work/postgres.log" 2>&1 &
postgres_pid=$!
pids+=("$postgres_pid")
await_server "$pg_bin/postgres" "$postgres_pid" "$work/postgres.log" "$pg_bin/pg_isready" -q -h 127.0.0.1 -p "$pg_port" -U paydirt -d postgres

export REDIS_URL="redis://127.0.0.1:$redis_port"
export DATABASE_URL="postgres://paydirt@127.0.0.1:$pg_port/postgres"
if [ -n "$pgbouncer" ]; then
  bouncer_port=$(free_port)
  cat >"$work/pgbouncer.ini" <<END
[databases]
* = host=127.0.0.1 port=$pg_port
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $bouncer_port
unix_socket_dir =
auth_type = trust
auth_file = $work/userlist.txt
pool_mode = transaction
default_pool_size = 8
max_client_conn = 1000
query_wait_timeout = 10
server_login_retry = 1
END
  echo '"paydirt" ""' >"$work/userlist.txt"
  (cd "$work" && exec setsid "${as_user[@]}" "$pgbouncer" -q "$work/pgbouncer.ini") >"$work/pgbouncer.log" 2>&1 &
  pids+=($!)
  await_server "$pgbouncer" $! "$work/pgbouncer.log" answers "$bouncer_port"
  export DATABASE_URL="postgres://paydirt@127.0.0.1:$bouncer_port/postgres"
fi
echo "with-services: REDIS_URL=$REDIS_URL DATABASE_URL=$DATABASE_URL" >&2

# The command runs in the background and is awaited, so that a signal to this script is handled at once.
"$@" <&0 &
command_pid=$!
trap 'kill -INT "$command_pid" 2>/dev/null; wait "$command_pid"; exit 130' INT
trap 'kill -TERM "$command_pid" 2>/dev/null; wait "$command_pid"; exit 143' TERM HUP
status=0
wait "$command_pid" || status=$?
exit "$status"
