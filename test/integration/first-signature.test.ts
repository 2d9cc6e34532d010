import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Prints the package each time that a module of it is loaded. */
const watch = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) {
    if (url.includes('/tiny-secp256k1/lib/index.')) process.stdout.write('[loaded]')
    return next(url, context)
  } })`)}`

test('help does not load the library that signs', () => {
  expect(node('src/cli/main.ts', '--help')).toMatch(/^Usage: paydirt/)
})

test('it is loaded by the first signature, once, and not by what may pay', () => {
  const program = `
    await import('./src/app/context/payments.ts')
    const { signingAccount } = await import('./src/pay/signing/account.ts')
    const account = signingAccount('0x${'11'.repeat(32)}')
    process.stdout.write('open ')
    for (let n = 0; n < 2; n += 1) {
      const signature = await account.sign({ hash: '0x${'22'.repeat(32)}' })
      process.stdout.write(' signed ' + signature.length)
    }`
  expect(node('--input-type=module', '--eval', program)).toBe('open [loaded] signed 132 signed 132')
})

function node(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', '--import', watch, ...args],
    { cwd: root, encoding: 'utf8', env: { PATH: process.env['PATH'] } },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}
