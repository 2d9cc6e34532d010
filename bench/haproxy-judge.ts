import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, phasesOf, type Judge, type JudgeLimit } from './judge.ts'

/** Starts HAProxy on a free port in front of a service, with one rate for each path. Its log comes by its output. */
export async function startHaproxy(
  program: string,
  upstreamUrl: string,
  limits: readonly JudgeLimit[],
): Promise<Judge> {
  const haproxy = await launch(
    program,
    await mkdtemp(join(tmpdir(), 'paydirt-haproxy-')),
    (port) => configOf(port, new URL(upstreamUrl).host, limits),
    (config) => ['-db', '-f', config],
  )
  let log = ''
  haproxy.program.stdout?.setEncoding('utf8').on('data', (text: string) => (log += text))
  const begun = new Map<string, number>()
  return {
    url: haproxy.url,
    stop: haproxy.stop,
    async begin(id, place) {
      if (place > 0) throw new Error('a rate of HAProxy is not changed here')
      begun.set(id, Date.now())
    },
    async phases({ id, rules }) {
      const judged = log
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([, , path]) => path === `/${id}`)
        .map(([atMs, status]) => ({ atMs: Number(atMs), isRefused: status === '429' }))
      return phasesOf(judged, rules, [begun.get(id) ?? 0])
    },
  }
}

/** One thread: two could each count a request before either is judged. */
function configOf(port: number, upstream: string, limits: readonly JudgeLimit[]): string {
  const rules = limits.flatMap(({ id, rules }, at) => [
    `  acl is_${at} path /${id}`,
    `  http-request track-sc0 str(client) table counted_${at} if is_${at}`,
    ...rules.map(
      ({ perSecond }) =>
        `  http-request deny deny_status 429 if is_${at} { sc0_http_req_rate(counted_${at}) gt ${perSecond} }`,
    ),
  ])
  const tables = limits.map(
    (_, at) => `backend counted_${at}
  stick-table type string size 10 expire 60s store http_req_rate(1s)`,
  )
  return `global
  log stdout format raw local0 info
  maxconn 1024
  nbthread 1
defaults
  mode http
  log global
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend front
  bind 127.0.0.1:${port}
  http-request set-var(txn.at) date(0,ms)
  log-format "%[var(txn.at)] %ST %HP"
${rules.join('\n')}
  default_backend service
backend service
  server service ${upstream}
${tables.join('\n')}
`
}
