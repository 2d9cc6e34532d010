import { constants } from 'node:os'
import type { PageFile } from './file/page-file-type.ts'
import type { PagedFiles } from './paged-files.ts'

/** A file or folder of PGlite's C library. */
interface FsNode {
  mode: number
  /** The pages of the file; null: it has none. */
  pages?: PageFile | null
  /** The file may come to have pages. */
  mayHavePages?: boolean
  /** The file is one of a table or index: only Postgres changes its size, and never by giving its name to another file. */
  hasKnownSize?: boolean
  /** Its size, where it is known and the file is not kept in pages. */
  size?: number | undefined
}

interface Attributes {
  size?: number
}

interface Stream {
  node: FsNode
  flags: number
  position: number
}

type Transfer = (stream: Stream, heap: Int8Array, offset: number, length: number, position: number) => number

/** The part of Emscripten’s NODEFS that reads and writes files. */
export interface NodeFiles {
  realPath(node: FsNode): string
  /** Gives an error of Node to the C library. */
  tryFSOperation<T>(work: () => T): T
  node_ops: {
    getattr(node: FsNode): Attributes
    setattr(node: FsNode, attributes: Attributes): void
    mknod(parent: FsNode, name: string, mode: number, device: number): FsNode
    unlink(parent: FsNode, name: string): void
  }
  stream_ops: {
    getattr(stream: Stream): Attributes
    setattr(stream: Stream, attributes: Attributes): void
    read: Transfer
    write: Transfer
    llseek(stream: Stream, offset: number, whence: number): number
  }
}

const fromEnd = 2
/** A file of a table or index, with those of its free room and of what is visible in it. */
const ofRelation = /[\\/](?:base[\\/]\d+|global)[\\/]\d+(?:_fsm|_vm)?(?:\.\d+)?$/

/** Lets PGlite read and write files that are kept in pages as if they were where it looks for them. */
export function hookPages(nodefs: NodeFiles, paged: PagedFiles): void {
  const { node_ops: nodes, stream_ops: streams } = nodefs
  const before = { nodes: { ...nodes }, streams: { ...streams } }
  const tried = <T>(work: () => T): T => nodefs.tryFSOperation(() => known(work))

  function pagesOf(node: FsNode): PageFile | undefined {
    if (node.pages === undefined) {
      const path = nodefs.realPath(node)
      node.hasKnownSize = ofRelation.test(path)
      node.mayHavePages = paged.mayHave(path)
      node.pages = (node.mayHavePages && paged.of(path)) || null
    }
    return node.pages ?? undefined
  }

  /** Returns what is left of the attributes for the file itself. */
  function resized(node: FsNode, attributes: Attributes): Attributes {
    node.size = undefined
    const pages = attributes.size === undefined ? undefined : pagesOf(node)
    if (!pages) return attributes
    const { size = 0, ...others } = attributes
    pages.truncate(size)
    return others
  }

  function sized(node: FsNode, attributes: Attributes): Attributes {
    const pages = pagesOf(node)
    return pages ? { ...attributes, size: pages.size } : attributes
  }

  nodes.getattr = (node) => tried(() => sized(node, before.nodes.getattr(node)))
  nodes.setattr = (node, attributes) => tried(() => before.nodes.setattr(node, resized(node, attributes)))
  streams.getattr = (stream) => tried(() => sized(stream.node, before.streams.getattr(stream)))
  streams.setattr = (stream, attributes) =>
    tried(() => before.streams.setattr(stream, resized(stream.node, attributes)))
  streams.read = (stream, heap, offset, length, position) =>
    tried(
      () =>
        pagesOf(stream.node)?.read(heap, offset, length, position) ??
        before.streams.read(stream, heap, offset, length, position),
    )
  streams.write = (stream, heap, offset, length, position) =>
    tried(() => {
      const { node } = stream
      const pages = pagesOf(node)
      if (pages) return pages.write(heap, offset, length, position)
      // After a write that failed, the size is asked for.
      const { size } = node
      node.size = undefined
      const written = before.streams.write(stream, heap, offset, length, position)
      if (size !== undefined) node.size = Math.max(size, position + written)
      if (node.mayHavePages) node.pages = paged.grown(nodefs.realPath(node), position + written) ?? null
      return written
    })
  // Postgres asks for the length of a table each time it plans for it or runs over it: a dozen times a lookup.
  streams.llseek = (stream, offset, whence) => {
    if (whence !== fromEnd) return before.streams.llseek(stream, offset, whence)
    const { node } = stream
    const pages = node.pages === undefined ? tried(() => pagesOf(node)) : node.pages
    if (pages) return pages.size + offset
    if (!node.hasKnownSize) return before.streams.llseek(stream, offset, whence)
    node.size ??= before.streams.llseek(stream, 0, whence)
    return node.size + offset
  }
  nodes.mknod = (parent, name, mode, device) => {
    const node = before.nodes.mknod(parent, name, mode, device)
    tried(() => paged.forget(nodefs.realPath(node)))
    return node
  }
  nodes.unlink = (parent, name) => {
    const path = `${nodefs.realPath(parent)}/${name}`
    before.nodes.unlink(parent, name)
    tried(() => paged.forget(path))
  }
}

/** The C library knows an error by its number. One without would be a success to it, and what it has read would be anything. */
function known<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    if (name === 'ErrnoError' || (code !== undefined && code in constants.errno)) throw error
    throw Object.assign(new Error('a file of the embedded ledger cannot be used', { cause: error }), {
      code: 'EIO',
    })
  }
}
