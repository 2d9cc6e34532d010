import { listCalls } from '../../app/lists/pages/list-calls.ts'
import { readList } from '../../app/lists/pages/read-list.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { exitStatus } from '../terminal/exit.ts'
import { print } from '../terminal/print.ts'
import { readConfig, withContext } from '../terminal/with-context.ts'
import { listDocument, listText, type ListDocument } from './list-text.ts'

/** Shows every list as far as the ledger has it. Pays nothing. */
export async function showLists({ json }: { json?: true }): Promise<void> {
  const { lists } = await readConfig()
  const names = Object.keys(lists)
  if (names.length === 0) {
    print(json ? '[]\n' : 'there are no lists: name one under lists in paydirt.config.ts (docs/lists.md)\n')
    return
  }
  await withContext(async (context) => {
    const documents: (ListDocument | UnreadList)[] = []
    for (const name of names) {
      const calls = await listCalls(context, name, { asks: false }).catch(unreadList)
      if ('problem' in calls) {
        const { search, into } = lists[name]!
        documents.push({ list: name, search, into, ...calls })
        if (!json) print(`${name}: ${search} against ${into.connector} ${into.entity}\n  ${calls.problem}\n`)
        continue
      }
      const list = await readList(context, calls)
      const { document } = await listDocument(context, calls, list)
      documents.push(document)
      if (!json) print(listText(document, calls, list))
    }
    if (json) print(`${JSON.stringify(documents)}\n`)
  })
}

/** A list that cannot be opened, or whose references are not known: nothing can be said of its rows. */
interface UnreadList extends Pick<ListDocument, 'list' | 'search' | 'into'> {
  problem: string
}

/** The other lists are shown all the same. References that nobody has read yet are no mistake. */
function unreadList(error: unknown): { problem: string } {
  if (!(error instanceof ConfigError || error instanceof InputError)) throw error
  if (error.code !== 'references_unread') process.exitCode = exitStatus.usage
  return { problem: error.message }
}
