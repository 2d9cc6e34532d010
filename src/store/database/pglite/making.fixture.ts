// Opens the embedded ledger of a data directory that has none, and prints the most memory that V8 took aside of its heap, in MB. With
// a second argument it kills itself before it opens the first file whose path ends so, or renames to it.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { getHeapStatistics } from 'node:v8'

const [dataDir, killAt] = process.argv.slice(2) as [string, string?]
if (killAt !== undefined) {
  const dieAt = (path: unknown): void => {
    if (String(path).endsWith(killAt)) process.kill(process.pid, 'SIGKILL')
  }
  const { openSync } = fs
  const { rename } = fs.promises
  fs.openSync = (...args) => {
    dieAt(args[0])
    return openSync(...args)
  }
  fs.promises.rename = (from, to) => {
    dieAt(to)
    return rename(from, to)
  }
  syncBuiltinESMExports()
}
const { openDatabase } = await import('../database.ts')
const database = await openDatabase({ dataDir })
await database.close()
process.stdout.write(String(getHeapStatistics().peak_malloced_memory / 1_048_576))
