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

let prepared: Promise<Compiled> | undefined

/**
 * Returns PGlite's module, compiled once in a process, with its parser of SQL left to V8's first compiler. The optimising one takes
 * 600 MB for half a second for that one function of 105 KB, in every program that parses some statements, and no setting leaves out
 * one function (docs/decisions/0004-queue.md).
 */
export function pgliteModule(): Promise<Compiled> {
  prepared ??= prepare()
  return prepared
}

async function prepare(): Promise<Compiled> {
  const folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
  const module = await assembly.compile(await readFile(join(folder, 'pglite.wasm')))
  spareParser(module)
  return module
}

/**
 * Has the parser compiled while V8 optimises no function that is compiled. A function is compiled at its first call, and by that
 * is decided for all instances of its module if it is ever optimised. It is called on an instance that nobody else has, with a text
 * outside the memory, so that its first step is its last.
 *
 * Everything here is one turn of the thread: no other function of this thread is compiled meanwhile. The flag is V8's own and not
 * documented; where it or the parser is not what it was, PGlite works as it is and takes the memory.
 */
function spareParser(module: Compiled): void {
  const parse = parserOf(module)
  if (typeof parse !== 'function') return
  setFlagsFromString('--wasm-tier-up-filter=0')
  try {
    parse(outside, 0)
  } catch {
    // The trap that was sought.
  } finally {
    setFlagsFromString('--wasm-tier-up-filter=-1')
  }
}

function parserOf(module: Compiled): unknown {
  try {
    return new assembly.Instance(module, emptyImports(module)).exports['raw_parser']
  } catch {
    return undefined
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
