import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { parseSync } from 'oxc-parser'
import { createVitest } from 'vitest/node'
import { root } from '../runtime.mjs'
import { applyMutant, type Mutant } from './mutate.ts'

/**
 * Starts the unit tests of the given folders once and keeps them warm. A mutant is put into its module as that is
 * loaded: no file is ever changed.
 */
export async function startTests(folders: readonly string[]) {
  let current: { file: string; code: string } | undefined
  const vitest = await createVitest(
    {
      root,
      config: false,
      watch: false,
      include: folders.map((folder) => `${folder}/**/*.test.ts`),
      // Ten thousand challenges take longer than all the other tests together.
      exclude: ['**/*-fuzz.test.ts'],
      pool: 'threads',
      isolate: false,
      maxWorkers: 1,
      bail: 1,
      // A busy machine must not pass for a test that notices something; judge.ts ends what never does.
      testTimeout: 120_000,
      // The cache knows nothing of mutants.
      fsModuleCache: false,
      reporters: [{}],
    },
    {
      plugins: [
        {
          name: 'mutant',
          enforce: 'pre',
          load: (id) => (current && id.split('?')[0] === current.file ? current.code : undefined),
        },
      ],
    },
  )
  const specifications = await vitest.globTestSpecifications()
  const importsOf = new Map<string, Set<string>>()
  for (const { moduleId } of specifications) importsOf.set(moduleId, await importedBy(moduleId))

  /** Runs the given test files up to the first failure; returns the test that failed. */
  async function firstFailure(files: readonly string[]): Promise<string | undefined> {
    const chosen = specifications.filter(({ moduleId }) => files.includes(moduleId))
    // Vitest keeps the results of earlier runs, of files that are not run this time too.
    vitest.state.filesMap.clear()
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(chosen)
    for (const module of testModules) {
      if (!files.includes(module.moduleId)) throw new Error(`${module.moduleId} was not to be run`)
      const name = relative(root, module.moduleId)
      if (module.errors().length > 0) return `${name} (does not load)`
      for (const test of module.children.allTests('failed')) return `${name}: ${test.fullName}`
      for (const suite of module.children.allSuites())
        if (suite.errors().length > 0) return `${name}: ${suite.fullName}`
    }
    return unhandledErrors.length > 0 ? 'an unhandled error' : undefined
  }

  async function importedBy(file: string, seen = new Set<string>()): Promise<Set<string>> {
    if (seen.has(file)) return seen
    seen.add(file)
    const { module } = parseSync(file, await readFile(file, 'utf8'))
    for (const { moduleRequest, entries } of module.staticImports) {
      if (!moduleRequest.value.startsWith('.') || (entries.length > 0 && entries.every((it) => it.isType)))
        continue
      await importedBy(join(dirname(file), moduleRequest.value), seen)
    }
    for (const { entries } of module.staticExports)
      for (const { moduleRequest, isType } of entries)
        if (moduleRequest?.value.startsWith('.') && !isType)
          await importedBy(join(dirname(file), moduleRequest.value), seen)
    return seen
  }

  /** Returns the test files that load a source file, the nearest first. */
  function testsOf(file: string): string[][] {
    const all = [...importsOf].filter(([, imports]) => imports.has(file)).map(([test]) => test)
    const own = all.filter((test) => test === file.replace(/\.ts$/, '.test.ts'))
    const near = all.filter((test) => dirname(test) === dirname(file) && !own.includes(test))
    const far = all.filter((test) => !own.includes(test) && !near.includes(test))
    return [own, near, far].filter((group) => group.length > 0)
  }

  return {
    /** Runs everything without a mutant; returns the test that fails even so. */
    baseline: () => firstFailure([...importsOf.keys()]),

    /** Returns the test that notices a mutant; undefined when none does. */
    async firstFailureWith(mutant: Mutant, source: string): Promise<string | undefined> {
      const file = join(root, mutant.file)
      current = { file, code: applyMutant(source, mutant) }
      vitest.invalidateFile(file)
      try {
        for (const group of testsOf(file)) {
          const by = await firstFailure(group)
          if (by) return by
        }
        return undefined
      } finally {
        current = undefined
        vitest.invalidateFile(file)
      }
    },
  }
}
