import { defineConfig } from 'oxlint'

/** What each floor of `src/` may import. Siblings on one floor meet through ports in `domain/`. */
export const floors: Record<string, readonly string[]> = (() => {
  const siblings = ['service', 'pay', 'connectors', 'store', 'queues']
  const middle = ['timing', 'domain', ...siblings]
  const belowTasks = [...middle, 'planning']
  return {
    timing: [],
    domain: [],
    ...Object.fromEntries(siblings.map((floor) => [floor, ['timing', 'domain']])),
    planning: ['timing', 'domain', 'store'],
    producers: belowTasks,
    workers: belowTasks,
    http: [...belowTasks, 'producers', 'workers'],
    app: [...belowTasks, 'producers', 'workers', 'http'],
    library: [...belowTasks, 'producers', 'workers', 'http', 'app'],
    cli: [...belowTasks, 'producers', 'workers', 'http', 'app', 'library', 'sandbox'],
    // A mistake of the client must not agree with itself: of the service the sandbox sees the schemas alone.
    sandbox: ['timing', 'domain', 'service/schema'],
  }
})()

// A file at this depth below its floor reaches another floor with at least as many `../`. One override a depth, because
// a floor may have a folder that is called like another floor (`sandbox/http/`).
const depths = [1, 2, 3, 4]

const floorRules = Object.entries(floors).flatMap(([floor, allowed]) => {
  const forbidden = Object.keys(floors).filter((other) => other !== floor && !allowed.includes(other))
  return depths.map((depth) => ({
    files: [`src/${floor}/${'*/'.repeat(depth - 1)}${depth === depths.length ? '**' : '*'}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...forbidden.map((other) => ({
              regex: `^(\\./)?(\\.\\./){${depth},}(src/)?${other}/${except(allowed, other)}`,
              message: `src/${floor} may import ${allowed.join(', ') || 'nothing of ours'}; not ${other}`,
            })),
            { regex: '\\w/\\.\\./', message: 'write the path without going down and up again' },
            ...(floor === 'queues'
              ? []
              : [{ regex: '^(bullmq|ioredis)(/|$)', message: 'only src/queues imports bullmq and ioredis' }]),
            ...(floor === 'store'
              ? []
              : [{ regex: '^kysely(/|$)', message: 'only src/store imports kysely' }]),
          ],
        },
      ],
    },
  }))
})

// Where only a subfolder of a floor is allowed (`service/schema`): whatever is not below that subfolder. The engine has
// no look-ahead, hence one alternative a letter.
function except(allowed: readonly string[], floor: string): string {
  const subfolder = allowed.find((it) => it.startsWith(`${floor}/`))?.slice(floor.length + 1)
  if (!subfolder) return ''
  const letters = [...subfolder, '/']
  return `(${letters.map((letter, at) => `${letters.slice(0, at).join('')}([^${letter}]|$)`).join('|')})`
}

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  ignorePatterns: ['node_modules', 'demo-out', 'coverage', 'test-results'],
  rules: {
    'no-console': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    eqeqeq: 'error',
    'import/no-default-export': 'error',
    'import/no-cycle': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/consistent-type-imports': 'error',
    // Enums are held off by `erasableSyntaxOnly` in tsconfig.json.
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    // Of the browser's postMessage, not of worker threads.
    'unicorn/require-post-message-target-origin': 'off',
    'promise/always-return': 'off',
    // Flags here are set from callbacks and signals.
    'no-unmodified-loop-condition': 'off',
    // Narrowing a union in a table test is a branch too.
    'vitest/no-conditional-expect': 'off',
    'no-shadow': 'off',
  },
  overrides: [
    ...floorRules,
    {
      files: [
        'src/cli/**',
        'src/sandbox/chain/anvil-keeper.ts',
        'scripts/**',
        'crm/check/**',
        'bin/**',
        'bench/**',
        'test/**',
      ],
      rules: { 'no-console': 'off' },
    },
    {
      files: ['*.config.ts', 'test/*.config.ts', 'test/support/global-*.ts'],
      rules: { 'import/no-default-export': 'off' },
    },
  ],
} as Parameters<typeof defineConfig>[0])
