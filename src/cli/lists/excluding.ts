import type { FoundRecords } from '../../app/lists/exclusions/read-exclusions.ts'
import { counted } from '../../domain/values/counted.ts'
import { liveLine } from '../terminal/live-line.ts'
import { printError } from '../terminal/print.ts'

/** Returns what shows the reading of the records that a list leaves out, and says in the end what each filter has found. */
export function showExcluding(name: string): { onExcluding: (found: FoundRecords) => void; end: () => void } {
  const filters = new Map<string, FoundRecords>()
  return {
    onExcluding(found) {
      filters.set(found.place, found)
      liveLine.show(
        `${name}: ${counted(found.records, 'record')} of ${found.connector} ${found.entity} to leave out`,
      )
    },
    end() {
      liveLine.end()
      for (const { place, connector, entity, records, nameless } of filters.values())
        printError(
          `paydirt: ${place}: ${counted(records, 'record')} of ${connector} ${entity} are left out${nameless > 0 ? `; ${nameless} of them have nothing by which a row could be recognised` : ''}\n`,
        )
      filters.clear()
    },
  }
}
