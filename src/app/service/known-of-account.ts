import { knownWords } from '../../store/contract/learned-words.ts'
import { renamesOf } from '../../store/contract/accepted-renames.ts'
import { limitsOf } from '../../store/contract/known-limits.ts'
import { withRenames } from '../../service/catalogue/with-renames.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import type { KnownOfAccount } from './plan-call.ts'

/** Plans grow and quotas are renewed: a page that was refused is asked for again after a day, once. */
const limitHoldsMs = 86_400_000

/**
 * Reads what the ledger knows of the words and limits of this account. With `asks` and an API key the service is asked for the
 * plan's limits, which is free; one that does not answer leaves the usual ones.
 */
export async function knownOfAccount(
  { config, database: { db }, openEngine, now }: Pick<Context, 'config' | 'database' | 'openEngine' | 'now'>,
  { asks }: { asks: boolean },
): Promise<KnownOfAccount> {
  const learned = new Map<string, string[]>()
  for (const { vocabulary, word } of await knownWords(db))
    learned.set(vocabulary, [...(learned.get(vocabulary) ?? []), word])
  const plan = asks && config.apiKey ? await planOf(await openEngine()) : undefined
  return {
    words: (vocabulary) => [...(config.vocabularies[vocabulary] ?? []), ...(learned.get(vocabulary) ?? [])],
    learned: (vocabulary) => learned.get(vocabulary) ?? [],
    limits: (await limitsOf(db)).filter(({ seenAt }) => seenAt.getTime() > now().getTime() - limitHoldsMs),
    pageSize: countIn(plan, 'max_search_per_page'),
    lastPage: countIn(plan, 'max_search_page'),
  }
}

async function planOf({ askAccount }: Awaited<ReturnType<Context['openEngine']>>) {
  return askAccount('account.profile').catch(() => undefined)
}

function countIn(plan: Record<string, unknown> | undefined, name: string): number | undefined {
  const value = plan?.[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

/** Returns the settings with the names that a person has accepted: requests bear them, and answers speak of keys by them. */
export async function withAcceptedNames(
  config: Config,
  { database: { db } }: Pick<Context, 'database'>,
): Promise<Config> {
  return { ...config, catalogue: withRenames(config.catalogue, await renamesOf(db)) }
}
