import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import type { Phase } from './limit-server.ts'

/**
 * nginx `limit_req`: evenly spaced requests, `burst` extra ones served without delay. nginx `limit_conn`: so many requests under way.
 * HAProxy `http_req_rate`: requests of the last second by its estimate, refused ones too. `perSecond` is what is let through at most.
 */
export type JudgeRule =
  | { kind: 'limit_req'; perSecond: number; burst: number }
  | { kind: 'limit_conn'; perSecond: number; atOnce: number }
  | { kind: 'http_req_rate'; perSecond: number }

/** The limits of one path, one after the other. */
export interface JudgeLimit {
  id: string
  rules: readonly JudgeRule[]
}

/** A program that we did not write, in front of a service without a limit. */
export interface Judge {
  url: string
  /** The rule of this place is in force from now on, and the one before it no longer. */
  begin(id: string, place: number): Promise<void>
  /** Counts the requests of one path second by second, rule by rule, from the program's own log. */
  phases(limit: JudgeLimit): Promise<Phase[]>
  stop(): Promise<void>
}

/** A request by the program's own clock, at the time at which it was judged. */
export interface Judged {
  atMs: number
  isRefused: boolean
}

/** Returns the path of a program; undefined where it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

export interface Launched {
  program: ChildProcess
  url: string
  stop(): Promise<void>
}

/**
 * Starts a program on a free port, with a configuration in a folder that goes with it, and resolves when it listens. It ends with
 * this process. Throws with what it wrote when it cannot be started or ends before it listens.
 */
export async function launch(
  path: string,
  folder: string,
  config: (port: number) => string,
  args: (file: string) => readonly string[],
): Promise<Launched> {
  const port = await freePort()
  const file = join(folder, 'config')
  await writeFile(file, config(port))
  const program = spawn(path, args(file), { stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  program.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  let end: string | undefined
  const ended = once(program, 'exit').then(
    ([status, signal]) => void (end = `it ended (${String(status ?? signal)})`),
    (error: Error) => void (end = error.message),
  )
  const abandon = () => void program.kill('SIGKILL')
  process.once('exit', abandon)
  const gone = ended.then(async () => {
    process.off('exit', abandon)
    await rm(folder, { recursive: true, force: true })
  })
  while (!(await accepts(port))) {
    if (end !== undefined) {
      await gone
      throw new Error(`${path}: ${end}. ${errors.trim()}`)
    }
    await setTimeout(20)
  }
  return {
    program,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      program.kill('SIGTERM')
      await gone
    },
  }
}

/** Counts requests second by second from the first one of each rule on. */
export function phasesOf(
  judged: readonly Judged[],
  rules: readonly JudgeRule[],
  begunMs: readonly number[],
): Phase[] {
  const requests = [...judged].sort((a, b) => a.atMs - b.atMs)
  return begunMs.map((fromMs, place) => {
    const untilMs = begunMs[place + 1] ?? Infinity
    return phaseOf(
      requests.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs),
      rules[place] as JudgeRule,
    )
  })
}

function phaseOf(requests: readonly Judged[], { kind, perSecond }: JudgeRule): Phase {
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
    arrivalsMs: kind === 'limit_req' ? requests.map(({ atMs }) => atMs - startMs) : [],
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
