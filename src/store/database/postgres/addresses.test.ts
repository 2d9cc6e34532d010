import { expect, test } from 'vitest'
import { databaseAddresses, hostsOf } from './addresses.ts'

test('one host stays as it is', () => {
  const url = 'postgres://paydirt:a%40b@db.example.com:5433/paydirt?sslmode=verify-full'
  expect(databaseAddresses(url)).toEqual({ urls: [url], needsPrimary: false })
})

test('several hosts are asked in turn for the primary, each with the same user, database and parameters', () => {
  const url = 'postgres://u:p@one:5433,two/paydirt?target_session_attrs=read-write&sslmode=verify-ca'
  expect(databaseAddresses(url)).toEqual({
    urls: [
      'postgres://u:p@one:5433/paydirt?sslmode=verify-ca',
      'postgres://u:p@two/paydirt?sslmode=verify-ca',
    ],
    needsPrimary: true,
  })
  expect(databaseAddresses('postgres://one,two/x')).toMatchObject({ needsPrimary: true })
  expect(databaseAddresses('postgres://one,two/x?target_session_attrs=any')).toMatchObject({
    needsPrimary: false,
  })
})

test.each([
  'mysql://db/x',
  'postgres://one,,two/x',
  'postgres://one:port/x',
  'postgres://one/x?target_session_attrs=standby',
])('%s is refused', (url) => {
  expect(databaseAddresses(url)).toBeUndefined()
})

test('a message names hosts, never the password', () => {
  expect(hostsOf('postgres://u:secret@one:5433,two/x?sslmode=disable')).toBe('one:5433,two')
})
