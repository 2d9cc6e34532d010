import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { ConfigError } from '../../domain/errors.ts'
import { runChecks, type HealthCheck } from '../../http/server/health-checks.ts'
import type { ListenAddress } from '../config/variable-types.ts'
import { watchLiveness } from './liveness.ts'

export interface ProbeServer {
  /** From now on `/readyz` runs these checks. */
  setReady(checks: Record<string, HealthCheck>): void
  /** From now on `/readyz` refuses. */
  setStopping(): void
  stop(): Promise<void>
}

/**
 * Answers `/livez` and `/readyz` of any role. It listens before anything is opened, so that a process that waits for a
 * migration is alive and not ready.
 */
export async function startProbeServer(address: ListenAddress): Promise<ProbeServer> {
  const liveness = watchLiveness()
  let checks: Record<string, HealthCheck> | undefined
  let isStopping = false

  async function answerTo(path: string | undefined): Promise<{ status: number; body: object }> {
    if (path === '/livez') {
      const { isAlive, ...found } = liveness.read()
      return { status: isAlive ? 200 : 503, body: { status: isAlive ? 'ok' : 'hanging', ...found } }
    }
    if (path !== '/readyz') return { status: 404, body: { status: 'there are /livez and /readyz' } }
    if (checks === undefined)
      return { status: 503, body: { status: 'not ready', checks: { process: 'is starting' } } }
    return runChecks(checks, isStopping)
  }

  const server = createServer((request, response) => {
    // A probe that has gone away needs no answer.
    response.on('error', () => {})
    void answerTo(request.url?.split('?')[0]).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
      response.end(`${JSON.stringify(body)}\n`)
    })
  })
  server.headersTimeout = 5_000
  server.requestTimeout = 5_000
  try {
    await listen(server, address)
  } catch (error) {
    liveness.stop()
    throw error
  }
  // It answers while the process does something else, and keeps no process alive.
  server.unref()
  return {
    setReady: (found) => void (checks = found),
    setStopping: () => void (isStopping = true),
    async stop() {
      liveness.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function listen(server: Server, address: ListenAddress): Promise<void> {
  // A process that was killed leaves its socket behind.
  if ('path' in address && !(await answers(address.path))) await rm(address.path, { force: true })
  server.listen(address)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'another program listens there' : (code ?? 'unknown')
    const place = 'path' in address ? address.path : `${address.host}:${address.port}`
    throw new ConfigError('cannot_listen', `PAYDIRT_HEALTH: cannot listen on ${place}: ${reason}`)
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
