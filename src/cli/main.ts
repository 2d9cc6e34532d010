import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { limitHeap } from '../app/context/heap-limits.ts'
import { outliveReaders } from './terminal/closed-pipe.ts'

limitHeap()
outliveReaders()
// Not in the folder for temporary files, which is Node's default: there, other users could put code of their own.
enableCompileCache(
  process.env['NODE_COMPILE_CACHE'] ?? join(import.meta.dirname, '../../node_modules/.cache/paydirt'),
)
// Behind the cache, which serves only what is loaded from now on.
const { runProgram } = await import('./program.ts')
const { callItself } = await import('./terminal/print.ts')
const { ownCommand } = await import('./terminal/own-command.ts')
callItself(ownCommand(process.cwd()))
await runProgram(process.argv.slice(2))
