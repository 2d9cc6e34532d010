// Retention in a process of its own, which kills itself after the statement of its order. It prints how many rows it erased.
import { randomBytes } from 'node:crypto'
import { openDatabase } from '../../src/store/database/database.ts'
import { eraseDue } from '../../src/store/retention/erasures.ts'

export interface RetentionOrder {
  dataDir: string
  url?: string | undefined
  /** The time that it takes for now, in milliseconds. */
  nowMs: number
  killAfter?: number
}

const { dataDir, url, nowMs, killAfter } = JSON.parse(process.argv[2] ?? '') as RetentionOrder

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

let statements = 0
let isOpen = false
const { db, close } = await openDatabase({
  dataDir,
  url,
  onQuery() {
    if (!isOpen) return
    statements += 1
    if (statements === killAfter) process.kill(process.pid, 'SIGKILL')
  },
})
isOpen = true
const erased = await eraseDue(db, {
  days: { answers: 90, signals: 90, records: 90, messages: 90, audit: 90 },
  now: new Date(nowMs),
  token: () => randomBytes(12).toString('hex'),
  // Many batches, and a kill between any two.
  pageSize: 2,
})
await close()
process.stdout.write(`${JSON.stringify({ erased, statements })}\n`, () => process.exit(0))
