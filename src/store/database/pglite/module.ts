import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { PGliteOptions } from '@electric-sql/pglite'

/** A compiled module. Node's types leave WebAssembly out; here is as much of it as is used. */
type Compiled = NonNullable<PGliteOptions['pgliteWasmModule']>
type Imports = Record<string, Record<string, unknown>>
const assembly = (
  globalThis as unknown as {
    WebAssembly: {
      compile: (bytes: Buffer) => Promise<Compiled>
      Module: { imports: (module: Compiled) => { module: string; name: string; kind: string }[] }
      Instance: new (module: Compiled, imports: Imports) => { exports: Record<string, unknown> }
      Memory: new (pages: { initial: number; maximum: number }) => object
    }
  }
).WebAssembly

/** As PGlite's module declares the memory that it is given, in pages of 64 KB. */
const declared = { initial: 2_048, maximum: 32_768 }

/** No address of that memory: whoever reads there ends in a trap. */
const outside = -1

/** The number of the one function that V8 optimises: none that is compiled has the number 0, and -1 stands for all. */
const optimiseNone = '--wasm-tier-up-filter=0'
const optimiseAll = '--wasm-tier-up-filter=-1'

/** A section that V8 skips. With it the module is another one to V8, which keeps one for all that have the same bytes. */
const skippedSection = Buffer.from([0, 2, 1, 0x61])

let prepared: Promise<Compiled | undefined> | undefined

/**
 * Returns PGlite's module, compiled once in a process, with its parser of SQL left to V8's first compiler. The optimising one takes
 * 600 MB for half a second for that one function of 105 KB, in every program that parses some statements, and no setting leaves out
 * one function (docs/decisions/0004-queue.md). Undefined where the module is not found in its package: PGlite then loads its own.
 */
export function pgliteModule(): Promise<Compiled | undefined> {
  prepared ??= prepare().catch(() => {
    prepared = undefined
    return undefined
  })
  return prepared
}

async function prepare(): Promise<Compiled> {
  const module = await assembly.compile(await moduleBytes())
  spareParser(module)
  return module
}

/** Compiles PGlite's module once more, as one that shares nothing with any other. */
export async function compileAnew(): Promise<Compiled> {
  return assembly.compile(Buffer.concat([await moduleBytes(), skippedSection]))
}

/** Runs `use` while V8 optimises no function of WebAssembly that is called for the first time: it is never optimised then. */
export async function withoutOptimising<T>(use: () => Promise<T>): Promise<T> {
  setFlagsFromString(optimiseNone)
  try {
    return await use()
  } finally {
    setFlagsFromString(optimiseAll)
  }
}

function moduleBytes(): Promise<Buffer> {
  const folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
  return readFile(join(folder, 'pglite.wasm'))
}

/**
 * Has the parser compiled while V8 optimises no function that is compiled. A function is compiled at its first call, and by that
 * is decided for all instances of its module if it is ever optimised. It is called on an instance that nobody else has, with a text
 * outside the memory, so that its first step is its last. That step, the beginning of the scanner, is taken alone before: it is to be
 * optimised as ever.
 *
 * Between the two settings is one turn of the thread: no other function of this thread is compiled meanwhile. The flag is V8's own and
 * not documented; where it or the parser is not what it was, PGlite works as it is and takes the memory.
 */
function spareParser(module: Compiled): void {
  const own = exportsOf(module)
  trap(own['scanner_init'])
  setFlagsFromString(optimiseNone)
  trap(own['raw_parser'])
  setFlagsFromString(optimiseAll)
}

function exportsOf(module: Compiled): Record<string, unknown> {
  try {
    return new assembly.Instance(module, emptyImports(module)).exports
  } catch {
    return {}
  }
}

/** Calls a function that reads the text at its first argument. Never throws. */
function trap(reader: unknown): void {
  if (typeof reader !== 'function') return
  try {
    reader(outside, 0, 0, 0)
  } catch {
    // The end that was sought.
  }
}

function emptyImports(module: Compiled): Imports {
  const imports: Imports = {}
  for (const { module: from, name, kind } of assembly.Module.imports(module)) {
    const wanted = kind === 'memory' ? new assembly.Memory(declared) : () => 0
    ;(imports[from] ??= {})[name] = wanted
  }
  return imports
}
