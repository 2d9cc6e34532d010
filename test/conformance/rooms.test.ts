import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findBreaches } from './house-rules.ts'

const root = join(import.meta.dirname, '../..')

describe('the rooms of src', () => {
  test('break none of the rules', () => {
    const paths = globSync('src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts', '**/*.fixture.ts'] })
    expect(paths.length).toBeGreaterThan(300)
    const sources = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
    expect(findBreaches(sources)).toEqual([])
  })
})

describe('a planted breach is found:', () => {
  const planted: [name: string, files: Record<string, string>, breach: string][] = [
    [
      'a crowded folder',
      Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`src/pay/file-${at}.ts`, ''])),
      'src/pay holds 21 files, more than 20',
    ],
    [
      'a long file without a reason',
      { 'src/pay/long.ts': 'export {}\n'.repeat(301) },
      'src/pay/long.ts has 301 lines and gives no reason in its first line',
    ],
    [
      'a circle of two files, one by type alone',
      {
        'src/pay/a.ts': `import { b } from './b.ts'`,
        'src/pay/b.ts': `import type { A } from './a.ts'`,
      },
      'import circle: src/pay/a.ts -> src/pay/b.ts',
    ],
    [
      'a circle of three files, one of them lazy and one passed on',
      {
        'src/pay/a.ts': `export * from './deep/b.ts'`,
        'src/pay/deep/b.ts': `const c = await import('../c.ts')`,
        'src/pay/c.ts': `import './a.ts'`,
      },
      'import circle: src/pay/a.ts -> src/pay/c.ts -> src/pay/deep/b.ts',
    ],
    [
      'a circle of rooms without a circle of files',
      {
        'src/app/runs/sync.ts': `import { x } from '../records/undo.ts'`,
        'src/app/records/explain.ts': `import { y } from '../runs/summary.ts'`,
      },
      'circle of rooms: src/app/records -> src/app/runs',
    ],
    [
      'kysely outside the store',
      { 'src/app/web/page.ts': `import { sql } from 'kysely'` },
      'src/app/web/page.ts imports kysely, which only src/store may',
    ],
    [
      'a query outside the store',
      { 'src/app/web/page.ts': `database.db.selectFrom('tasks')` },
      'src/app/web/page.ts builds a query, which only src/store may',
    ],
    [
      'BullMQ outside the queues',
      { 'src/workers/work.ts': `import type { Job } from 'bullmq/dist/esm'` },
      'src/workers/work.ts imports bullmq/dist/esm, which only src/queues may',
    ],
    [
      'one stand-in that leans on another',
      { 'src/sandbox/salesforce/seed.ts': `import { x } from '../hubspot/seed.ts'` },
      'src/sandbox/salesforce/seed.ts imports src/sandbox/hubspot/seed.ts of another stand-in',
    ],
    [
      'a view that writes by the query builder',
      { 'src/store/views/desk.ts': `db.updateTable('tasks')` },
      'src/store/views/desk.ts is a view and writes',
    ],
    [
      'a view that writes by SQL',
      { 'src/store/views/desk.ts': 'sql`\n  delete from tasks`' },
      'src/store/views/desk.ts is a view and writes',
    ],
    [
      'a comment that begins like a question',
      { 'src/pay/a.ts': `/**\n * How a thing is paid.\n */` },
      'src/pay/a.ts begins a comment with "How": name the subject first',
    ],
    [
      'a short one too',
      { 'src/pay/a.ts': `  // What is paid is kept.\n  pay()` },
      'src/pay/a.ts begins a comment with "What": name the subject first',
    ],
    [
      'one that begins with a person without a name',
      { 'src/pay/a.ts': `/** Nobody pays twice. */` },
      'src/pay/a.ts begins a comment with "Nobody": name the subject first',
    ],
  ]

  test.each(planted)('%s', (_, files, breach) => {
    expect(findBreaches(new Map(Object.entries(files)))).toEqual([breach])
  })

  test('and none where there is none', () => {
    const files = {
      'src/pay/a.ts': `// One file because its table is one.\nimport { b } from './b.ts'\n`.concat(
        '\n'.repeat(400),
        'x',
      ),
      'src/pay/b.ts': `/** See './a.ts'. */\n// import { a } from './a.ts'\n// That a price has\n// How many digits it has, does not count.`,
      'src/store/views/a.ts': `import { sql } from 'kysely'\nselect * from tasks`,
    }
    expect(findBreaches(new Map(Object.entries(files)))).toEqual([])
  })
})
