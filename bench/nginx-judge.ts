import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import type { Phase } from './limit-server.ts'

/** One `limit_req` of nginx: a path of its own, evenly spaced requests, `burst` extra ones served without delay. */
export interface NginxLimit {
  id: string
  perSecond: number
  burst: number
}

export interface NginxJudge {
  url: string
  /** Counts the requests of one path second by second, from nginx's own access log. */
  phase(limit: NginxLimit): Promise<Phase>
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
  return {
    url: `http://127.0.0.1:${port}`,
    phase: async (limit) => phaseOf(await readFile(join(folder, 'access.log'), 'utf8'), limit),
    async stop() {
      nginx.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configOf(folder: string, port: number, upstream: string, limits: readonly NginxLimit[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${folder}/${kind};`,
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
${limits.map(({ perSecond }, at) => `  limit_req_zone $server_addr zone=zone${at}:1m rate=${perSecond}r/s;`).join('\n')}
  upstream service { server ${upstream}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
${limits.map(({ id, burst }, at) => `    location = /${id} { limit_req zone=zone${at} burst=${burst} nodelay; proxy_pass http://service; }`).join('\n')}
  }
}
`
}

/** nginx writes a line when a request is over; it was judged when it began. */
function phaseOf(log: string, { id, perSecond }: NginxLimit): Phase {
  const requests = log
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , , path]) => path === `/${id}`)
    .map(([endedAt, took, status]) => ({
      atMs: Math.round((Number(endedAt) - Number(took)) * 1_000),
      isRefused: status === '429',
    }))
    .sort((a, b) => a.atMs - b.atMs)
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
    arrivalsMs: requests.map(({ atMs }) => atMs - startMs),
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
