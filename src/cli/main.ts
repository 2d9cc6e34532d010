import { limitHeap } from '../app/context/heap-limits.ts'
import { runProgram } from './program.ts'

limitHeap()
await runProgram(process.argv.slice(2))
