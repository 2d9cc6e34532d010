import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDice } from '../../src/sandbox/random.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { layLedger } from '../support/ledger-template.ts'
import type { NotesOrder, NotesPoint } from '../support/notes-process.ts'
import { runOrder } from '../support/run-order.ts'
import { testSeed } from '../support/seed.ts'
import { freshStores } from '../support/stores.ts'
import { openNoteCrm } from './notes.fixture.ts'

const points: readonly NotesPoint[] = ['query', 'request', 'answer', 'time']

// Its processes take more time than the short size has.
test.skipIf(!isFullSize).each([
  ['hubspot', sized(40, 1)],
  ['salesforce', sized(40, 1)],
] as const)(
  'processes that are killed at random write each note and task once, and take it back: %s, %i kills',
  { timeout: 1_200_000 },
  async (kind, kills) => {
    const crm = await openNoteCrm(kind)
    crm.permitRemoval()
    const stores = await freshStores()
    try {
      const dataDir = join(stores.dataDir, 'data')
      await layLedger(dataDir)
      const seed = `${testSeed()} ${kind}`
      const dice = createDice(seed)
      const trace: string[] = []
      let killed = 0
      let expected = 0
      for (let round = 0; killed < kills; round += 1) {
        const records = crm.records.slice((round * 3) % 12, ((round * 3) % 12) + 3)
        const order = (kill?: NotesOrder['kill'], undo = false): NotesOrder => ({
          access: crm.access,
          dataDir,
          url: stores.databaseUrl,
          entity: crm.entity,
          records,
          number: round,
          runId: `run-${round}`,
          // A request of a dead process is carried out by the stand-in before the next process has started.
          settleMs: 0,
          undo,
          ...(kill && { kill }),
        })
        const run = async (undo: boolean): Promise<string[]> => {
          for (;;) {
            const point = dice.pick(points)
            const nth = point === 'time' ? dice.integer(0, 400) : dice.integer(1, point === 'query' ? 6 : 7)
            const wanted = killed < kills ? { point, nth } : undefined
            const { signal, printed } = await runOrder<{ states: string[] }>(
              'notes-process.ts',
              order(wanted, undo),
            )
            if (signal === 'SIGKILL') killed += 1
            trace.push(`${round}${undo ? ' undo' : ''}: ${signal ? 'killed' : 'not killed'} ${point} ${nth}`)
            if (printed) return printed.states
          }
        }
        const states = await run(false)
        expect(new Set(states)).not.toContain('left')
        expected += records.length * 2
        const markers = crm.markers()
        expect({ round, markers: markers.length, different: new Set(markers).size, trace }).toMatchObject({
          markers: expected,
          different: expected,
        })
        if (dice.percent(50)) {
          await run(true)
          const left = crm.markers().length
          // Those that were found after a crash have no snapshot: nobody knows who has touched them, and they stay.
          expect(left).toBeGreaterThanOrEqual(expected - records.length * 2)
          expect(new Set(crm.markers()).size).toBe(left)
          expected = left
        }
      }
      process.stderr.write(
        `${kind}: ${killed} kills with the seed "${seed}", ${expected} left:\n  ${trace.join('\n  ')}\n`,
      )
    } finally {
      await crm.connector.close()
      await crm.stop()
      await stores.cleanup()
    }
  },
)
