import { describe, expect, test } from 'vitest'
import { readEnvironment } from './environment.ts'

describe('the environment', () => {
  test('is read whole: an empty variable is an absent one, others are let be', () => {
    const key = `0x${'ab'.repeat(32)}`
    const address = `0x${'Ab'.repeat(20)}`
    expect(
      readEnvironment({
        PAYDIRT_SERVICE_URL: 'https://service.example/base',
        PAYDIRT_LOGO_URL: 'http://127.0.0.1:99/logo',
        PAYDIRT_WALLET_KEY: key,
        PAYDIRT_PAY_TO: ` ${address} ,${address},`,
        PAYDIRT_MAX_PRICE_USD: '0.02',
        PAYDIRT_DATA_DIR: '',
        DATABASE_URL: 'postgres://u:p@db/x',
        REDIS_URL: 'rediss://r:6379/1',
        SOMETHING_ELSE: 'x',
      }),
    ).toEqual({
      PAYDIRT_SERVICE_URL: 'https://service.example/base',
      PAYDIRT_LOGO_URL: 'http://127.0.0.1:99/logo',
      PAYDIRT_WALLET_KEY: key,
      PAYDIRT_PAY_TO: [address, address],
      PAYDIRT_MAX_PRICE_USD: 20_000n,
      DATABASE_URL: 'postgres://u:p@db/x',
      REDIS_URL: 'rediss://r:6379/1',
    })
  })

  test.each([
    ['PAYDIRT_SERVICE_URL', 'http://service.example'],
    ['PAYDIRT_SERVICE_URL', 'service.example'],
    ['PAYDIRT_SERVICE_URL', 'http://127.0.0.1.evil.example'],
    ['PAYDIRT_SERVICE_URL', 'http://localhost@evil.example'],
    ['PAYDIRT_LOGO_URL', 'ftp://logo.example'],
    ['PAYDIRT_WALLET_KEY', 'ab'.repeat(32)],
    ['PAYDIRT_WALLET_KEY', `0x${'ab'.repeat(31)}`],
    ['PAYDIRT_WALLET_KEY', `0x${'zz'.repeat(32)}`],
    ['PAYDIRT_PAY_TO', '0x12'],
    ['PAYDIRT_PAY_TO', `0x${'ab'.repeat(20)};0x${'ab'.repeat(20)}`],
    ['PAYDIRT_MAX_PRICE_USD', '1e3'],
    ['PAYDIRT_MAX_PRICE_USD', '-1'],
    ['PAYDIRT_BUDGET_RUN_USD', 'lots'],
    ['PAYDIRT_BUDGET_DAY_USD', '0.0000001'],
    ['PAYDIRT_NETWORK_NAME', 'Two words'],
    ['PAYDIRT_API_KEY_HEADER', 'x: y'],
    ['PAYDIRT_LOG_LEVEL', 'loud'],
    ['PAYDIRT_REDIS_PREFIX', 'a:b'],
    ['PAYDIRT_RPC_URL', 'base'],
    ['DATABASE_URL', 'mysql://u:hunter2@db'],
    ['DATABASE_READ_URL', 'mysql://u:hunter2@standby'],
    ['REDIS_URL', 'http://r'],
  ])('that has in %s %j is refused by the name of the variable, and not by its value', (name, value) => {
    const refused = (() => {
      try {
        return readEnvironment({ [name]: value })
      } catch (error) {
        return error
      }
    })()
    expect(refused).toMatchObject({ name: 'ConfigError', code: 'bad_environment' })
    expect((refused as Error).message).toMatch(new RegExp(`^${name} \\S`))
    expect((refused as Error).message).not.toContain(value)
  })
})
