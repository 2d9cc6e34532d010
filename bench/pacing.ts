import { setTimeout } from 'node:timers/promises'
import { missingServers, startRedis } from '../test/faults/servers.ts'
import { startEmbeddedRedis } from '../src/queues/embedded-redis.ts'
import { startChild, type Child } from './child.ts'
import type { Phase, Rule } from './limit-server.ts'
import type { BenchOptions } from './options.ts'
import { pacingWaves, quickWaves, type PacingScenario } from './pacing-scenarios.ts'
import { printTable, round } from './table.ts'

interface Row {
  limit: string
  processes: number
  'use %': number | string
  '429 %': number | string
  goal: string
  requests: number
  '429 while learning': number
  'back at 95 % (windows)': string
}

/**
 * Measures the pacer and real HTTP against hidden limits, in real time: one or four processes that share one Redis.
 * Nothing is paid for. Use and refusals are the server's own counts, in whole windows.
 */
export async function pacing({ quick, only }: BenchOptions): Promise<Row[]> {
  const waves = (quick ? quickWaves() : pacingWaves())
    .map((wave) => wave.filter(({ group }) => only.length === 0 || only.includes(group)))
    .filter((wave) => wave.length > 0)
  const server = await startChild('limit-server.ts', { jitter: true })
  const redis = missingServers() === undefined ? await startRedis() : await startEmbeddedRedis()
  const workers: Child[] = []
  const rows: Row[] = []
  try {
    const order = { url: await server.ask<string>('url'), redisUrl: redis.url, prefix: 'bench' }
    for (let count = 0; count < 5; count += 1) workers.push(await startChild('pacing-worker.ts', order))
    for (const wave of waves) {
      const minutes = round(Math.max(...wave.map(({ phases }) => totalOf(phases))) / 60)
      process.stderr.write(`pacing: ${wave.map(({ label }) => label).join('; ')} (${minutes} min)\n`)
      const measured = await Promise.all(wave.map((scenario) => runScenario(scenario, server, workers)))
      printTable('pacing', measured.flat())
      rows.push(...measured.flat())
    }
    printTable(`pacing (${missingServers() === undefined ? 'Redis' : 'embedded Valkey'})`, rows)
    return rows
  } finally {
    for (const worker of workers) await worker.stop()
    await server.stop()
    await redis.stop()
  }
}

async function runScenario(scenario: PacingScenario, server: Child, workers: Child[]): Promise<Row[]> {
  const { id, processes, phases } = scenario
  // The first process runs the scenarios with one process, the others share the rest: their loads do not affect each
  // other.
  const [alone, ...shared] = workers as [Child, ...Child[]]
  const mine = processes === 1 ? [alone] : shared
  let isFirst = true
  for (const { rules, seconds } of phases) {
    await server.ask('rule', { id, rules })
    if (isFirst)
      for (const worker of mine) await worker.ask('begin', { id, senders: Math.ceil(100 / processes) })
    isFirst = false
    await setTimeout(seconds * 1_000)
  }
  const measured = await server.ask<Phase[]>('phases', id)
  await Promise.all(mine.map((worker) => worker.ask('end', id)))
  return measured.map((phase, index) => rowOf(scenario, phase, index))
}

function rowOf(scenario: PacingScenario, { rules, windows }: Phase, index: number): Row {
  const lengthMs = Math.max(...rules.map(({ windowMs }) => windowMs))
  const permitted = Math.min(...rules.map(({ limit, windowMs }) => (limit * lengthMs) / windowMs))
  const whole = windows.slice(0, -1)
  const uses = whole.map(({ admitted }) => admitted / permitted)
  const backAt = uses.findIndex((use) => use >= 0.95)
  const isChange = scenario.group === 'change'
  const from = isChange ? Math.max(0, backAt) : Math.ceil((scenario.learnSeconds * 1_000) / lengthMs)
  const steady = whole.slice(from)
  const admitted = sum(steady.map((window) => window.admitted))
  const refused = sum(steady.map((window) => window.refused))
  return {
    limit: isChange ? `${scenario.label}: phase ${index + 1} (${textOf(rules)})` : scenario.label,
    processes: scenario.processes,
    'use %': steady.length === 0 ? '' : round((100 * admitted) / (permitted * steady.length), 2),
    '429 %': steady.length === 0 ? '' : round((100 * refused) / (admitted + refused), 2),
    goal: scenario.goal,
    requests: admitted + refused,
    '429 while learning': sum(whole.slice(0, from).map((window) => window.refused)),
    'back at 95 % (windows)': backAt < 0 ? `not in ${whole.length}` : String(backAt + 1),
  }
}

function textOf(rules: readonly Rule[]): string {
  return rules.map(({ limit, windowMs }) => `${limit} in ${windowMs / 1_000} s`).join(', ')
}

function totalOf(phases: PacingScenario['phases']): number {
  return sum(phases.map(({ seconds }) => seconds))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
