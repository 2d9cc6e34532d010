/** A relation's file, as Postgres sees it. */
export interface PageFile {
  /** In bytes, as Postgres sees it. */
  readonly size: number
  read(into: Int8Array | Uint8Array, offset: number, length: number, position: number): number
  write(from: Int8Array | Uint8Array, offset: number, length: number, position: number): number
  truncate(size: number): void
  /** The time at which the page was written that has rested longest as it is; undefined without one. */
  readonly restingSinceMs: number | undefined
  /** The number of pages that are as they are, and have not been found to be no smaller compressed. */
  readonly waiting: number
  /**
   * Compresses pages that were written last before this time, at least one and then until the deadline. Returns how many it has
   * looked at: one that would not be smaller is left as it is.
   */
  compress(writtenBeforeMs: number, untilMs: number): Promise<number>
  /** The bytes of free room where they are so many that the file should be tightened; else 0. */
  readonly loose: number
  /** Moves pages from the end of the file into free room before it, until the deadline, and cuts off what is free then. Returns how many. */
  tighten(untilMs: number): Promise<number>
  /** Writes the file anew without the free room in it, where that is worth its copy. Returns the bytes that this has freed. */
  shrink(): number
  /** Waits until all of it is on the disk. */
  flush(): void
  close(): void
}
