import { existsSync } from 'node:fs'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { freshStores, type FreshStores } from '../support/stores.ts'

let open: FreshStores[] = []

async function fresh(env?: Record<string, string | undefined>): Promise<FreshStores> {
  const stores = await freshStores(env)
  open.push(stores)
  return stores
}

afterEach(async () => {
  await Promise.all(open.map((stores) => stores.cleanup()))
  open = []
})

describe('the stores of a test file', () => {
  test('are embedded without the two addresses, each in a directory of its own', async () => {
    const [one, other] = [await fresh({}), await fresh({})]
    expect(one).not.toHaveProperty('databaseUrl')
    expect(one).not.toHaveProperty('redisUrl')
    expect(one.dataDir).not.toBe(other.dataDir)
    expect(one.redisPrefix).not.toBe(other.redisPrefix)
    await one.cleanup()
    expect(existsSync(one.dataDir)).toBe(false)
    expect(existsSync(other.dataDir)).toBe(true)
  })

  test.runIf(process.env['DATABASE_URL'])(
    'are a database of their own on a server, gone afterwards',
    async () => {
      const one = await fresh()
      const left = new pg.Client({ connectionString: one.databaseUrl })
      left.on('error', () => {})
      await left.connect()
      const { rows } = await left.query('select current_database() as name')
      expect(rows).toEqual([{ name: one.redisPrefix }])
      await one.cleanup()
      await expect(left.query('select 1')).rejects.toBeInstanceOf(Error)
      const server = new pg.Client({ connectionString: process.env['DATABASE_URL'] })
      await server.connect()
      const known = await server.query('select from pg_database where datname = $1', [one.redisPrefix])
      await server.end()
      expect(known.rowCount).toBe(0)
    },
  )
})
