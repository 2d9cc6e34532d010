import { dirname, join, normalize } from 'node:path/posix'

/** Source files by path from the root of the repository, tests left out. */
export type Sources = ReadonlyMap<string, string>

/** The most source files that one folder may hold of its own. */
const roomSize = 20
/** A longer file gives its reason in its first line. */
const longFile = 300
const reasonForLength = /^\/(?:\/|\*\*) One file because /
/** The floors whose rooms must not import each other in a circle. */
const floorsWithRooms = ['app', 'store', 'domain', 'workers', 'http']
/** Packages that a single floor may import. */
const ownedPackages: Record<string, string> = { kysely: 'store', bullmq: 'queues', ioredis: 'queues' }

/** Returns every breach of the rules for folders, files and imports below `src`, one sentence each. */
export function findBreaches(sources: Sources): string[] {
  const imports = new Map([...sources].map(([path, source]) => [path, importsOf(path, source)]))
  return [
    ...crowdedFolders(sources),
    ...longFiles(sources),
    ...circles(graphOf(imports, (path) => path)).map((circle) => `import circle: ${circle.join(' -> ')}`),
    ...floorsWithRooms.flatMap((floor) => roomCircles(imports, floor)),
    ...strayPackages(imports),
    ...standInsThatMeet(imports),
    ...viewsThatWrite(sources),
    ...queriesOutsideTheStore(sources),
    ...commentsThatAsk(sources),
  ]
}

type Imports = ReadonlyMap<string, readonly string[]>

export function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
}

function importsOf(path: string, source: string): string[] {
  const found = withoutComments(source).matchAll(
    /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*(['"])([^'"]+)\1/g,
  )
  return [...found].map(([, , target]) =>
    target!.startsWith('.') ? normalize(join(dirname(path), target!)) : target!,
  )
}

function crowdedFolders(sources: Sources): string[] {
  const sizes = Map.groupBy(sources.keys(), (path) => dirname(path))
  return [...sizes]
    .filter(([, files]) => files.length > roomSize)
    .map(([folder, files]) => `${folder} holds ${files.length} files, more than ${roomSize}`)
}

function longFiles(sources: Sources): string[] {
  return [...sources]
    .map(([path, source]) => ({ path, source, lines: source.trimEnd().split('\n').length }))
    .filter(({ lines, source }) => lines > longFile && !reasonForLength.test(source))
    .map(({ path, lines }) => `${path} has ${lines} lines and gives no reason in its first line`)
}

function strayPackages(imports: Imports): string[] {
  return [...imports].flatMap(([path, targets]) =>
    targets.flatMap((target) => {
      const owner = ownedPackages[target.split('/')[0]!]
      return owner && !path.startsWith(`src/${owner}/`)
        ? [`${path} imports ${target}, which only src/${owner} may`]
        : []
    }),
  )
}

/** The stand-in of one CRM knows nothing of another one's: `src/sandbox/<crm>/`. */
function standInsThatMeet(imports: Imports): string[] {
  const crmOf = (path: string) => /^src\/sandbox\/(hubspot|salesforce)\//.exec(path)?.[1]
  return [...imports].flatMap(([path, targets]) =>
    targets
      .filter((target) => crmOf(path) && crmOf(target) && crmOf(target) !== crmOf(path))
      .map((target) => `${path} imports ${target} of another stand-in`),
  )
}

function viewsThatWrite(sources: Sources): string[] {
  const writing =
    /\.(?:insertInto|updateTable|deleteFrom|mergeInto)\(|\b(?:insert into|delete from|update \w+ set)\b/i
  return [...sources]
    .filter(([path, source]) => path.startsWith('src/store/views/') && writing.test(source))
    .map(([path]) => `${path} is a view and writes`)
}

/** A query needs no import of kysely where a caller has the database. */
function queriesOutsideTheStore(sources: Sources): string[] {
  const building = /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(/
  return [...sources]
    .filter(([path, source]) => !path.startsWith('src/store/') && building.test(source))
    .map(([path]) => `${path} builds a query, which only src/store may`)
}

function roomCircles(imports: Imports, floor: string): string[] {
  const root = `src/${floor}/`
  // Files that lie loose in the floor's own folder are its entrance or its vocabulary, not a room.
  const roomOf = (path: string) =>
    path.startsWith(root) && path.slice(root.length).includes('/')
      ? root + path.slice(root.length).split('/')[0]
      : undefined
  return circles(graphOf(imports, roomOf)).map((circle) => `circle of rooms: ${circle.join(' -> ')}`)
}

function graphOf(imports: Imports, nodeOf: (path: string) => string | undefined): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const [path, targets] of imports) {
    const from = nodeOf(path)
    if (from === undefined) continue
    const reached = targets.map(nodeOf).filter((to) => to !== undefined && to !== from)
    graph.set(from, new Set([...(graph.get(from) ?? []), ...(reached as string[])]))
  }
  return graph
}

/** Returns each group of nodes that reach each other (Tarjan), sorted by name. */
function circles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (node: string): void => {
    order.set(node, order.size)
    lowest.set(node, order.get(node)!)
    stack.push(node)
    for (const next of graph.get(node)!) {
      if (!graph.has(next)) continue
      if (!order.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!))
    }
    if (lowest.get(node) !== order.get(node)) return
    const group = stack.splice(stack.indexOf(node))
    if (group.length > 1) found.push(group.sort())
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return found.sort()
}

/** A comment begins with its subject, or with the verb of what a function does. */
const questionWord =
  /^[ \t]*(?:\/\*\*?(?:\n[ \t]*\*)?|(?<!\/\/.*\n[ \t]*)\/\/) ?(What|Whether|How|Who|Where|Of|Whoever|Nobody|Somebody|Everybody) /gm

/** Returns the comments that begin like a question and leave the subject for later. */
export function commentsThatAsk(sources: Sources): string[] {
  return [...sources].flatMap(([path, source]) =>
    [...source.matchAll(questionWord)].map(
      ([, word]) => `${path} begins a comment with "${word}": name the subject first`,
    ),
  )
}
