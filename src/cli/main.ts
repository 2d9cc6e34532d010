import { limitHeap } from '../app/context/heap-limits.ts'
import { runProgram } from './program.ts'
import { outliveReaders } from './terminal/closed-pipe.ts'

limitHeap()
outliveReaders()
await runProgram(process.argv.slice(2))
