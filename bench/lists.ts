import { startChild } from './child.ts'
import type { ListOrder, ListStep } from './list-process.ts'
import type { BenchOptions } from './options.ts'
import { openStores, storesOf } from './setup.ts'
import { printTable, round } from './table.ts'

export interface ListRowOfBench {
  stores: string
  step: string
  rows: number
  seconds: number
  'ms a row': number
  'resident MB at most': number
  'of the smallest': number
  goal: string
}

const steps = ['fetch', 'members', 'plan'] as const

/**
 * Measures the memory of a list's steps, each in a process of its own: reading its pages from the ledger, judging its rows, and planning
 * its records. The service is not asked, and the CRM is an empty one in the same process.
 */
export async function lists(options: BenchOptions): Promise<ListRowOfBench[]> {
  const sizes = options.sizes ?? (options.quick ? [50, 100] : [10_000, 100_000])
  const rows: ListRowOfBench[] = []
  for (const kind of storesOf(options)) {
    const smallest = new Map<string, number>()
    for (const size of sizes) {
      const stores = await openStores(kind)
      if (!stores) continue
      try {
        const order: ListOrder = { env: stores.env, rows: size }
        await measure(order, 'fill')
        for (const step of steps) {
          const { rows: done, seconds, peakRssMb } = await measure(order, step)
          if (step !== 'plan' && done !== size) throw new Error(`${step}: ${done} rows instead of ${size}`)
          if (!smallest.has(step)) smallest.set(step, peakRssMb)
          rows.push({
            stores: kind === 'embedded' ? 'PGlite' : 'Postgres',
            step,
            rows: size,
            seconds: round(seconds),
            'ms a row': round((seconds * 1_000) / size, 2),
            'resident MB at most': Math.round(peakRssMb),
            'of the smallest': round(peakRssMb / (smallest.get(step) ?? peakRssMb), 2),
            goal: '1.10',
          })
          printTable('lists', rows.slice(-1))
        }
      } finally {
        await stores.stop()
      }
    }
  }
  printTable('lists', rows)
  return rows
}

async function measure(order: ListOrder, step: 'fill' | (typeof steps)[number]): Promise<ListStep> {
  const child = await startChild('list-process.ts', order)
  try {
    return await child.ask<ListStep>(step)
  } finally {
    await child.stop()
  }
}
