// A list's fetch in a process of its own, which kills itself at the point of its order. It prints one line of JSON at the end.
import { subscribe } from 'node:diagnostics_channel'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { createContext } from '../../src/app/context/context.ts'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'

/** `renewed`: a page was set aside and is about to be asked for. `read`: an answer is about to be read. `taken`: its rows are stored. */
type FetchPoint = 'renewed' | 'read' | 'taken' | 'request' | 'answer'

export interface FetchOrder {
  env: Record<string, string | undefined>
  file: Record<string, unknown>
  list: string
  again: boolean
  kill?: { point: FetchPoint; nth: number }
}

const { env, file, list, again, kill } = JSON.parse(process.argv[2] ?? '') as FetchOrder

// The parent process holds the standard input, so this process never outlives an aborted test.
process.stdin.on('end', () => process.exit(1)).resume()

let seen = 0
function pass(point: FetchPoint): void {
  if (kill?.point !== point) return
  seen += 1
  if (seen === kill.nth) process.kill(process.pid, 'SIGKILL')
}
const context = await createContext(resolveConfig(readEnvironment(env), fileSchema.parse(file)))
const { lookups } = context
const trapped: typeof context = {
  ...context,
  lookups: {
    ...lookups,
    want: async (...args) => {
      pass('renewed')
      return lookups.want(...args)
    },
    facts: async (keys) => {
      pass('read')
      return lookups.facts(keys)
    },
  },
}
const calls = await listCalls(trapped, list, { asks: false })
subscribe('undici:request:bodySent', () => pass('request'))
subscribe('undici:request:trailers', () => pass('answer'))
const {
  end,
  bought,
  list: read,
} = await fetchList(trapped, calls, {
  budgetAtomic: 10_000_000n,
  reachableOnly: false,
  again,
  signal: new AbortController().signal,
  onPage: () => pass('taken'),
})
await context.close()
const printed = { end, bought, rows: read.rows, snapshot: read.fetch?.id }
process.stdout.write(`${JSON.stringify(printed)}\n`, () => process.exit(0))
