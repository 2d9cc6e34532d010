import { sectorBytes } from './page-map.ts'

/** The system has `bytes`. The disk has its length and each sector as they were at the last flush, or at any time since. */
export interface DiskFile {
  bytes: Buffer
  onDisk: Buffer
  lengths: { time: number; length: number }[]
  sectors: Map<number, Version[]>
}

interface Version {
  time: number
  bytes: Buffer
}

/** Chooses the one that the disk has; undefined for that of the last flush. */
type Choose = (versions: Version[]) => Version | undefined

export function fileWith(bytes: Buffer): DiskFile {
  return { bytes, onDisk: Buffer.from(bytes), lengths: [], sectors: new Map() }
}

export function change(
  file: DiskFile,
  to: { time: number; at: number; bytes: Buffer; length: number },
): void {
  const { time, at, bytes, length } = to
  if (length !== file.bytes.length) {
    file.lengths.push({ time, length })
    file.bytes = resized(file.bytes, length)
  }
  bytes.copy(file.bytes, at)
  const end = Math.ceil((at + bytes.length) / sectorBytes)
  for (let sector = Math.floor(at / sectorBytes); sector < end; sector += 1) {
    const now = resized(file.bytes.subarray(sector * sectorBytes), sectorBytes)
    file.sectors.set(sector, [...(file.sectors.get(sector) ?? []), { time, bytes: now }])
  }
}

/** The disk has the chosen ones of all that was written up to a time, and knows of no others any more. */
export function settle(file: DiskFile, until: number, choose: Choose): void {
  const length = file.lengths.findLast(({ time }) => time <= until)?.length ?? file.onDisk.length
  file.onDisk = diskWith(file, until, length, choose)
  file.lengths = file.lengths.filter(({ time }) => time > until)
  for (const [sector, versions] of file.sectors) {
    const rest = versions.filter(({ time }) => time > until)
    if (rest.length > 0) file.sectors.set(sector, rest)
    else file.sectors.delete(sector)
  }
}

/** Few of the sectors that were not flushed are on the disk, many, or all, most of them as they were last. */
export function afterPowerCut(file: DiskFile, random: (below: number) => number): DiskFile {
  const lengths = [file.onDisk.length, ...file.lengths.map(({ length }) => length)]
  const percent = [3, 50, 97, 100][random(4)]!
  const onDisk = diskWith(file, Infinity, lengths[random(lengths.length)]!, (versions) => {
    if (random(100) >= percent) return undefined
    return random(3) ? versions.at(-1) : versions[random(versions.length)]
  })
  return fileWith(onDisk)
}

function diskWith(file: DiskFile, until: number, length: number, choose: Choose): Buffer {
  const bytes = resized(file.onDisk, length)
  for (const [sector, versions] of file.sectors) {
    const known = versions.filter(({ time }) => time <= until)
    const chosen = known.length > 0 ? choose(known) : undefined
    chosen?.bytes.copy(bytes, Math.min(length, sector * sectorBytes))
  }
  return bytes
}

function resized(bytes: Buffer, length: number): Buffer {
  const copy = Buffer.alloc(length)
  bytes.copy(copy)
  return copy
}
