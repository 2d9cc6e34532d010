import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { builtInRecipes } from '../domain/planning/recipes.ts'
import type { StepOperation } from '../domain/operations.ts'
import { objectKinds } from '../domain/words.ts'
import { createProgram } from './program.ts'
import { recipeTexts } from './terminal/recipe-option.ts'
import { painted } from './terminal/style.ts'

const commands = everyCommand(createProgram(), '')

function everyCommand(command: Command, before: string): { name: string; command: Command }[] {
  const name = `${before} ${command.name()}`.trim()
  return [{ name, command }, ...command.commands.flatMap((each) => everyCommand(each, name))]
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) })
  command.outputHelp()
  return painted(help, new PassThrough() as unknown as NodeJS.WriteStream)
}

/** Runs the command line and returns the files that it loaded, by their path in the checkout. */
async function loadedBy(...args: string[]): Promise<string[]> {
  const hook = `import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    process.on('exit', () => process.stderr.write(JSON.stringify(urls)))`
  const { stderr } = await promisify(execFile)(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(hook)}`,
    join(import.meta.dirname, 'main.ts'),
    ...args,
  ])
  const root = `file://${join(import.meta.dirname, '../..')}/`
  return (JSON.parse(stderr) as string[]).flatMap((url) =>
    url.startsWith(root) ? [url.slice(root.length)] : [],
  )
}

test('help and version are answered before the code of any command is loaded', async () => {
  const loaded = await loadedBy('csv', '--help')
  const packages = loaded.flatMap((path) => /^node_modules\/([^/]+)/.exec(path)?.[1] ?? [])
  expect([...new Set(packages)]).toEqual(['commander'])
  expect(loaded.filter((path) => /^src\/(?!cli\/)/.test(path)).length).toBeLessThan(12)
  expect(await loadedBy('--version')).toEqual(await loadedBy('--help'))
})

test('an option that a command shares with the one above it reaches the command', async () => {
  const program = createProgram()
  const shared = everyCommand(program, '').filter(
    ({ command: { parent, options } }) =>
      parent?.options.some(({ long }) => long === '--json') && options.some(({ long }) => long === '--json'),
  )
  expect(shared.map(({ name }) => name)).toContain('paydirt lists members')
  const reached: Record<string, unknown> = {}
  for (const { name, command } of shared) {
    command.action(() => void (reached[name] = command.opts()['json']))
    const words = command.registeredArguments.map(() => 'x')
    await program.parseAsync([...name.split(' ').slice(1), ...words, '--json'], { from: 'user' })
  }
  expect(reached).toEqual(Object.fromEntries(shared.map(({ name }) => [name, true])))
})

describe('the help of', () => {
  test.each(commands.map(({ name, command }): [string, Command] => [name, command]))(
    '%s has examples and exit statuses',
    (name, command) => {
      const help = helpOf(command)
      expect(help).toMatch(/^Examples:\n {2}paydirt /m)
      for (const [line] of help.matchAll(/^ {2}paydirt .*/gm))
        expect(line, 'an example of another command').toMatch(new RegExp(`^  ${name}( |$)`))
      if (command.commands.length > 0) return
      const statuses = /^Exit status:\n((?: {2}\d+ +.*\n)+)/m.exec(help)?.[1]
      for (const status of [0, 1, 2, 130]) expect(statuses).toMatch(new RegExp(`^  ${status} `, 'm'))
    },
  )

  test('--recipe says of each recipe what it does for each kind of record', () => {
    const words: Record<StepOperation, Record<(typeof objectKinds)[number], RegExp>> = {
      'company.profile': { company: /profile of|the same|contact,/, person: /employer's profile/ },
      'person.profile': { company: /person/, person: /the profile of their profile URL/ },
      'company.logo': { company: /logo|the same|contact,/, person: /logo/ },
      'contact.lookup': { company: /e-mail/, person: /found by e-mail, phone or name|contact,/ },
      'contact.redeem': { company: /revealed/, person: /work e-mails and phones revealed|contact,/ },
      'company.lookup': { company: /also found by domain|contact,/, person: /domain/ },
      'company.enrich': { company: /enriched/, person: /enriched/ },
    }
    for (const [name, texts] of Object.entries(recipeTexts)) {
      for (const object of objectKinds) {
        const { steps } = builtInRecipes(object, name)
        for (const [operation, said] of Object.entries(words))
          expect(said[object].test(texts[object]), `${name}, ${object}, ${operation}`).toBe(
            steps.includes(operation as StepOperation),
          )
      }
    }
    expect(() => builtInRecipes('person', 'none')).toThrow(`there are ${Object.keys(recipeTexts).join(', ')}`)
  })
})

describe('a wrong option of', () => {
  test.each(commands.filter(({ command }) => command.commands.length === 0).map(({ name }) => [name]))(
    '%s is the first of two lines, and the second names the help',
    async (name) => {
      const needed = commands.find((each) => each.name === name)?.command.options ?? []
      const given = needed.flatMap(({ mandatory, long }) => (mandatory && long ? [long, 'company'] : []))
      const program = createProgram()
      let errors = ''
      for (const { command } of everyCommand(program, ''))
        command.configureOutput({ writeErr: (text) => (errors += text) })
      const parsed = program.parseAsync([...name.split(' ').slice(1), ...given, '--jsno'], { from: 'user' })
      await expect(parsed).rejects.toMatchObject({ exitCode: 1 })
      const text = painted(errors, new PassThrough() as unknown as NodeJS.WriteStream)
      expect(text).toMatch(/^error: unknown option '--jsno'\n(\(Did you mean .+\?\)\n)?/)
      expect(text.split('\n').slice(0, -1)).toHaveLength(text.includes('Did you mean') ? 3 : 2)
      expect(text).toMatch(new RegExp(`\n\\(\`${name} --help\` shows how it is used\\)\n$`))
    },
  )
})
