import { readFile, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'

/** The place in which a process runs, as far as it decides which other processes its locks reach. */
export interface Whereabouts {
  host: string
  /** The same for all processes of one running kernel, in whichever container. */
  boot: string
  /** `local`: only one kernel at a time can have the file system mounted. `shared`: others may, or nobody knows. */
  fileSystem: 'local' | 'shared'
}

/** Types of file systems on a disk or in memory, as Linux numbers them: ext, xfs, btrfs, f2fs, zfs, bcachefs, overlay, tmpfs. */
const localTypes: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630, 0x01021994,
])

export async function whereaboutsOf(dataDir: string): Promise<Whereabouts> {
  const host = hostname()
  if (process.platform !== 'linux') {
    // There is one kernel a machine, and its name stays.
    return { host, boot: `${process.platform} ${host}`, fileSystem: 'local' }
  }
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => `linux ${host}`)
  const { type } = await statfs(dataDir)
  return { host, boot: boot.trim(), fileSystem: localTypes.has(type) ? 'local' : 'shared' }
}
