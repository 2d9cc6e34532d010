import { expect, test } from 'vitest'
import { isCluster, redisAddress, redisHosts } from './redis-address.ts'

const nobody = { username: undefined, password: undefined }

test('one server keeps its URL', () => {
  expect(redisAddress('redis://cache:6380/2')).toEqual({
    kind: 'server',
    isEncrypted: false,
    url: 'redis://cache:6380/2',
    ...nobody,
  })
  expect(redisAddress('rediss://u:p%40@cache')).toMatchObject({
    isEncrypted: true,
    url: 'redis://u:p%40@cache',
    username: 'u',
    password: 'p@',
  })
})

test('sentinels name a master', () => {
  expect(redisAddress('redis+sentinel://paydirt:a%3Ab@one,two:26380/main/1')).toEqual({
    kind: 'sentinel',
    isEncrypted: false,
    username: 'paydirt',
    password: 'a:b',
    hosts: [
      { host: 'one', port: 26_379 },
      { host: 'two', port: 26_380 },
    ],
    name: 'main',
    db: 1,
  })
})

test('some nodes of a cluster lead to all', () => {
  expect(redisAddress('rediss+cluster://one:7000,[::1]:7001')).toEqual({
    kind: 'cluster',
    isEncrypted: true,
    ...nobody,
    hosts: [
      { host: 'one', port: 7_000 },
      { host: '::1', port: 7_001 },
    ],
  })
  expect(isCluster('redis+cluster://one')).toBe(true)
  expect(isCluster('redis://one')).toBe(false)
})

test.each([
  'http://cache',
  'redis+sentinel://one,two',
  'redis+cluster://one/main',
  'redis+cluster://one,,two',
  'redis+cluster://one:port',
])('%s is refused', (url) => {
  expect(redisAddress(url)).toBeUndefined()
})

test('a message names hosts, never the password', () => {
  expect(redisHosts('redis+sentinel://u:secret@one:1,two/main')).toBe('one:1,two')
  expect(redisHosts('redis://:secret@one:1/0')).toBe('one:1')
})
