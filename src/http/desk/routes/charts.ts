import type { Hono } from 'hono'
import type { Database } from '../../../store/database/database.ts'
import type { DeskEnv } from '../access/gate.ts'
import { ranges, readCharts, type RangeName } from '../model/charts.ts'
import { shareReadings } from '../model/readings.ts'
import { chartsPage } from '../pages/charts.ts'
import type { Desk } from './desk.ts'

/** The charts read much of the ledger: visitors who come together share one reading. */
const freshMs = 5_000

export function chartRoutes(app: Hono<DeskEnv>, desk: Desk): void {
  const names = Object.keys(ranges) as RangeName[]
  const readings = new Map(
    names.map((name) => [name, shareReadings(() => read((db) => readCharts(db, desk.now(), name)), freshMs)]),
  )

  app.get('/charts', desk.requires('viewer'), async (context) => {
    const wanted = names.find((name) => name === context.req.query('range')) ?? '24h'
    const shared = readings.get(wanted)
    if (!shared) throw new Error(`no range ${wanted}`)
    const { result, behindMs } = await shared()
    context.set('behindMs', behindMs)
    return desk.show(context, chartsPage(result))
  })

  async function read<T>(
    from: (db: Database) => Promise<T>,
  ): Promise<{ result: T; behindMs: number | undefined }> {
    return desk.reads ? desk.reads.read(from) : { result: await from(desk.db), behindMs: undefined }
  }
}
