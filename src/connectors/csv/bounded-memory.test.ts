import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { csvDirectory } from '../../../test/fixtures/csv-files.ts'
import { sized } from '../../../test/support/full-size.ts'
import { createCsvConnector } from './csv-connector.ts'
import { openCsv } from './read-csv.ts'
import { writeEnriched, type RowResult } from './write-csv.ts'

const rowCount = sized(300_000, 100_000)
const mebibyte = 1024 * 1024

test(`${rowCount} rows pass through with a live heap that does not grow`, { timeout: 120_000 }, async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const liveBytes = () => {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const directory = csvDirectory()
  await pipeline(Readable.from(lines()), createWriteStream(directory.at('in.csv')))
  const before = liveBytes()
  const growth: number[] = []
  const watch = (count: number) => {
    if (count % 50_000 === 0) growth.push((liveBytes() - before) / mebibyte)
  }

  const input = await openCsv(directory.at('in.csv'), { object: 'company' })
  growth.push((liveBytes() - before) / mebibyte)

  let scanned = 0
  for await (const { records } of createCsvConnector({ csv: input }).scan('company', {})) {
    scanned += records.length
    watch(scanned)
  }

  async function* results(): AsyncGenerator<RowResult> {
    for (let ordinal = 1; ordinal <= rowCount; ordinal++) {
      watch(ordinal)
      const patch = { industry: { set: `Industry ${ordinal}` } }
      yield { ordinal, status: 'written', reason: null, patch, enrichedAt: new Date(0) }
    }
  }
  const out = directory.at('out.csv')
  const { rows } = await writeEnriched({ input, out, fields: ['industry'], results: results() })

  expect([scanned, rows]).toEqual([rowCount, rowCount])
  expect(growth.length).toBe((2 * rowCount) / 50_000 + 1)
  // The rows alone would take some 80 MiB in memory, or 40 in the short form.
  expect(Math.max(...growth)).toBeLessThan(24)
})

function* lines() {
  yield 'profnet_url,company,notes\n'
  for (let n = 1; n <= rowCount; n++)
    yield `https://profnet.com/company/c${n},"Company, No. ${n}",${'some words about it '.repeat(4)}\n`
}
