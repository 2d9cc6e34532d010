// Parses so many statements that V8 optimises what does it, and prints the most memory that V8 took aside of its heap, in MB.
import { getHeapStatistics } from 'node:v8'
import { PGlite } from '@electric-sql/pglite'
import { pgliteModule } from './module.ts'

const spared = process.argv[2] === 'spared'
const client = await PGlite.create(spared ? { pgliteWasmModule: await pgliteModule() } : {})
for (let count = 0; count < 1_000; count += 1)
  await client.query(
    `select ${count} as a, relname from pg_class where oid = ${count} and relkind in ('r', 'v')`,
  )
await client.close()
process.stdout.write(String(getHeapStatistics().peak_malloced_memory / 1_048_576))
