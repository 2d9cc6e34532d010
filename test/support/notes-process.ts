// Notes and tasks written in a process of its own, which kills itself at the point of its order. It prints one line of JSON at the end.
import { subscribe } from 'node:diagnostics_channel'
import { writeNotes } from '../../src/app/notes/write-notes.ts'
import { undoNotes } from '../../src/app/notes/undo-notes.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { connect, noteDraft, type NoteAccess } from '../integration/notes.fixture.ts'

/** `query`: a statement of the ledger was carried out. `request`, `answer`: one to or from the CRM. `time`: milliseconds. */
export type NotesPoint = 'query' | 'request' | 'answer' | 'time'

export interface NotesOrder {
  access: NoteAccess
  dataDir: string
  url?: string | undefined
  entity: string
  records: string[]
  /** Drafts of another number have other markers. */
  number: number
  runId: string
  settleMs: number
  undo: boolean
  kill?: { point: NotesPoint; nth: number }
}

const order = JSON.parse(process.argv[2] ?? '') as NotesOrder
const { access, dataDir, url, entity, records, number, runId, settleMs, undo, kill } = order

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

let seen = 0
let isOpen = false
function pass(point: NotesPoint): void {
  if (!isOpen || kill?.point !== point) return
  seen += 1
  if (seen === kill.nth) process.kill(process.pid, 'SIGKILL')
}
const database = await openDatabase({ dataDir, url, onQuery: () => pass('query') })
const connector = connect(access)
subscribe('undici:request:bodySent', () => pass('request'))
subscribe('undici:request:trailers', () => pass('answer'))
isOpen = true
if (kill?.point === 'time') setTimeout(() => process.kill(process.pid, 'SIGKILL'), kill.nth)
const context = { database, now: () => new Date() }
const drafts = records.flatMap((id) => [noteDraft(id, number), noteDraft(id, number, 'task')])
const states = undo
  ? [
      JSON.stringify(
        await undoNotes(context, connector, runId, { plan: false, signal: new AbortController().signal }),
      ),
    ]
  : (await writeNotes(context, connector, drafts, { entity, runId, settleMs })).map(({ status }) => status)
await connector.close()
await database.close()
process.stdout.write(`${JSON.stringify({ states })}\n`, () => process.exit(0))
