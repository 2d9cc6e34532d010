import { PGlite } from '@electric-sql/pglite'
import { Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { urgently } from '../domain/urgent.ts'
import { createPGliteDialect } from './pglite-dialect.ts'

test('what somebody waits for stands first in the line, and in no open transaction', async () => {
  const db = new Kysely<object>({ dialect: createPGliteDialect(await PGlite.create()) })
  const order: string[] = []
  const note = (name: string) =>
    sql`select 1`.execute(db).then(() => {
      order.push(name)
    })
  try {
    await db.transaction().execute(async (tx) => {
      const waiting = [
        note('first'),
        note('second'),
        urgently(() => note('urgent')),
        urgently(() => note('too')),
      ]
      await sql`select 2`.execute(tx)
      order.push('transaction')
      void Promise.all(waiting)
    })
    await note('last')
    expect(order).toEqual(['transaction', 'urgent', 'too', 'first', 'second', 'last'])
  } finally {
    await db.destroy()
  }
}, 60_000)
