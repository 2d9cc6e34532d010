import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'

/** Settings of a pipeline, as the judge is told them. */
export interface JudgedSettings {
  types: readonly string[]
  days: Readonly<Record<string, number>>
  halfLifeDays: number
  points: readonly object[]
  /** The days of the report. */
  since: number
}

/** One day: the accounts of the CRM, and all rows that the service has of their companies. */
export interface JudgedDay {
  at: string
  accounts: readonly { id: string; domain: string; company: string | null }[]
  rows: Readonly<Record<string, readonly object[]>>
}

type Fields = Record<string, string | number | boolean | null>

interface JudgedReport {
  scoredOn: string
  watched: number
  moved: object[]
  added: string[]
  gone: string[]
}

export interface Verdict {
  records: Record<string, Fields>
  report: JudgedReport
  /** The jobs that are open by the service, by account. */
  open: Record<string, number>
}

const script = join(import.meta.dirname, '../../scripts/judge/signals.mjs')

/** Starts a script that shares no code with the project, in a process of its own, and asks it day by day. */
export function startSignalsJudge(settings: JudgedSettings) {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'], env: {} })
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.write(`${JSON.stringify(settings)}\n`)
  return {
    async judge(day: JudgedDay): Promise<Verdict> {
      child.stdin.write(`${JSON.stringify(day)}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('the judge has ended')
      return JSON.parse(value) as Verdict
    },
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
