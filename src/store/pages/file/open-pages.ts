import type { PageMap } from './page-map.ts'
import type { Slots } from './slots.ts'

/** The parts of a file of pages that is open: the file, the places of its pages, and its free room. One that is written anew has others. */
export interface OpenPages {
  fd: number
  map: PageMap
  slots: Slots
  isClosed: boolean
  /** Counts how often the file was emptied: a move that was begun before is of no use after it. */
  timesEmptied: number
}
