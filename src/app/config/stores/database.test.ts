import { expect, test } from 'vitest'
import { readsConfig } from './database.ts'

const primary = 'postgres://paydirt@db/paydirt'
const standby = 'postgres://paydirt@standby/paydirt'

test('a standby is read while it is at most three seconds behind, or what the settings say', () => {
  const env = { DATABASE_URL: primary, DATABASE_READ_URL: standby }
  expect(readsConfig(env, undefined)).toEqual({ url: standby, mostBehindMs: 3_000 })
  expect(readsConfig(env, { readBehindSeconds: 10 })).toEqual({ url: standby, mostBehindMs: 10_000 })
  expect(readsConfig({ DATABASE_URL: primary }, undefined)).toBeUndefined()
})

test('a standby without its primary is refused by name', () => {
  expect(() => readsConfig({ DATABASE_READ_URL: standby }, undefined)).toThrow(
    /^DATABASE_READ_URL needs DATABASE_URL/,
  )
})
