import type { Atomic } from '../../domain/money.ts'
import type { Currency, Protocol } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'

/** The last price of a price class. USD and credits are two prices, and never added up. */
export interface SeenPrice {
  /** The name of an endpoint in charges: method, address, and the words that determine the price. */
  priceClass: string
  protocol: Protocol
  currency: Currency
  /** In millionths of a USD or of a credit. */
  amountAtomic: Atomic
  seenAt: Date
}

/** Stores the last price of its class, protocol and currency. An older one never replaces a newer one. */
export async function notePrice(db: Database, price: SeenPrice): Promise<void> {
  const { priceClass: price_class, protocol, currency, amountAtomic: amount_atomic, seenAt: seen_at } = price
  await db
    .insertInto('seen_prices')
    .values({ price_class, protocol, currency, amount_atomic, seen_at })
    .onConflict((conflict) =>
      conflict
        .columns(['price_class', 'protocol', 'currency'])
        .doUpdateSet({ amount_atomic, seen_at })
        .where('seen_prices.seen_at', '<=', seen_at),
    )
    .execute()
}

/** Returns the last price of each class, protocol and currency. */
export async function seenPrices(db: Database): Promise<SeenPrice[]> {
  return db
    .selectFrom('seen_prices')
    .select([
      'price_class as priceClass',
      'protocol',
      'currency',
      'amount_atomic as amountAtomic',
      'seen_at as seenAt',
    ])
    .orderBy('price_class')
    .orderBy('protocol')
    .orderBy('currency')
    .execute()
}
