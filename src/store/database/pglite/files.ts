import { NodeFS } from '@electric-sql/pglite/nodefs'
import { createPagedFiles, type PagedFiles } from '../../pages/paged-files.ts'
import { hookPages, type NodeFiles } from '../../pages/page-hooks.ts'
import { others } from '../private-files.ts'

interface FileRights {
  doChmod: (stream: unknown, node: unknown, mode: number, dontFollow?: boolean) => void
  mknod: (path: string, mode: number, device: number) => unknown
}

/**
 * The file system of the embedded ledger. The C library of PGlite gives each new file, WAL included, the mode 0666 whatever
 * the umask is; here the owner alone gets rights. And it reads and writes the files that are kept in pages.
 */
export class LedgerFiles extends NodeFS {
  readonly paged: PagedFiles

  constructor(folder: string) {
    super(folder)
    this.paged = createPagedFiles(this.rootDir)
  }

  override async init(...[pglite, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const prepared = await super.init(pglite, options)
    const { preRun } = prepared.emscriptenOpts
    const before = Array.isArray(preRun) ? preRun : preRun ? [preRun] : []
    const narrow = (module: unknown): void => {
      const fs = (module as { FS: FileRights }).FS
      const { doChmod, mknod } = fs
      fs.doChmod = (stream, node, mode, dontFollow) => doChmod(stream, node, mode & ~others, dontFollow)
      fs.mknod = (path, mode, device) => mknod(path, mode & ~others, device)
    }
    const page = (module: unknown): void => hookPages((module as { NODEFS: NodeFiles }).NODEFS, this.paged)
    return { emscriptenOpts: { ...prepared.emscriptenOpts, preRun: [...before, narrow, page] } }
  }

  override async closeFs(): Promise<void> {
    await super.closeFs()
    this.paged.close()
  }
}
