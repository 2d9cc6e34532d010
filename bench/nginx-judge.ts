import { mkdtemp, readFile, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, phasesOf, type Judge, type Judged, type JudgeLimit } from './judge.ts'

/** Starts nginx on a free port in front of a service, with its limits. Everything it writes is in a folder that goes with it. */
export async function startNginx(
  program: string,
  upstreamUrl: string,
  limits: readonly JudgeLimit[],
): Promise<Judge> {
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-nginx-'))
  const { url, stop } = await launch(
    program,
    folder,
    (port) => configOf(folder, port, new URL(upstreamUrl).host, limits),
    (config) => ['-e', 'stderr', '-p', folder, '-c', config],
  )
  const begun = new Map<string, number[]>()
  return {
    url,
    stop,
    async begin(id, place) {
      await writeFile(switchOf(folder, id, place), '')
      if (place > 0) await unlink(switchOf(folder, id, place - 1))
      begun.set(id, [...(begun.get(id) ?? []), Date.now()])
    },
    async phases({ id, rules }) {
      const log = await readFile(join(folder, 'access.log'), 'utf8')
      return phasesOf(judgedIn(log, id), rules, begun.get(id) ?? [])
    },
  }
}

/** A rule counts the requests that come while this file is there: nginx counts none whose key is empty. */
function switchOf(folder: string, id: string, place: number): string {
  return join(folder, `${id}.${place}`)
}

function configOf(folder: string, port: number, upstream: string, limits: readonly JudgeLimit[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${folder}/${kind};`,
  )
  const rules = limits.flatMap(({ id, rules }, at) =>
    rules.map((rule, place) => ({ id, ...linesOf(rule, `${at}_${place}`), place, name: `${at}_${place}` })),
  )
  const keys = rules.map(
    ({ id, place, name }) =>
      `    set $counted_${name} ""; if (-f ${switchOf(folder, id, place)}) { set $counted_${name} 1; }`,
  )
  const limitsOf = (path: string) => rules.filter(({ id }) => id === path).map(({ limit }) => limit)
  return `daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
${temporary.join('\n')}
  log_format counted '$msec $request_time $status $uri';
  access_log ${folder}/access.log counted;
  limit_req_status 429;
  limit_conn_status 429;
${rules.map(({ zone }) => `  ${zone}`).join('\n')}
  upstream service { server ${upstream}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
${keys.join('\n')}
${limits.map(({ id }) => `    location = /${id} { ${limitsOf(id).join(' ')} proxy_pass http://service; }`).join('\n')}
  }
}
`
}

function linesOf(rule: JudgeLimit['rules'][number], name: string): { zone: string; limit: string } {
  const key = `$counted_${name} zone=zone_${name}:1m`
  switch (rule.kind) {
    case 'limit_req':
      return {
        zone: `limit_req_zone ${key} rate=${rule.perSecond}r/s;`,
        limit: `limit_req zone=zone_${name} burst=${rule.burst} nodelay;`,
      }
    case 'limit_conn':
      return { zone: `limit_conn_zone ${key};`, limit: `limit_conn zone_${name} ${rule.atOnce};` }
    case 'http_req_rate':
      throw new Error('nginx has no http_req_rate: HAProxy does')
  }
}

/** nginx writes a line when a request is over; it was judged when it began. */
function judgedIn(log: string, id: string): Judged[] {
  return log
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , , path]) => path === `/${id}`)
    .map(([endedAt, took, status]) => ({
      atMs: Math.round((Number(endedAt) - Number(took)) * 1_000),
      isRefused: status === '429',
    }))
}
