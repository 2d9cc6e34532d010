import { expect, test } from 'vitest'
import { assertShared, readsConfig } from './database.ts'

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

test('a process that shares its work needs both servers; one that does everything needs none', () => {
  const redis = 'redis://queue'
  expect(() => assertShared('worker', { databaseUrl: primary, redisUrl: undefined })).toThrow(
    'a process with the role worker shares its work with others, which needs REDIS_URL; without, use the role all',
  )
  expect(() => assertShared('web', { databaseUrl: undefined, redisUrl: undefined })).toThrow(
    'needs DATABASE_URL and REDIS_URL',
  )
  expect(() => assertShared('scheduler', { databaseUrl: primary, redisUrl: redis })).not.toThrow()
  expect(() => assertShared('all', { databaseUrl: undefined, redisUrl: undefined })).not.toThrow()
})
