import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import type { Phase } from './limit-server.ts'

/**
 * `limit_req`: evenly spaced requests, `burst` extra ones served without delay. `limit_conn`: so many requests under way.
 * `perSecond` is what the limit lets through at most.
 */
export type NginxRule =
  | { kind: 'limit_req'; perSecond: number; burst: number }
  | { kind: 'limit_conn'; perSecond: number; atOnce: number }

/** The limits of one path, one after the other. */
export interface NginxLimit {
  id: string
  rules: readonly NginxRule[]
}

export interface NginxJudge {
  url: string
  /** The rule of this place is in force from now on, and the one before it no longer. */
  begin(id: string, place: number): Promise<void>
  /** Counts the requests of one path second by second, rule by rule, from nginx's own access log. */
  phases(limit: NginxLimit): Promise<Phase[]>
  stop(): Promise<void>
}

/** Returns the path of nginx; undefined where it is not installed. */
export function findNginx(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  return folders.map((folder) => join(folder, 'nginx')).find((path) => existsSync(path))
}

/** Starts nginx on a free port in front of a service, with its limits. Everything it writes is in a folder that goes with it. */
export async function startNginx(
  program: string,
  upstreamUrl: string,
  limits: readonly NginxLimit[],
): Promise<NginxJudge> {
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-nginx-'))
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  await writeFile(config, configOf(folder, port, new URL(upstreamUrl).host, limits))
  const nginx = spawn(program, ['-e', join(folder, 'error.log'), '-p', folder, '-c', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(nginx, 'exit')
  while (!(await accepts(port))) {
    if (nginx.exitCode !== null)
      throw new Error(`nginx ended: ${await readFile(join(folder, 'error.log'), 'utf8')}`)
    await setTimeout(20)
  }
  const begun = new Map<string, number[]>()
  return {
    url: `http://127.0.0.1:${port}`,
    async begin(id, place) {
      await writeFile(switchOf(folder, id, place), '')
      if (place > 0) await unlink(switchOf(folder, id, place - 1))
      begun.set(id, [...(begun.get(id) ?? []), Date.now()])
    },
    phases: async (limit) =>
      phasesOf(await readFile(join(folder, 'access.log'), 'utf8'), limit, begun.get(limit.id) ?? []),
    async stop() {
      nginx.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A rule counts the requests that come while this file is there: nginx counts none whose key is empty. */
function switchOf(folder: string, id: string, place: number): string {
  return join(folder, `${id}.${place}`)
}

function configOf(folder: string, port: number, upstream: string, limits: readonly NginxLimit[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${folder}/${kind};`,
  )
  const rules = limits.flatMap(({ id, rules }, at) =>
    rules.map((rule, place) => ({ id, rule, place, name: `${at}_${place}` })),
  )
  const zones = rules.map(({ rule, name }) =>
    rule.kind === 'limit_req'
      ? `  limit_req_zone $counted_${name} zone=zone_${name}:1m rate=${rule.perSecond}r/s;`
      : `  limit_conn_zone $counted_${name} zone=zone_${name}:1m;`,
  )
  const keys = rules.map(
    ({ id, place, name }) =>
      `    set $counted_${name} ""; if (-f ${switchOf(folder, id, place)}) { set $counted_${name} 1; }`,
  )
  const limitsOf = (path: string) =>
    rules
      .filter(({ id }) => id === path)
      .map(({ rule, name }) =>
        rule.kind === 'limit_req'
          ? `limit_req zone=zone_${name} burst=${rule.burst} nodelay;`
          : `limit_conn zone_${name} ${rule.atOnce};`,
      )
  return `daemon off;
master_process off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log crit;
events { worker_connections 1024; }
http {
${temporary.join('\n')}
  log_format counted '$msec $request_time $status $uri';
  access_log ${folder}/access.log counted;
  limit_req_status 429;
  limit_conn_status 429;
${zones.join('\n')}
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

/** nginx writes a line when a request is over; it was judged when it began. */
function phasesOf(log: string, { id, rules }: NginxLimit, begunMs: readonly number[]): Phase[] {
  const requests = log
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , , path]) => path === `/${id}`)
    .map(([endedAt, took, status]) => ({
      atMs: Math.round((Number(endedAt) - Number(took)) * 1_000),
      isRefused: status === '429',
    }))
    .sort((a, b) => a.atMs - b.atMs)
  return begunMs.map((fromMs, place) => {
    const untilMs = begunMs[place + 1] ?? Infinity
    return phaseOf(
      requests.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs),
      rules[place] as NginxRule,
    )
  })
}

function phaseOf(requests: readonly { atMs: number; isRefused: boolean }[], rule: NginxRule): Phase {
  const { perSecond } = rule
  const startMs = requests[0]?.atMs ?? 0
  const windows: Phase['windows'] = []
  for (const { atMs, isRefused } of requests) {
    const place = Math.floor((atMs - startMs) / 1_000)
    while (windows.length <= place) windows.push({ admitted: 0, refused: 0 })
    const window = windows[place] as { admitted: number; refused: number }
    if (isRefused) window.refused += 1
    else window.admitted += 1
  }
  return {
    rules: [{ kind: 'fixed', limit: perSecond, windowMs: 1_000 }],
    windows,
    limits: windows.map(() => perSecond),
    arrivalsMs: rule.kind === 'limit_req' ? requests.map(({ atMs }) => atMs - startMs) : [],
    lastShare: 0,
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => (socket.destroy(), resolve(true)))
    socket.once('error', () => resolve(false))
  })
}
