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
      const cut = new Promise((resolve) => left.on('error', resolve))
      await left.connect()
      const { rows } = await left.query('select current_database() as name')
      expect(rows).toEqual([{ name: one.redisPrefix }])
      await one.cleanup()
      await cut
      await expect(new pg.Client({ connectionString: one.databaseUrl }).connect()).rejects.toThrow(
        /does not exist/,
      )
    },
  )
})
