import { listCalls } from '../../app/lists/pages/list-calls.ts'
import { readList } from '../../app/lists/pages/read-list.ts'
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
    const documents: ListDocument[] = []
    for (const name of names) {
      const calls = await listCalls(context, name, { asks: false })
      const list = await readList(context, calls)
      const { document } = await listDocument(context, calls, list)
      documents.push(document)
      if (!json) print(listText(document, calls, list))
    }
    if (json) print(`${JSON.stringify(documents)}\n`)
  })
}
