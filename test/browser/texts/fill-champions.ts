import type { Context } from '../../../src/app/context/context.ts'
import type { LookupKey } from '../../../src/domain/keys.ts'
import { saveChampion } from '../../../src/store/champions/champions.ts'
import { storable } from './storable.ts'

const textWatch = 'c'.repeat(40)

/** Two watches, so that the page has a choice. */
export function championsWith() {
  return {
    [textWatch]: { connector: 'hubspot', budgetUsd: '98765.43', budgetMonthUsd: '98765.43' },
    other: { connector: 'hubspot' },
  } as const
}

/** Adds one who moved, with the text in what the service tells of the employers. */
export async function fillChampions({ database: { db }, now }: Context, text: string): Promise<void> {
  const given = storable(text)
  await saveChampion(
    db,
    { watch: textWatch, connector: 'hubspot', entity: 'contacts' },
    {
      recordId: `1${given.slice(0, 200).toWellFormed()}`,
      profileUrl: 'https://www.profnet.com/in/p',
      checkedAt: now(),
      lookupKey: 'key' as LookupKey,
      verdict: 'moved',
      known: { domain: given, title: given },
      employer: { profileUrl: null, domain: null, name: given, title: given },
      leftAt: now(),
    },
  )
}
