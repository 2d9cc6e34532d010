// The type declarations of the package: those that `tsc` makes, of the library's entry and of what it names, and no more. A
// program that is compiled with them then needs no types of databases and queues.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'oxc-parser'
import { root } from './runtime.mjs'

const made = join(root, 'node_modules/.cache/paydirt-declarations')
export const entry = 'library/index.d.ts'

/** Returns the declarations that the entry names, by file, in the order of the paths. */
export function declarations() {
  rmSync(made, { recursive: true, force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const project = join(root, 'scripts/tsconfig.build.json')
  const { status } = spawnSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
  const files = new Map()
  const wanted = []
  fileOf(entry).statements.forEach((statement) => want(fileOf(entry), statement))
  while (wanted.length > 0) follow(...wanted.pop())
  return new Map(
    [...files]
      .filter(([, file]) => file.taken.size > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, file]) => [path, textOf(file)]),
  )

  function fileOf(path) {
    let file = files.get(path)
    if (!file) files.set(path, (file = read(path)))
    return file
  }

  function want(file, statement) {
    if (file.taken.has(statement)) return
    file.taken.add(statement)
    wanted.push([file, statement])
  }

  function wantName(file, name) {
    const statements = file.declared.get(name)
    if (!statements) throw new Error(`${file.path} does not declare ${name}`)
    for (const statement of statements) want(file, statement)
  }

  function follow(file, { text, source, names }) {
    if (source !== undefined) {
      if (source.startsWith('.')) for (const name of names) wantName(fileOf(beside(file, source)), name)
      return
    }
    const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '')
    for (const [, path, name] of code.matchAll(/import\("(\.[^"]+)"\)\.([\w$]+)/g))
      wantName(fileOf(beside(file, path)), name)
    for (const [word] of code.matchAll(/[A-Za-z_$][\w$]*/g)) {
      for (const statement of file.declared.get(word) ?? []) want(file, statement)
      const imported = file.imported.get(word)
      if (!imported || file.used.has(word)) continue
      file.used.add(word)
      if (imported.source.startsWith('.')) wantName(fileOf(beside(file, imported.source)), imported.name)
    }
  }
}

function beside({ path }, source) {
  const found = normalize(join(dirname(path), source.replace(/\.ts$/, '.d.ts')))
  if (!existsSync(join(made, found))) throw new Error(`${path} names ${source}, which is not declared`)
  return found
}

function read(path) {
  const text = readFileSync(join(made, path), 'utf8')
  const file = {
    path,
    head: '',
    statements: [],
    declared: new Map(),
    imported: new Map(),
    used: new Set(),
    taken: new Set(),
  }
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  file.head = /^(?:\/\/\/ <reference.*\n)*/.exec(text)[0]
  let end = file.head.length
  for (const node of program.body) {
    // With the comment before it.
    const own = text.slice(end, node.end).trim()
    end = node.end
    if (node.type === 'ImportDeclaration') {
      for (const { local, imported } of node.specifiers)
        file.imported.set(local.name, { source: node.source.value, name: imported?.name ?? 'default' })
      continue
    }
    const statement = { text: own, source: node.source?.value, names: [] }
    file.statements.push(statement)
    const exported = (node.specifiers ?? []).map(({ local, exported: as }) => [local.name, as.name])
    statement.names = exported.map(([name]) => name)
    const declaration = node.declaration ?? node
    const ids = declaration.declarations ?? [declaration]
    const names = [...ids.flatMap(({ id }) => id?.name ?? []), ...exported.map(([, as]) => as)]
    for (const name of names) file.declared.set(name, [...(file.declared.get(name) ?? []), statement])
  }
  return file
}

function textOf({ head, statements, taken, imported, used }) {
  const imports = Map.groupBy([...used], (word) => imported.get(word).source)
  const lines = [...imports].map(([source, words]) => {
    const names = words.map((word) => {
      const { name } = imported.get(word)
      return name === word ? word : `${name} as ${word}`
    })
    return `import type { ${names.join(', ')} } from '${source}';`
  })
  const body = statements.filter((statement) => taken.has(statement)).map(({ text }) => text)
  return `${head}${[...lines, ...body].join('\n')}\n`.replaceAll(
    /((?:from|import)\s*\(?\s*)(['"])(\.{1,2}\/[^'"]+)\.ts\2/g,
    (_, before, quote, path) => `${before}${quote}${path}.js${quote}`,
  )
}
