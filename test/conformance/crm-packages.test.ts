import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mutations } from './crm-packages.fixture.ts'

const root = join(import.meta.dirname, '../..')

function check(folder: string) {
  return spawnSync(process.execPath, ['scripts/check-crm.mjs', folder, '--own-rules'], {
    cwd: root,
    encoding: 'utf8',
  })
}

describe('what is installed in the CRMs', () => {
  test('passes the check', () => {
    const { status, stderr } = check('crm')
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })

  test.each(['hubspot', 'salesforce'])('has a guide of at most a page for %s', (name) => {
    const words = readFileSync(join(root, 'crm', name, 'README.md'), 'utf8').split(/\s+/).length
    expect(words).toBeLessThan(650)
  })
})

describe('a broken copy', () => {
  let folder: string
  let checked: ReturnType<typeof check>

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'paydirt-crm-'))
    cpSync(join(root, 'crm'), join(folder, 'crm'), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const { file, from, to } of mutations) {
      const path = join(folder, 'crm', file)
      const text = readFileSync(path, 'utf8')
      if (!text.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)} to break`)
      writeFileSync(
        path,
        text.replace(from, () => to),
      )
    }
    checked = check(join(folder, 'crm'))
  })

  afterAll(() => rmSync(folder, { recursive: true }))

  test('fails the check', () => {
    expect(checked.status).toBe(1)
  })

  test.each(mutations.map((it) => [it.what, it.says] as const))('is found out: %s', (_, says) => {
    expect(checked.stderr).toMatch(says)
  })
})
