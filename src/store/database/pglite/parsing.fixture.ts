// Parses so many statements that V8 optimises what does it, and prints the most memory that V8 took aside of its heap, in MB.
import { getHeapStatistics } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { pgliteModule } from './module.ts'

const enough = 1_000
/** V8 optimises in the background. Where the parser is not spared, statements go on until it has begun with it. */
const most = 50_000
const begun = 450

const peak = () => getHeapStatistics().peak_malloced_memory / 1_048_576
const spared = process.argv[2] === 'spared'
const module = spared ? await pgliteModule() : undefined
const client = await PGlite.create(module ? { pgliteWasmModule: module } : {})
for (let count = 0; count < enough || (!spared && count < most && peak() <= begun); count += 1)
  await client.query(
    `select ${count} as a, relname from pg_class where oid = ${count} and relkind in ('r', 'v')`,
  )
await client.close()
process.stdout.write(String(peak()))
