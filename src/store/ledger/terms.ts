import type { Terms } from '../../domain/payment.ts'
import type { TermsCache } from '../../domain/ports/charge-journal.ts'
import type { Database } from '../database/database.ts'

/**
 * Terms by which the service keeps no answers by payment id are asked for again after so long: the service may have begun to,
 * and without it a crash between payment and answer costs the lookup. Asking is one unpaid request.
 */
const withoutAnswersKeptMs = 24 * 60 * 60 * 1000

/** Caches terms by endpoint: in SQL, so that all processes share them, and in memory, because every lookup reads them. */
export function createTermsCache(db: Database, options: { now: () => Date; cacheMs?: number }): TermsCache {
  const cacheMs = options.cacheMs ?? 60_000
  const cache = new Map<string, { terms: Terms; until: number }>()

  return {
    async terms(endpoint) {
      const cached = cache.get(endpoint)
      if (cached && cached.until > options.now().getTime()) return cached.terms
      const row = await db
        .selectFrom('terms')
        .select(['terms', 'seen_at'])
        .where('endpoint', '=', endpoint)
        .executeTakeFirst()
      if (!row) return undefined
      const terms = read(row.terms)
      if (mayKeepAnswersNow(terms, row.seen_at, options.now())) return undefined
      cache.set(endpoint, { terms, until: options.now().getTime() + cacheMs })
      return terms
    },

    async remember(endpoint, terms) {
      const json = JSON.stringify({ ...terms, amountAtomic: String(terms.amountAtomic) })
      const seen_at = options.now()
      await db
        .insertInto('terms')
        .values({ endpoint, terms: json, seen_at })
        .onConflict((conflict) => conflict.column('endpoint').doUpdateSet({ terms: json, seen_at }))
        .execute()
      cache.set(endpoint, { terms, until: options.now().getTime() + cacheMs })
    },

    async forget(endpoint) {
      cache.delete(endpoint)
      await db.deleteFrom('terms').where('endpoint', '=', endpoint).execute()
    },

    async pinnedRecipient(host, protocol) {
      const row = await db
        .selectFrom('recipients')
        .select('pay_to')
        .where('host', '=', host)
        .where('protocol', '=', protocol)
        .executeTakeFirst()
      return row?.pay_to
    },

    async pinRecipient(host, protocol, payTo) {
      const { pay_to } = await db
        .insertInto('recipients')
        .values({ host, protocol, pay_to: payTo, first_seen_at: options.now() })
        .onConflict((conflict) =>
          conflict
            .columns(['host', 'protocol'])
            .doUpdateSet((eb) => ({ pay_to: eb.ref('recipients.pay_to') })),
        )
        .returning('pay_to')
        .executeTakeFirstOrThrow()
      return pay_to
    },
  }
}

function mayKeepAnswersNow({ protocol, paymentIdentifier }: Terms, seenAt: Date, now: Date): boolean {
  return protocol === 'x402' && !paymentIdentifier && now.getTime() - seenAt.getTime() > withoutAnswersKeptMs
}

function read(json: Record<string, unknown>): Terms {
  return { ...(json as unknown as Terms), amountAtomic: BigInt(json['amountAtomic'] as string) }
}
