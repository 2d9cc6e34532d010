import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { inOwnWords, ownCommand } from './own-command.ts'

const root = join(import.meta.dirname, '../../..')
const bin = join(root, 'bin/paydirt.mjs')
const folder = mkdtempSync(join(tmpdir(), 'paydirt-own-'))
afterAll(() => rmSync(folder, { recursive: true }))

function linkedAt(...parts: string[]): string {
  const place = join(folder, ...parts)
  mkdirSync(place, { recursive: true })
  symlinkSync(bin, join(place, 'paydirt'))
  return place
}

test('the command that is named works where it is typed', () => {
  expect(ownCommand(join(root, 'demo-out'), '/usr/bin')).toBe('npx paydirt')
  expect(ownCommand(folder, '/usr/bin')).toBe(`node ${bin}`)
  // npm's own entries are not on the path of the shell.
  const npms = linkedAt('project', 'node_modules', '.bin')
  expect(ownCommand(folder, ['/usr/bin', npms].join(delimiter))).toBe(`node ${bin}`)
  expect(ownCommand(join(folder, 'project', 'deep'), '/usr/bin')).toBe('npx paydirt')
  const global = linkedAt('global')
  expect(ownCommand(folder, ['/usr/bin', global].join(delimiter))).toBe('paydirt')
  expect(ownCommand(root, ['/usr/bin', global].join(delimiter))).toBe('paydirt')
})

test('commands in messages and in examples of the help are named in that form, and nothing else is', () => {
  const text =
    'plan p1: `paydirt apply p1 --out x.csv` (`paydirt --help`)\nUsage: paydirt csv IN\n  paydirt demo\n'
  expect(inOwnWords(text, 'npx paydirt')).toBe(
    'plan p1: `npx paydirt apply p1 --out x.csv` (`npx paydirt --help`)\nUsage: paydirt csv IN\n  npx paydirt demo\n',
  )
  for (const same of [
    'paydirt: the ledger of paydirt',
    '`npx paydirt runs`',
    'continues: paydirt_status `paydirt`',
  ])
    expect(inOwnWords(same, 'npx paydirt')).toBe(same)
  // Scripts read JSON, whose texts stay as they are published.
  expect(inOwnWords('{"next":["`paydirt runs`"]}', 'npx paydirt')).toBe('{"next":["`paydirt runs`"]}')
})
